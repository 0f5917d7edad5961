// Threads that return early do not count at barriers; helpers read their own thread's index after one.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

__device__ int mine() { return threadIdx.x + 100 * threadIdx.y; }

__global__ void sum(int n, const int *x, int *out, int *wrong)
{
    extern __shared__ int s[];
    int t = threadIdx.x + threadIdx.y * blockDim.x;
    if (t >= n)
        return;
    int before = mine();
    s[t] = x[t];
    __syncthreads();
    for (int w = 64; w > 0; w /= 2) {
        if (t < w && t + w < n)
            s[t] += s[t + w];
        __syncthreads();
    }
    if (mine() != before)
        atomicAdd(wrong, 1);
    if (t == 0)
        *out = s[0];
}

int main()
{
    int x[100], result[2] = {0, 0}, *X, *R;
    for (int i = 0; i < 100; i++)
        x[i] = i;
    cudaMalloc(&X, sizeof(x));
    cudaMalloc(&R, sizeof(result));
    cudaMemcpy(X, x, sizeof(x), cudaMemcpyHostToDevice);
    cudaMemcpy(R, result, sizeof(result), cudaMemcpyHostToDevice);
    sum<<<1, dim3(16, 8), 100 * sizeof(int)>>>(100, X, R, R + 1);
    cudaMemcpy(result, R, sizeof(result), cudaMemcpyDeviceToHost);
    printf("sum %d, wrong %d, error %d\n", result[0], result[1], cudaGetLastError());
    // CHECK: sum 4950, wrong 0, error 0
}
