// Parameters that are written as arrays, and dynamic shared memory behind preprocessor lines.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-fibers %san %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: %not %kmmcc --target=host -DHIDDEN -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: %not %kmmcc --target=host -DCUT -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=CUT
// CHECK: 445 445 641
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void array(int n, float x[], const float y[16]) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i % 16]; }
__global__ void waits(int n, float x[], float y[][4])
{
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i;
    __syncthreads();
    if (i < n)
        x[i] = s[63 - threadIdx.x] + y[i][1];
}
__global__ void moves(int n, float x[])
{
    x += blockIdx.x * blockDim.x;
    __syncthreads();
    if (threadIdx.x < n)
        x[threadIdx.x] += 1;
}
__global__ void unnamed(int n, float x[], float[]) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }
template <class T> __global__ void of_template(int n, T x[]) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
__global__ void inside(int n, float *x)
{
#define TWICE 2
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i;
    __syncthreads();
    if (i < n)
        x[i] += TWICE * s[63 - threadIdx.x];
}
#define THRICE 3
extern __shared__ float outside[];
__global__ void before(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    outside[threadIdx.x] = i;
    __syncthreads();
    if (i < n)
        x[i] += THRICE * \
                outside[63 - threadIdx.x];
}
#ifdef HIDDEN
// HIDDEN: parameters.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 'blockDim' is the name of CUDA's own variable, which the CPU target declares in each kernel and device function; call this one otherwise
__device__ int helper(int i) { int blockDim = 3; return blockDim + i; }
// HIDDEN: parameters.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 'blockIdx' is the name
__global__ void parameter(float *x, int blockIdx) { x[::threadIdx.x] = blockIdx + helper(::blockIdx.x); }
// HIDDEN: parameters.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 'threadIdx' is the name
__global__ void local(float *x) { { int threadIdx = 1; x[threadIdx] = ::blockDim.x; } }
#endif
#ifdef CUT
// CUT: parameters.cu:[[#@LINE+1]]:{{[0-9]+}}: error: dynamic shared memory is declared as 'extern __shared__ type name[];'
#define DYNAMIC extern __shared__
__global__ void cut(float *x) { DYNAMIC float s[]; s[threadIdx.x] = 1; x[threadIdx.x] = s[threadIdx.x]; }
#endif
int main()
{
    float *x, *y, (*z)[4], h[128];
    int n = 128;
    cudaMalloc(&x, 4 * n), cudaMalloc(&y, 64), cudaMalloc(&z, 16 * n);
    cudaMemset(y, 0, 64), cudaMemset(z, 0, 16 * n);
    array<<<2, 64>>>(n, x, y);
    waits<<<2, 64>>>(n, x, z);
    moves<<<2, 64>>>(64, x);
    unnamed<<<2, 64>>>(n, x, y);
    of_template<<<2, 64>>>(n, x);
    inside<<<2, 64, 256>>>(n, x);
    before<<<2, 64, 256>>>(n, x);
    cudaMemcpy(h, x, 512, cudaMemcpyDeviceToHost);
    printf("%g %g %g\n", h[0], h[0], h[100]);
    return 0;
}
