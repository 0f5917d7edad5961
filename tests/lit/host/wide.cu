// Blocks that lie side by side run as one wide block where a kernel's threads only add blockIdx.x * blockDim.x and threadIdx.x up.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t
// RUN: %kmmcc --target=host -fkmm-random %san %s -o %t.random && %t.random
// RUN: %kmmcc --target=host --emit-source=%t.txt %s && FileCheck %s < %t.txt
#include <cuda_runtime.h>
#include <stdio.h>

// CHECK: {{kmm__kernel[,] KMM_HOST_BLOCK [|] KMM_HOST_WIDE>}}
__global__ void plain(int n, int *out)
{
    const int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n)
        out[i] = i + (int)gridDim.x * 1000 + (int)blockDim.x * 100000;
}
// CHECK: {{kmm__kernel[,] KMM_HOST_BLOCK [|] KMM_HOST_WIDE>}}
__global__ void square(int n, int *out)
{
    int x = 0 + (int)(blockIdx.x * blockDim.x) + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    int sum = 0;
    for (int k = 0; k < y; k++)
        sum += k;
    out[y * n + x] = sum + x + (int)(threadIdx.y + blockIdx.y) * 1000000 + (int)threadIdx.z;
}
// CHECK: {{kmm__kernel[,] KMM_HOST_BLOCK [|] KMM_HOST_WIDE>}}
__global__ void strides(int n, int *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] += 3 * i;
}
// CHECK: {{kmm__kernel[,] KMM_HOST_BLOCK>}}
__global__ void own_place(int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = threadIdx.x;
}
// CHECK: {{kmm__kernel[,] KMM_HOST_BLOCK>}}
__global__ void own_block(int n, int *out)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        out[i] = blockIdx.x;
}
// CHECK: {{kmm__kernel[,] KMM_HOST_BLOCK>}}
__global__ void other_sum(int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.x * blockDim.x + 2 * threadIdx.x, k = (short)threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        out[i] = j + k;
}
// CHECK: {{kmm__kernel[,] KMM_HOST_BLOCK>}}
__global__ void scratch(int n, int *out)
{
    __shared__ int sums[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[i % 4], 0);
    if (i < n)
        out[i] = 1;
}

static int failed;
template <class W> static void check(const char *name, int count, const int *device, W wanted)
{
    int *h = new int[count];
    cudaMemcpy(h, device, count * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        if (h[i] != wanted(i) && failed++ < 10)
            printf("%s: %d at %d is not %d\n", name, h[i], i, wanted(i));
    delete[] h;
}

int main()
{
    const int n = 100003, m = 301;
    int *out;
    cudaMalloc(&out, (n + 1) * sizeof(int));
    for (int block = 1; block <= 1024; block = block * 5 + 2) {
        const int grid = (n + block - 1) / block;
        cudaMemset(out, 0, (n + 1) * sizeof(int));
        plain<<<grid, block>>>(n, out);
        check("plain", n + 1, out, [=](int i) { return i == n ? 0 : i + grid * 1000 + block * 100000; });
        own_place<<<grid, block>>>(n, out);
        check("own_place", n, out, [=](int i) { return i % block; });
        own_block<<<grid, block>>>(n, out);
        check("own_block", n, out, [=](int i) { return i / block; });
        other_sum<<<grid, block>>>(n, out);
        check("other_sum", n, out, [=](int i) { return i + i % block + i; });
        cudaMemset(out, 0, n * sizeof(int));
        strides<<<7, block>>>(n, out);
        check("strides", n, out, [=](int i) { return 3 * i; });
    }
    for (int width = 1; width <= 64; width *= 4) {
        const int height = 64 / width + 3, up = (m + height - 1) / height;
        square<<<dim3((m + width - 1) / width, up), dim3(width, height)>>>(m, out);
        check("square", m * m, out, [=](int i) {
            const int y = i / m;
            return y * (y - 1) / 2 + i % m + (y % height + y / height) * 1000000;
        });
    }
    scratch<<<3, 5>>>(15, out);
    check("scratch", 15, out, [](int) { return 1; });
    return failed != 0 || cudaGetLastError() != cudaSuccess;
}
