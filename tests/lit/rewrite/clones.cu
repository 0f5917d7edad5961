// REQUIRES: nvcc
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %kmmcc --target=cuda --emit-source=%t/clones.cu %s
// RUN: cd %t && %nvcc -std=c++17 -arch=sm_90 -O3 -I %S/../../../include -ptx clones.cu -o clones.ptx
// RUN: cd %t && %nvcc -std=c++17 -arch=sm_90 -O3 -I %S/../../../include -cubin --resource-usage clones.cu -o clones.cubin 2> usage.txt
// RUN: %python %S/Inputs/compare_clones.py %t/clones.ptx %t/clones.cubin %t/usage.txt add blur total+ | FileCheck %s
// What a clone costs: no more registers of the device, and no instructions but those that read and add where its blocks begin.
#include <cuda_runtime.h>

// CHECK: add: {{([0-9]+) and \1 registers}}
__global__ void add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

// CHECK: blur: {{([0-9]+) and \1 registers}}
__global__ void __launch_bounds__(256) blur(int w, int h, const float *in, float *out)
{
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int r = threadIdx.y; r < 18; r += 16)
        for (int c = threadIdx.x; c < 18; c += 16) {
            int u = min(max((int)blockIdx.x * 16 + c - 1, 0), w - 1), v = min(max((int)blockIdx.y * 16 + r - 1, 0), h - 1);
            tile[r][c] = in[v * w + u];
        }
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            sum += tile[threadIdx.y + r][threadIdx.x + c];
    if (x < w && y < h)
        out[y * w + x] = sum / 9;
}

// CHECK: total: {{[0-9]+}} and {{[0-9]+}} registers
static __device__ int first_of() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void total(int n, const float *x, double *sum)
{
    double part = 0;
    for (int i = first_of(); i < n; i += gridDim.x * blockDim.x)
        part += x[i];
    for (int offset = 16; offset; offset /= 2)
        part += __shfl_down_sync(~0u, part, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, part);
}

void launches(int n, int w, int h, float *a, float *b, float *c, double *sum)
{
    #pragma kmm parallel(i = 0:n) read(a[i], b[i]) write(c[i])
    add<<<(n + 255) / 256, 256>>>(n, c, a, b);
    #pragma kmm parallel(x = 0:w, y = 0:h) shape(a[h][w], b[h][w]) read(a[y-1:3][x-1:3]) write(b[y][x])
    blur<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(w, h, a, b);
    #pragma kmm parallel(i: block.x) read(a[:]) reduce(+: sum[0])
    total<<<132, 256>>>(n, a, sum);
}
