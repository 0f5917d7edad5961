// AddressSanitizer watches the ends of shared memory, static and dynamic.
// UNSUPPORTED: san
// RUN: %kmmcc --target=host -g -O1 -fsanitize=address %s -o %t && %t
// RUN: %not %t 1 2>&1 | FileCheck --check-prefix=STATIC %s
// RUN: %not %t 1 2 2>&1 | FileCheck --check-prefix=DYNAMIC %s
// STATIC: stack-buffer-overflow
// STATIC: beyond.cu
// DYNAMIC: heap-buffer-overflow
// DYNAMIC: beyond.cu
// RUN: %not %t 1 2 3 2>&1 | FileCheck --check-prefix=FUNCTION %s
// FUNCTION: stack-buffer-overflow
// FUNCTION: beyond.cu
// RUN: %not %t 1 2 3 4 2>&1 | FileCheck --check-prefix=FIBERS %s
// FIBERS: global-buffer-overflow
// FIBERS: beyond.cu
#include <cuda_runtime.h>
__global__ void beyond(int *x, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x + n];
}
__global__ void beyond_dynamic(int *x, int n)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x + n];
}
__device__ int turned(int t, int n)
{
    __shared__ int s[64];
    s[t] = t;
    __syncthreads();
    return s[63 - t + n];
}
__global__ void beyond_in_function(int *x, int n) { x[threadIdx.x] = turned(threadIdx.x, n); }
__global__ void beyond_in_fibers(int *x, int n)
{
    __shared__ int s[64];
    auto set = [&](int value) {
        s[threadIdx.x] = value;
        __syncthreads();
    };
    set(1);
    x[threadIdx.x] = s[threadIdx.x + n];
}
int main(int argc, char **)
{
    int *x;
    cudaMalloc(&x, 256);
    beyond<<<1, 64>>>(x, argc == 2);
    beyond_dynamic<<<1, 64, 256>>>(x, argc == 3);
    beyond_in_function<<<1, 64>>>(x, argc == 4);
    beyond_in_fibers<<<100, 64>>>(x, argc == 5);
    return cudaDeviceSynchronize();
}
