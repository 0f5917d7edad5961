// A barrier that some threads of a block cannot reach is a warning, and ends the program when it happens, in functions too.
// RUN: %kmmcc --target=host %san -O1 %s -o %t 2>&1 | FileCheck --check-prefix=WARNING %s
// RUN: %not --crash %t 2>&1 | FileCheck %s
// RUN: %not %kmmcc --target=host -Werror=kmm-barrier -c %s -o %t.o
// RUN: %kmmcc --target=host -Wno-kmm-barrier %san -c %s -o %t.o 2>&1 | %count 0
#include <cuda_runtime.h>
__device__ void meet(int *x)
{
    const int t = threadIdx.x + 1;
    if (t / 2 > 8)
        __syncthreads();
    // WARNING: diverge.cu:[[#@LINE-1]]:9: warning: only some threads of a block come to this barrier: 't / 2 > 8' depends on nothing but threadIdx [-Wkmm-barrier]
    x[t] = 1;
}
__global__ void fine(int n, int *x)
{
    // WARNING-NOT: warning:
    if (threadIdx.x < blockDim.x)
        __syncthreads();
    if (n > 3 && threadIdx.x < 1000000)
        __syncthreads();
    if (threadIdx.x < 32)
        __syncwarp();
    x[threadIdx.x] = 1;
}
__global__ void parted(int n, int *x)
{
    if (threadIdx.x < n)
        meet(x);
}
int main()
{
    int *x;
    cudaMalloc(&x, 1024);
    fine<<<2, 64>>>(7, x);
    cudaDeviceSynchronize();
    parted<<<1, 64>>>(64, x);
    return cudaDeviceSynchronize();
}
// CHECK: kernel parted, block (0, 0, 0) hangs: 47 threads wait at __syncthreads, 17 have taken another branch, 0 have returned
