// A barrier that some threads never reach is reported with the kernel's name.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && %not --crash %t 2>&1 | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-fibers %san %s -o %t && %not --crash %t 2>&1 | FileCheck --check-prefix=FIBERS %s
#include <cuda_runtime.h>
__global__ void half_way(int *x)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncwarp(0x0001ffffu);
    *x = 1;
}
int main()
{
    int *x;
    cudaMalloc(&x, 4);
    half_way<<<1, 17>>>(x);
    return cudaDeviceSynchronize();
}
// CHECK: kernel half_way, block (0, 0, 0) hangs: 16 threads wait at __syncthreads, 1 have taken another branch, 0 have returned
// FIBERS: kernel half_way, block (0, 0, 0) hangs: 16 threads wait at __syncthreads, 1 in warp
