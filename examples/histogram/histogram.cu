// SPDX-License-Identifier: Apache-2.0
// A histogram in two ways: with one atomic for each element on the bins in global memory, and with
// bins of each block's own in (dynamic) shared memory, which it adds to the global ones at its end.
#include <cuda_runtime.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// data[i] < the number of bins, for all i
__global__ void histogram(int n, const unsigned short *data, unsigned int *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i]], 1u);
}

__global__ void histogram_shared(int n, int bin_count, const unsigned short *data,
                                 unsigned int *bins)
{
    extern __shared__ unsigned int own[];
    for (int b = threadIdx.x; b < bin_count; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += blockDim.x)
        if (own[b] != 0)
            atomicAdd(&bins[b], own[b]);
}

// Copies the bins out, counts those that differ from the expected ones, and clears them.
static int count_wrong(unsigned int *BINS, int bin_count, const unsigned int *expected)
{
    size_t bytes = bin_count * sizeof(unsigned int);
    unsigned int *bins = (unsigned int *)malloc(bytes);
    CHECK(cudaMemcpy(bins, BINS, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(BINS, 0, bytes));
    int wrong = 0;
    for (int b = 0; b < bin_count; b++)
        wrong += bins[b] != expected[b];
    free(bins);
    return wrong;
}

static int run_on_device(int n, int bin_count, const unsigned short *data,
                         const unsigned int *expected)
{
    unsigned short *DATA;
    unsigned int *BINS;
    size_t bin_bytes = bin_count * sizeof(unsigned int);
    CHECK(cudaMalloc(&DATA, n * sizeof(unsigned short)));
    CHECK(cudaMalloc(&BINS, bin_bytes));
    CHECK(cudaMemcpy(DATA, data, n * sizeof(unsigned short), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(BINS, 0, bin_bytes));

    int blocks = (n + 255) / 256;
    if (n > 0) {
        #pragma kmm parallel(i = 0:n) chunk(n / 6) read(DATA[i]) reduce(+: BINS[:])
        histogram<<<blocks, 256>>>(n, DATA, BINS);
        CHECK(cudaGetLastError());
    }
    int wrong = count_wrong(BINS, bin_count, expected);

    if (n > 0) {
        #pragma kmm parallel(i = 0:n) chunk(n / 3) read(DATA[i]) reduce(+: BINS[0:bin_count])
        histogram_shared<<<blocks, 256, bin_bytes>>>(n, bin_count, DATA, BINS);
        CHECK(cudaGetLastError());
    }
    wrong += count_wrong(BINS, bin_count, expected);

    CHECK(cudaFree(DATA));
    CHECK(cudaFree(BINS));
    return wrong;
}

// A whole number from the command line; -1, which no option allows, when it is none.
static long number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

static int usage(void)
{
    fprintf(stderr, "usage: histogram [-n elements] [-b bins, at most 8192] [-s seed]\n");
    return 2;
}

int main(int argc, char **argv)
{
    long count = 1000000;
    long bin_count = 256;
    uint64_t seed = 1;
    for (int option; (option = getopt(argc, argv, "n:b:s:")) != -1;) {
        switch (option) {
        case 'n': count = number(optarg); break;
        case 'b': bin_count = number(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        default: return usage();
        }
    }
    if (optind != argc || count < 0 || count > INT_MAX - 255 || bin_count < 1 || bin_count > 8192)
        return usage();

    int n = (int)count;
    unsigned short *data = (unsigned short *)malloc(n * sizeof(unsigned short) + 1);
    unsigned int *expected = (unsigned int *)calloc(bin_count, sizeof(unsigned int));
    if (!data || !expected) {
        fprintf(stderr, "histogram: not enough host memory for %d elements\n", n);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned int u = seed >> 48, v = (seed >> 32) & 0xFFFF;
        data[i] = (unsigned short)((u < v ? u : v) * (unsigned long long)bin_count >> 16);
        expected[data[i]]++;
    }

    int wrong = run_on_device(n, bin_count, data, expected);
    printf("histogram: n = %d, %ld bins, first %u, last %u, %d wrong: %s\n", n, bin_count,
           expected[0], expected[bin_count - 1], wrong, wrong ? "FAILED" : "ok");
    free(data);
    free(expected);
    return wrong != 0;
}
