// Variables of a device that kernels change: these kernels run where the program is, and others that read the variables get their values.
// RUN: %kmmcc --target=host %san -Wall -Wextra %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda --emit-source %s | grep -v "CHECK" | FileCheck %s %}
// RUN: %if nvcc %{ %kmmcc --target=cuda -arch=sm_90 -Xcompiler -Wall,-Wextra -Werror all-warnings -c %s -o %t.o %}
#include <cuda_runtime.h>

namespace state {
__device__ int scale;
static __device__ int table[4];
}
__device__ const int fixed = 1;
__constant__ int shift;
__device__ int never;

__global__ void set(int value)
{
    state::scale = value;
    for (int k = 0; k < 4; k++)
        state::table[k] = k;
}
static __device__ int look(int k) { return state::table[k % 4]; }
__global__ void use(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = state::scale * look(i) + fixed + shift + never;
}
__global__ void other(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += shift + never;
}
__global__ void count(int n, const int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 8)
        atomicAdd(&state::scale, 1);
}

int main()
{
    enum { N = 1000 };
    int *x, five = 5, scale = 0, *host = new int[N], over = 0, wrong = 0;
    cudaMalloc(&x, N * sizeof(int));
    cudaMemcpyToSymbol(shift, &five, sizeof(five));
    set<<<1, 1>>>(3);
    // CHECK: kmm_share(::state::scale);
    // CHECK-NEXT: kmm_share(::state::table);
    // CHECK-NEXT: static kmm_site_t kmm__site;
    // CHECK: kmm_launch_begin("use"
    // CHECK-NOT: kmm_share
    #pragma kmm parallel(i = 0:N) chunk(100) write(x[i])
    use<<<(N + 63) / 64, 64>>>(N, x);
    // CHECK: kmm_launch_begin("other"
    // CHECK-NOT: kmm_share
    // CHECK: kmm_launch_begin("count"
    #pragma kmm parallel(i = 0:N) chunk(100) update(x[i])
    other<<<(N + 63) / 64, 64>>>(N, x);
    // CHECK: kmm_launch_home(kmm__launch); // the kernel changes scale
    // CHECK-NOT: kmm_share
    #pragma kmm parallel(i = 0:N) read(x[i])
    count<<<(N + 63) / 64, 64>>>(N, x);
    cudaMemcpyFromSymbol(&scale, state::scale, sizeof(scale));
    cudaMemcpy(host, x, N * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) {
        wrong += host[i] != 3 * (i % 4) + 1 + 5 + 5;
        over += host[i] > 8;
    }
    cudaFree(x);
    delete[] host;
    return wrong || scale != 3 + over;
}
