// What the program divides itself: arrays with a part for each block, which the block fills, beside a reduction; and chunks of sizes
// that the program chooses, each on the device that it chooses, by kernels and plain functions.
// RUN: %kmmcc --target=host -O1 %san -Wall -Wextra -Werror -Wno-kmm-unproven %s -o %t
// RUN: env KMM_DEVICES=host:3 %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=512K KMM_FRAME=16K KMM_JOIN=0 %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=512K KMM_FRAME=16K KMM_CHECK=access %t 2>&1 | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 200000, BLOCK = 128, BLOCKS = (N + BLOCK - 1) / BLOCK, BINS = 8, CHUNKS = 9 };

__global__ void count(int n, const int *data, int *counts, int *total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&total[0], data[i]);
    if (threadIdx.x < BINS) {
        int found = 0;
        for (int k = blockIdx.x * BLOCK; k < (int)(blockIdx.x + 1) * BLOCK && k < n; k++)
            found += data[k] == (int)threadIdx.x;
        counts[blockIdx.x * BINS + threadIdx.x] = found;
    }
}

__global__ void add(int n, int lo, int by, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[lo + i] += by;
}

static void scale(int lo, int hi, int *x)
{
    for (int i = lo; i < hi; i++)
        x[i] *= 3;
}

static int data[N], counts[BLOCKS * BINS], x[N];

static int count_wrong(int total)
{
    static int expected[BLOCKS * BINS];
    int wrong = 0, sum = 0;
    for (int i = 0; i < N; i++) {
        sum += data[i];
        expected[i / BLOCK * BINS + data[i]]++;
    }
    for (int k = 0; k < BLOCKS * BINS; k++)
        wrong += counts[k] != expected[k];
    return wrong + (sum != total);
}

int main()
{
    const int begin[CHUNKS + 1] = {0, 1, 1, 5000, 5003, 90000, 90128, 150000, 199999, N};
    int n = N, total = 0, wrong = 0, *d_data, *d_counts, *d_total, *d_x;
    for (int i = 0; i < N; i++)
        data[i] = i * 7919 % BINS;
    cudaMalloc(&d_data, sizeof(data));
    cudaMalloc(&d_counts, sizeof(counts));
    cudaMalloc(&d_total, sizeof(int));
    cudaMalloc(&d_x, sizeof(x));
    cudaMemcpy(d_data, data, sizeof(data), cudaMemcpyHostToDevice);
    cudaMemset(d_total, 0, sizeof(int));
    cudaMemset(d_x, 0, sizeof(x));
    #pragma kmm parallel(i = 0:n, b: block.x) chunk(n / 7) read(d_data[b * BLOCK:BLOCK]) \
                write(d_counts[b * BINS:BINS]) reduce(+: d_total[0])
    count<<<BLOCKS, BLOCK>>>(n, d_data, d_counts, d_total);
    cudaMemcpy(counts, d_counts, sizeof(counts), cudaMemcpyDeviceToHost);
    cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
    for (int c = 0; c < CHUNKS; c++) {
        int lo = begin[c], length = begin[c + 1] - lo;
        if (length == 0)
            continue;
        #pragma kmm parallel(i = 0:length) chunk(length) device(c * 2 % 3) update(d_x[lo + i])
        add<<<(length + BLOCK - 1) / BLOCK, BLOCK>>>(length, lo, c + 1, d_x);
    }
    cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
    #pragma kmm data map(tofrom: x)
    {
        for (int c = 0; c < CHUNKS; c++) {
            int lo = begin[c], length = begin[c + 1] - lo;
            #pragma kmm parallel(i = lo:length) chunk(length) device(c % 3) nowait \
                        rebase(lo: begin(i), hi: end(i)) update(x[i])
            scale(lo, lo + length, x);
        }
    }
    for (int c = 0; c < CHUNKS; c++)
        for (int i = begin[c]; i < begin[c + 1]; i++)
            wrong += x[i] != 3 * (c + 1);
    // CHECK: 0 0
    printf("%d %d\n", count_wrong(total), wrong);
    cudaFree(d_data), cudaFree(d_counts), cudaFree(d_total), cudaFree(d_x);
}
