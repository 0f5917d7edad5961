// What the CPU target has not is one message that names it. docs/host-target.md lists the same.
// RUN: rm -rf %t && for i in $(seq 9); do mkdir -p %t/$i && sed "s/^#define CASE 0/#define CASE $i/" %s > %t/$i/lacking.cu; done
// RUN: %not %kmmcc --target=host -c %t/1/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C1 %s
// RUN: %not %kmmcc --target=host -c %t/2/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C2 %s
// RUN: %not %kmmcc --target=host -c %t/3/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C3 %s
// RUN: %not %kmmcc --target=host -c %t/4/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C4 %s
// RUN: %not %kmmcc --target=host -c %t/5/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C5 %s
// RUN: %not %kmmcc --target=host -c %t/6/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C6 %s
// RUN: %kmmcc --target=host -O1 -c %t/7/lacking.cu -o %t.o
// RUN: %not %kmmcc --target=host -c %t/8/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C8 %s
// RUN: %not %kmmcc --target=host -c %t/9/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C9 %s
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#define CASE 0
#if CASE == 8
#include <thrust/device_vector.h>
// lacks: Thrust, CUB, libcu++
// C8: lacking.cu:[[#@LINE-2]]:10: error: 'thrust/device_vector.h' file not found: Thrust is missing on the CPU target
#elif CASE == 9
#include <cublas_v2.h>
// lacks: cuBLAS, cuFFT, cuSPARSE, cuSOLVER, cuDNN, NCCL, tensor cores
// C9: error: {{.*}}cublas_v2.h{{.*}}kmm: cuBLAS is missing on the CPU target
#elif CASE == 5
#include <cuda_fp8.h>
// lacks: 8-bit floating point
// C5: kmm: 8-bit floating point is missing on the CPU target
#endif
namespace cg = cooperative_groups;
__global__ void inner(int *x) { *x = 1; }
__device__ void helper(int *x)
{
#if CASE == 1
    inner<<<1, 1>>>(x);
    // lacks: launches from kernels
    // C1: lacking.cu:[[#@LINE-2]]:10: error: launches from kernels are missing on the CPU target
#else
    *x = 2;
#endif
}
__global__ void outer(int *x) { helper(x); }

#if CASE == 2
#define KERNEL(name) __global__ void name(int *x) { *x = 2; }
KERNEL(made)
// lacks: kernels written by macros
// C2: lacking.cu:[[#@LINE-2]]:1: error: kernel 'made' is partly written by a macro; write it out
#elif CASE == 3
#define CONFIGURATION <<<1, 1>>>
void f(int *x) { inner CONFIGURATION (x); }
// lacks: `<<<...>>>` in a macro without its arguments
// C3: error: this launch has no arguments behind its '>>>'; write '<<<...>>>(...)' in one place
#elif CASE == 4
__global__ void grid(int *x) { cg::this_grid().sync(); *x = 1; }
// lacks: synchronization of a grid
// C4-DAG: lacking.cu:[[#@LINE-2]]:{{.*}} error: 'sync' is unavailable: kmm: cooperative_groups::grid_group::sync(), for which all blocks would have to wait, is missing on the CPU target
__global__ void tile(int *x) { auto t = cg::tiled_partition<64>(cg::this_thread_block()); t.sync(); *x = 1; }
// lacks: tiles of more than 32 threads
// C4-DAG: lacking.cu:[[#@LINE-2]]:{{.*}} error: 'tiled_partition<{{.*}}>' is unavailable: kmm: tiles of more than 32 threads are missing on the CPU target
__global__ void old(int *x) { *x = __shfl(*x, 3) + __ballot(*x); }
// lacks: forms without `_sync`
// C4-DAG: error: '__shfl<{{.*}}>' is unavailable: kmm: shuffles without _sync, which CUDA has no more, are missing on the CPU target
// C4-DAG: error: '__ballot<{{.*}}>' is unavailable: kmm: votes without _sync, which CUDA has no more, are missing on the CPU target
__global__ void random_numbers(curandStateMRG32k3a_t *s, unsigned *x) { *x = curand(s); }
// lacks: other generators
// C4-DAG: error: 'curandStateMRG32k3a_t' is unavailable: kmm: on the CPU target only the generators XORWOW and Philox are there
__global__ void sample(cudaTextureObject_t o, float *x) { *x = tex2D<float>(o, 1, 2); }
// lacks: textures
// C4-DAG: error: 'cudaTextureObject_t' is unavailable: kmm: textures are missing on the CPU target
// C4-DAG: error: 'tex2D<{{.*}}>' is unavailable: kmm: textures are missing on the CPU target
__global__ void store(cudaSurfaceObject_t o) { surf2Dwrite(1.0f, o, 1, 2); }
// lacks: surfaces
// C4-DAG: error: 'cudaSurfaceObject_t' is unavailable: kmm: surfaces are missing on the CPU target
void f(cudaArray_t) {}
// lacks: arrays
// C4-DAG: error: 'cudaArray_t' is unavailable: kmm: arrays and textures are missing on the CPU target
void f(cudaIpcMemHandle_t *h) { cudaIpcGetMemHandle(h, 0); }
// lacks: sharing between processes
// C4-DAG: error: 'cudaIpcMemHandle_t' is unavailable: kmm: sharing memory and events with other processes is missing on the CPU target
__global__ void __cluster_dims__(2, 1, 1) clustered(int *x) { *x = 1; }
void f(int *x) { clustered<<<2, 1>>>(x); }
// lacks: clusters
// C4-DAG: error: 'clustered' is unavailable: kmm: clusters of blocks are missing on the CPU target
__global__ void unknown(int *x) { *x = __no_such_intrinsic(*x); }
void f() { cudaNoSuchCall(3); }
// C4-DAG: lacking.cu:[[#@LINE-2]]:40: error: use of undeclared identifier '__no_such_intrinsic'
// C4-DAG: lacking.cu:[[#@LINE-2]]:12: error: use of undeclared identifier 'cudaNoSuchCall'
#elif CASE == 6
__device__ unsigned lane()
{
    unsigned l;
    asm volatile("mov.u32 %0, %laneid;" : "=r"(l));
    return l;
}
__global__ void lanes(unsigned *x) { x[threadIdx.x] = lane(); }
// lacks: assembly
// C6: lacking.cu:[[#@LINE-5]]:5: error: assembly for GPUs is missing on the CPU target
// C6-NOT: error:
#elif CASE == 7 // that no kernel calls, and what only the compiler heeds
static __device__ __forceinline__ unsigned unused()
{
    unsigned l;
    asm("mov.u32 %0, %%laneid;" : "=r"(l));
    return l;
}
__global__ void ordered(volatile int *x)
{
    x[0] = 1;
    asm volatile("" ::: "memory");
    x[1] = 2;
}
#endif
