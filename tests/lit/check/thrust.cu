// REQUIRES: ir && nvcc
// RUN: %kmmcc -arch=sm_80 --suggest %s | FileCheck %s
// The names of Thrust's types have the GPU's architecture in them. A kernel with such types has the same name for the host and for the device.
// Headers with kernels of their own, which construct values in place.
#include <cub/block/block_load.cuh>
#include <thrust/complex.h>
__global__ void powers(int n, thrust::complex<float> *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { thrust::complex<float> t = 1; for (int k = 0; k < 5; k++) t *= x[i]; x[i] = t; } }
void run(int n, thrust::complex<float> *x)
{
    // CHECK: thrust.cu:[[#@LINE+1]]: #pragma kmm parallel(x_: global.x = 0:n) update(x[x_]) bounded fits(int grid: x_)
    #pragma kmm parallel
    powers<<<(n + 255) / 256, 256>>>(n, x);
}
// CHECK: thrust.cu:[[#@LINE+4]]: #pragma kmm parallel({{.*}}) read(a[{{.*}}]) write(b[x])
__global__ void loads(const float *a, float *b) { float v[2]; cub::LoadDirectWarpStriped(threadIdx.x, a + blockIdx.x * 64, v); b[blockIdx.x * 32 + threadIdx.x] = v[0] + v[1]; }
void run_loads(const float *a, float *b)
{
    #pragma kmm parallel
    loads<<<100, 32>>>(a, b);
}
