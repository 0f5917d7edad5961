// Macros that stand before declarations of shared memory, on the same line.
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-fibers %san -w %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// CHECK: 504 728
#include <cuda_runtime.h>
#include <stdio.h>
#define I int i = blockIdx.x * blockDim.x + threadIdx.x;
#define GUARD(n) if (threadIdx.x >= n) return
#define LINE I
#define NOTHING
#define ALIGNED __align__(16)
#define FIRST static int first;
FIRST extern __shared__ float outside[];
__global__ void behind(float *x) { I extern __shared__ float s[]; s[threadIdx.x] = i; __syncthreads(); x[i] = s[63 - threadIdx.x]; }
__global__ void two(float *x) { LINE NOTHING extern ALIGNED __shared__ float s[]; s[threadIdx.x] = i; __syncthreads(); x[i] += s[63 - threadIdx.x]; }
__global__ void aligned(float *x) { LINE ALIGNED extern __shared__ float s[]; s[threadIdx.x] = i; __syncthreads(); x[i] += s[63 - threadIdx.x]; }
__global__ void other(float *x) { I volatile extern unsigned __shared__ u[]; u[threadIdx.x] = i; __syncthreads(); x[i] += u[63 - threadIdx.x]; }
template <class T> __global__ void of_template(T *x) { I GUARD(64); extern __shared__ T t[]; t[threadIdx.x] = i; __syncthreads(); x[i] += t[63 - threadIdx.x]; }
template <class T> __global__ void of_template_behind(T *x) { I extern __shared__ T t[]; t[threadIdx.x] = i; __syncthreads(); x[i] += t[63 - threadIdx.x]; }
__global__ void at_file_scope(float *x) { I outside[threadIdx.x] = i; __syncthreads(); x[i] += outside[63 - threadIdx.x]; }
__global__ void fixed(float *x) { I __shared__ float s[64]; s[threadIdx.x] = i; __syncthreads(); x[i] += s[63 - threadIdx.x]; }
int main()
{
    float *x, h[128];
    cudaMalloc(&x, 512);
    behind<<<2, 64, 256>>>(x);
    two<<<2, 64, 256>>>(x);
    aligned<<<2, 64, 256>>>(x);
    other<<<2, 64, 256>>>(x);
    of_template<<<2, 64, 256>>>(x);
    of_template_behind<<<2, 64, 256>>>(x);
    at_file_scope<<<2, 64, 256>>>(x);
    fixed<<<2, 64>>>(x);
    cudaMemcpy(h, x, 512, cudaMemcpyDeviceToHost);
    printf("%g %g\n", h[0], h[100]);
}
