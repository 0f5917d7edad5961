// Kernels whose block size some launch of the file says have a function for that size; other sizes run the other one.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
// RUN: %kmmcc --target=host -fkmm-random %san -Wall -Wextra -Werror %s -o %t.random && %t.random | FileCheck %s
// RUN: %kmmcc --target=host --emit-source=%t.txt %s && FileCheck --check-prefix=TEXT %s < %t.txt
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// Halving, by the block's extent: its rounds are known.
// TEXT: {{retur[n] "halves"}}
// The next block's elements are asked for.
// TEXT: {{kmm_host_soo[n]\(x, \(size_t\)kmm__next, kmm__e.x\);}}
// TEXT: {{KMM_HOST_SIZED_VALUE[S]\(256, 1, 1\)}}
// TEXT: {{KMM_HOST_UNROL[L] for \(int width = blockDim\.x / 2}}
// TEXT: {{KMM_HOST_SIZE[D]}}
__global__ void halves(int n, const int *x, int *out)
{
    __shared__ int s[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int width = blockDim.x / 2; width > 0; width /= 2) {
        if (t < width)
            s[t] += s[t + width];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// Doubling, from a variable of the launching function, with dynamic shared memory and a block of two dimensions.
// TEXT: {{retur[n] "scans"}}
// TEXT: {{KMM_HOST_SIZED_VALUE[S]\(16, 4, 1\)}}
// TEXT: {{KMM_HOST_UNROL[L] for \(by = 1; by < total; by <<= 1\)}}
__global__ void scans(const int *x, int *out)
{
    extern __shared__ int d[];
    const int total = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x, first = blockIdx.x * total;
    int by, mine;
    d[t] = x[first + t];
    __syncthreads();
    for (by = 1; by < total; by <<= 1) {
        mine = t >= by ? d[t - by] : 0;
        __syncthreads();
        d[t] += mine;
        __syncthreads();
    }
    out[first + t] = d[t];
}

// Too many rounds, or ones that only the launch knows, are not unrolled.
// TEXT: {{retur[n] "longer"}}
// TEXT: {{KMM_HOST_SIZED_VALUE[S]\(64, 1, 1\)}}
// TEXT-NOT: {{KMM_HOST_UNROL[L]}}
// TEXT: {{retur[n] "counted"}}
__global__ void longer(int n, int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = 0; k < 17; k++) {
        int next = s[(t + 1) % blockDim.x];
        __syncthreads();
        s[t] += next;
        __syncthreads();
    }
    for (int k = 0; k < n; k++) {
        int next = s[(t + 1) % blockDim.x];
        __syncthreads();
        s[t] ^= next;
        __syncthreads();
    }
    x[t] = s[t];
}

// There is one variable for all blocks of any size.
// TEXT-NOT: {{KMM_HOST_SIZE[D]}}
// TEXT: {{retur[n] "strided"}}
__global__ void counted(int *x)
{
    __shared__ int s[64];
    static int blocks;
    if (threadIdx.x == 0)
        s[0] = atomicAdd(&blocks, 1);
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x < 1)
            s[0] += 10;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        x[blockIdx.x] = s[0];
}

// What the next round of a long stride needs is asked for ahead, also where the array has ended.
// TEXT: {{kmm_host_ahea[d]\(x, \(size_t\)kmm__i[0-9]+, \(size_t\)\(gridDim.x \* blockDim.x\), kmm__e.x\);}}
__global__ void strided(int n, const unsigned char *x, int *bins)
{
    __shared__ int own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&bins[b], own[b]);
}

template <class T> static T *array(size_t n)
{
    T *x = nullptr;
    cudaMallocManaged(&x, n * sizeof(T));
    for (size_t k = 0; k < n; k++)
        x[k] = (T)(k * 7 % 251);
    return x;
}

int main()
{
    enum { N = 10001 };
    int *x = array<int>(N + 1024), *out = array<int>(N + 1024), bad = 0;
    for (int size = 1024; size >= 1; size /= 2) {
        const int blocks = (N + size - 1) / size;
        if (size == 256)
            halves<<<blocks, 256>>>(N, x, out);
        else
            halves<<<blocks, size>>>(N, x, out);
        cudaDeviceSynchronize();
        for (int b = 0; b < blocks; b++) {
            int sum = 0;
            for (int i = b * size; i < (b + 1) * size && i < N; i++)
                sum += x[i];
            bad += out[b] != sum;
        }
    }
    const dim3 tile(16, 4);
    const dim3 shapes[] = {tile, dim3(8, 8), dim3(64), dim3(5, 3), dim3(1)};
    scans<<<3, tile, 64 * sizeof(int)>>>(x, out);
    for (const dim3 &shape : shapes) {
        const int total = shape.x * shape.y;
        scans<<<3, shape, total * sizeof(int)>>>(x, out);
        cudaDeviceSynchronize();
        for (int b = 0; b < 3; b++)
            for (int t = 0, sum = 0; t < total; t++) {
                sum += x[b * total + t];
                bad += out[b * total + t] != sum;
            }
    }
    int y[64], z[64];
    for (int size = 64; size >= 32; size /= 2) {
        for (int t = 0; t < 64; t++)
            y[t] = out[t] = t * t;
        if (size == 64)
            longer<<<1, 64>>>(3, out);
        else
            longer<<<1, size>>>(3, out);
        cudaDeviceSynchronize();
        for (int k = 0; k < 20; k++) {
            for (int t = 0; t < size; t++)
                z[t] = k < 17 ? y[t] + y[(t + 1) % size] : y[t] ^ y[(t + 1) % size];
            for (int t = 0; t < size; t++)
                y[t] = z[t];
        }
        for (int t = 0; t < 64; t++)
            bad += out[t] != y[t];
    }
    counted<<<10, 64>>>(out);
    counted<<<10, 32>>>(out + 10);
    cudaDeviceSynchronize();
    int sum = 0;
    for (int b = 0; b < 20; b++)
        sum += out[b];
    bad += sum != 19 * 20 / 2 + 20 * 20;
    unsigned char *bytes = array<unsigned char>(N);
    for (int b = 0; b < 256; b++)
        y[b % 64] = out[b] = 0;
    strided<<<7, 128>>>(N, bytes, out);
    cudaDeviceSynchronize();
    for (int b = 0; b < 256; b++) {
        int count = 0;
        for (int k = 0; k < N; k++)
            count += bytes[k] == b;
        bad += out[b] != count;
    }
    printf("%s\n", bad ? "WRONG" : "sized ok");
    return bad != 0;
}
// CHECK: sized ok
