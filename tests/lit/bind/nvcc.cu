// REQUIRES: nvcc
// RUN: %kmmcc --target=cuda -std=c++17 -DWITH_CUB --emit-source=%t.cu %s && FileCheck --input-file=%t.cu %s
// What nvcc lets a program have and clang does not.
// RUN: %kmmcc --target=cuda -std=c++17 -DPLACEMENT -DATOMIC -DREGISTER -DMACROS -DOPENMP -Xcompiler -fopenmp --emit-source=%t.cu %s
#include <cuda_runtime.h>
#ifdef PLACEMENT
__device__ int *make(void *place) { return new (place) int(3); }
#endif
#ifdef ATOMIC
__device__ int load(int *p) { __nv_atomic_add(p, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); return __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED); }
#endif
#ifdef REGISTER
__device__ int twice(int i) { register int k = i; return 2 * k; }
#endif
#ifdef OPENMP
#include <omp.h>
int threads() { return omp_get_max_threads() + (int)omp_get_wtime(); }
#endif
#ifdef WITH_CUB
#include <cub/block/block_reduce.cuh>
#endif
#ifdef MACROS
#ifdef _KMM_HOST
#error "this is the macro of the CPU target"
#endif
#if !defined(__NVCC__) || !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ < 11
#error "not nvcc"
#endif
#endif
// CHECK: {{^}}__global__ void kmm_set(
__global__ void set(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 300
    // Hidden from a parse of the host's code.
    i += 0 * gridDim.x;
#endif
    if (i < n)
        x[i] = min(i, 5) + max(i, 7);
}
// CHECK-NEXT: const dim3 gridDim = kmm_grid_dim(kmm__blocks); (void)gridDim;
void run(int n, float *x)
{
#pragma kmm parallel(i = 0:n) write(x[i])
    set<<<min(1, n), 1>>>(n, x);
}
