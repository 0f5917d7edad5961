// What the CPU target has not is one message that names it. docs/host-target.md lists the same.
// RUN: rm -rf %t && for i in $(seq 18); do mkdir -p %t/$i && sed "s/^#define CASE 0/#define CASE $i/" %s > %t/$i/lacking.cu; done
// RUN: %not %kmmcc --target=host -c %t/1/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C1 %s
// RUN: %not %kmmcc --target=host -c %t/2/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C2 %s
// RUN: %not %kmmcc --target=host -c %t/3/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C3 %s
// RUN: %not %kmmcc --target=host -c %t/4/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C4 %s
// RUN: %not %kmmcc --target=host -c %t/5/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C5 %s
// RUN: %not %kmmcc --target=host -c %t/6/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C6 %s
// RUN: %not %kmmcc --target=host -c %t/7/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C7 %s
// RUN: %not %kmmcc --target=host -c %t/8/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C8 %s
// RUN: %not %kmmcc --target=host -c %t/9/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C9 %s
// RUN: %not %kmmcc --target=host -c %t/10/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C10 %s
// RUN: %not %kmmcc --target=host -c %t/11/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C11 %s
// RUN: %not %kmmcc --target=host -c %t/12/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C12 %s
// RUN: %not %kmmcc --target=host -c %t/13/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C13 %s
// RUN: %not %kmmcc --target=host -c %t/14/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C14 %s
// RUN: %kmmcc --target=host -O1 -c %t/15/lacking.cu -o %t.o
// RUN: %not %kmmcc --target=host -c %t/16/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C16 %s
// RUN: %not %kmmcc --target=host -c %t/17/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C17 %s
// RUN: %not %kmmcc --target=host -c %t/18/lacking.cu -o %t.o 2>&1 | FileCheck --check-prefix=C18 %s
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#define CASE 0
#if CASE == 16
#include <thrust/device_vector.h>
// lacks: Thrust, CUB, libcu++
// C16: lacking.cu:[[#@LINE-2]]:10: error: 'thrust/device_vector.h' file not found: Thrust is missing on the CPU target
#elif CASE == 17
#include <cublas_v2.h>
// lacks: cuBLAS, cuFFT, cuSPARSE, cuSOLVER, cuDNN, NCCL, tensor cores
// C17: error: {{.*}}cublas_v2.h{{.*}}kmm: cuBLAS is missing on the CPU target
#elif CASE == 7
#include <cuda_fp8.h>
// lacks: 8-bit floating point
// C7: kmm: 8-bit floating point is missing on the CPU target
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
// C4: lacking.cu:[[#@LINE-2]]:{{.*}} error: 'sync' is unavailable: kmm: cooperative_groups::grid_group::sync(), for which all blocks would have to wait, is missing on the CPU target
#elif CASE == 5
__global__ void tile(int *x) { auto t = cg::tiled_partition<64>(cg::this_thread_block()); t.sync(); *x = 1; }
// lacks: tiles of more than 32 threads
// C5: lacking.cu:[[#@LINE-2]]:{{.*}} error: 'tiled_partition<{{.*}}>' is unavailable: kmm: tiles of more than 32 threads are missing on the CPU target
#elif CASE == 6
__global__ void old(int *x) { *x = __shfl(*x, 3) + __ballot(*x); }
// lacks: forms without `_sync`
// C6-DAG: error: '__shfl<{{.*}}>' is unavailable: kmm: shuffles without _sync, which CUDA has no more, are missing on the CPU target
// C6-DAG: error: '__ballot<{{.*}}>' is unavailable: kmm: votes without _sync, which CUDA has no more, are missing on the CPU target
#elif CASE == 8
__global__ void random_numbers(curandStateMRG32k3a_t *s, unsigned *x) { *x = curand(s); }
// lacks: other generators
// C8: error: 'curandStateMRG32k3a_t' is unavailable: kmm: on the CPU target only the generators XORWOW and Philox are there
#elif CASE == 9
__global__ void sample(cudaTextureObject_t o, float *x) { *x = tex2D<float>(o, 1, 2); }
// lacks: textures
// C9-DAG: error: 'cudaTextureObject_t' is unavailable: kmm: textures are missing on the CPU target
// C9-DAG: error: 'tex2D<{{.*}}>' is unavailable: kmm: textures are missing on the CPU target
#elif CASE == 10
__global__ void store(cudaSurfaceObject_t o) { surf2Dwrite(1.0f, o, 1, 2); }
// lacks: surfaces
// C10: error: 'cudaSurfaceObject_t' is unavailable: kmm: surfaces are missing on the CPU target
#elif CASE == 11
void f(cudaArray_t) {}
// lacks: arrays
// C11: error: 'cudaArray_t' is unavailable: kmm: arrays and textures are missing on the CPU target
#elif CASE == 12
void f(cudaIpcMemHandle_t *h) { cudaIpcGetMemHandle(h, 0); }
// lacks: sharing between processes
// C12: error: 'cudaIpcMemHandle_t' is unavailable: kmm: sharing memory and events with other processes is missing on the CPU target
#elif CASE == 13
__global__ void __cluster_dims__(2, 1, 1) clustered(int *x) { *x = 1; }
void f(int *x) { clustered<<<2, 1>>>(x); }
// lacks: clusters
// C13: error: 'clustered' is unavailable: kmm: clusters of blocks are missing on the CPU target
#elif CASE == 14
__device__ unsigned lane()
{
    unsigned l;
    asm volatile("mov.u32 %0, %laneid;" : "=r"(l));
    return l;
}
__global__ void lanes(unsigned *x) { x[threadIdx.x] = lane(); }
// lacks: assembly
// C14: lacking.cu:[[#@LINE-5]]:5: error: assembly for GPUs is missing on the CPU target
// C14-NOT: error:
#elif CASE == 18
__global__ void unknown(int *x) { *x = __no_such_intrinsic(*x); }
void f() { cudaNoSuchCall(3); }
// C18-DAG: lacking.cu:[[#@LINE-2]]:40: error: use of undeclared identifier '__no_such_intrinsic'
// C18-DAG: lacking.cu:[[#@LINE-2]]:12: error: use of undeclared identifier 'cudaNoSuchCall'
#elif CASE == 15 // that no kernel calls, and what only the compiler heeds
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
