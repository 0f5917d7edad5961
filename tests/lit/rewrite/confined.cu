// Kernels that use nothing but their arguments, constants, shared memory and what their pointers lead to: other nodes can
// run their chunks.
// REQUIRES: ir
// RUN: %kmmcc --target=host --emit-source %s > %t && FileCheck %s < %t
#include <cstdio>
#include <cuda_runtime.h>

__constant__ float factors[4];
__device__ float total;
__device__ const float pi = 3.0f;
struct pair { float *x; float *y; };

__global__ void plain(int n, const float *x, float *y)
{
    __shared__ float own[256];
    extern __shared__ float more[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    own[threadIdx.x] = more[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        y[i] = own[255 - threadIdx.x] * pi + sqrtf(more[threadIdx.x]);
}
__global__ void sums(const float *x, float *y) { atomicAdd(y, x[blockIdx.x * blockDim.x + threadIdx.x]); }
__global__ void members(pair p) { p.y[blockIdx.x] = p.x[blockIdx.x]; }
__global__ void differs(const float *x, float *y) { y[blockIdx.x] = &x[blockIdx.x] - x; }
__global__ void symbol(float *y) { y[blockIdx.x] = factors[1]; }
__global__ void variable(float *y) { y[blockIdx.x] = total; }
__global__ void prints(float *y) { printf("%f\n", y[blockIdx.x] = 1); }
__global__ void follows(float *const *x, float *y) { y[blockIdx.x] = *x[blockIdx.x]; }
__global__ void keeps(float *x, float **y) { y[blockIdx.x] = &x[blockIdx.x]; }
__global__ void copies(pair p, pair *y) { y[blockIdx.x] = p; }
__global__ void numbers(float *x, unsigned long long *y) { y[blockIdx.x] = (unsigned long long)&x[blockIdx.x]; }

void all(int n, float *x, float *y, pair p, float **a, pair *b, unsigned long long *c)
{
    // CHECK: {{= }}kmm_launch_begin("plain",
    // CHECK-NEXT: {{^ *}}kmm_launch_confined(
    #pragma kmm parallel(i = 0:n) chunk(256) read(x[i]) write(y[i])
    plain<<<n / 256, 256, 1024>>>(n, x, y);
    // CHECK: {{= }}kmm_launch_begin("sums",
    // CHECK-NEXT: {{^ *}}kmm_launch_confined(
    #pragma kmm parallel(i = 0:n) chunk(256) read(x[i]) reduce(+: y[0])
    sums<<<n / 256, 256>>>(x, y);
    // CHECK: {{= }}kmm_launch_begin("members",
    // CHECK-NEXT: {{^ *}}kmm_launch_confined(
    #pragma kmm parallel(b: block.x) chunk(8) read(p.x[b]) write(p.y[b])
    members<<<n, 1>>>(p);
    // CHECK: {{= }}kmm_launch_begin("differs",
    // CHECK-NEXT: {{^ *}}kmm_launch_confined(
    #pragma kmm parallel(b: block.x) chunk(8) read(x[b]) write(y[b])
    differs<<<n, 1>>>(x, y);
    // CHECK-NOT: {{^ *}}kmm_launch_confined(
    #pragma kmm parallel(b: block.x) chunk(8) write(y[b])
    symbol<<<n, 1>>>(y);
    #pragma kmm parallel(b: block.x) chunk(8) write(y[b])
    variable<<<n, 1>>>(y);
    #pragma kmm parallel(b: block.x) chunk(8) write(y[b])
    prints<<<n, 1>>>(y);
    #pragma kmm parallel(b: block.x) chunk(8) read(a[b]) write(y[b])
    follows<<<n, 1>>>(a, y);
    #pragma kmm parallel(b: block.x) chunk(8) read(x[b]) write(a[b])
    keeps<<<n, 1>>>(x, a);
    #pragma kmm parallel(b: block.x) chunk(8) read(p.x[b]) write(b[b])
    copies<<<n, 1>>>(p, b);
    #pragma kmm parallel(b: block.x) chunk(8) read(x[b]) write(c[b])
    numbers<<<n, 1>>>(x, c);
}
