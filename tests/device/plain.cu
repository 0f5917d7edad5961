// SPDX-License-Identifier: Apache-2.0
/* Work of a library that knows nothing of kmm, in a file that nvcc compiles. */
#include "plain.h"

__global__ static void spin(long long cycles)
{
    for (long long begin = clock64(); clock64() - begin < cycles;)
        ;
}

__global__ static void fill(int n, int value, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value + i;
}

__global__ static void add(int n, int *x, const int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += y[i];
}

int plain_alloc(int n, int **device, int **pinned)
{
    int error = cudaMalloc(device, n * sizeof(int));
    error = error ? error : cudaMemset(*device, 0, n * sizeof(int));
    return error ? error : cudaMallocHost(pinned, n * sizeof(int));
}

int plain_slow_fill(cudaStream_t s, int milliseconds, int n, int value, int *device)
{
    spin<<<1, 1, 0, s>>>(milliseconds * 1500000ll); // at about 1.5 to 2 GHz
    fill<<<(n + 255) / 256, 256, 0, s>>>(n, value, device);
    return cudaGetLastError();
}

int plain_copy_out(cudaStream_t s, int n, int *pinned, const int *device)
{
    return cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, s);
}

int plain_add(cudaStream_t s, int n, int *device, const int *other)
{
    add<<<(n + 255) / 256, 256, 0, s>>>(n, device, other);
    return cudaGetLastError();
}

int plain_wait(cudaStream_t s)
{
    return cudaStreamSynchronize(s);
}

size_t plain_free_bytes(void)
{
    size_t bytes = 0, total;
    cudaMemGetInfo(&bytes, &total);
    return bytes;
}

int plain_can_alloc(size_t bytes)
{
    void *p;
    int error = cudaMalloc(&p, bytes);
    return error ? error : cudaFree(p);
}
