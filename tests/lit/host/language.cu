// Templates, overloads, namespaces, forward declarations, function pointers, macros, early return.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void later(int n, int *x);
template <class T, int scale = 2> __global__ void multiply(const int n, T *__restrict__ x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    x[i] *= scale;
}
namespace inner {
    static __global__ void set(int n, int *const __restrict__ x, int value)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            x[i] = value;
    }
    __global__ void set(int n, int *x) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = 7; }
}
template <class... A> __global__ void sum_of(int *out, A... a) { *out = (0 + ... + a); }
extern "C" __global__ void plain(int *x, int) { *x += 1; }
__global__ void nothing() {}
#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)
template <class T> void twice(int n, T *x)
{
    multiply<T><<<(n + 31) / 32, 32>>>(n, x);
    multiply<T, 3> <<<dim3((n + 31) / 32), dim3(32)>>>(n, x);
}
__global__ void __launch_bounds__(64) later(int n, int *x) { if ((int)threadIdx.x < n) x[threadIdx.x] -= 1; }

int main()
{
    int n = 33, h[33], *x;
    cudaMalloc(&x, sizeof(h));
    if (n > 0)
        inner::set<<<2, 32>>>(n, x, 5);
    else
        inner::set<<<1, 32>>>(n, x);
    twice(n, x);
    LAUNCH(later, 1, x);
    void (*f)(int, int *) = multiply<int, 10>;
    f<<<2, 32>>>(n, x);
    plain<<<1, 1>>>(x, 0);
    nothing<<<4, 4>>>();
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h[0], h[1], h[32]);
    // CHECK: 291 300 300
    inner::set<<<1, 32>>>(n, x);
    sum_of<<<1, 1>>>(x, 1, 2, 3);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[32]);
    // CHECK: 6 7
    nothing<<<1, 0>>>();
    printf("%s\n", cudaGetLastError() == cudaSuccess ? "accepted" : "refused");
    // CHECK: refused
}
