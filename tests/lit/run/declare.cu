// Kernels whose accesses are declared: here, in a template, and for a stencil in two dimensions; launched with chunks alone.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm -O1 %san -Wno-unknown-pragmas %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

#pragma kmm declare kernel(i = 0:n) \
            write(x[i])
template <class T> __global__ void fill(int n, T *x, T first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = first + i % 100;
}

#pragma kmm declare kernel(c = 0:w, r = 0:h) shape(in[h][w], out[h][w]) read(in[r-1:3][c-1:3]) write(out[r][c])
__global__ void blur(int w, int h, const float *in, float *out)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= w || r >= h)
        return;
    float sum = 0;
    for (int y = r > 0 ? r - 1 : 0; y <= r + 1 && y < h; y++)
        for (int x = c > 0 ? c - 1 : 0; x <= c + 1 && x < w; x++)
            sum += in[y * w + x];
    out[r * w + c] = sum / 9;
}

#pragma kmm declare kernel(i = 0:n) read(x[i]) reduce(+: sum[0])
__global__ void total(int n, const float *x, double *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, (double)x[i]);
}

int main()
{
    const int w = 300, h = 200, n = w * h;
    float *a, *b;
    double *sum, result = 0;
    cudaMalloc(&a, 2 * n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&sum, sizeof(double));
    cudaMemset(sum, 0, sizeof(double));
    for (int i = 0; i < 2; i++) {
        #pragma kmm parallel chunk(n / 7)
        fill<float><<<(n + 127) / 128, 128>>>(n, a + i * n, i);
    }
    #pragma kmm parallel chunk(w, 32)
    blur<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(w, h, a + n, b);
    #pragma kmm parallel chunk(n / 3)
    total<<<(n + 127) / 128, 128>>>(n, b, sum);
    cudaMemcpy(&result, sum, sizeof(double), cudaMemcpyDeviceToHost);
    // CHECK: sum 3013189
    printf("sum %.0f\n", result);
    return 0;
}
