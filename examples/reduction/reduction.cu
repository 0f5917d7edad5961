// SPDX-License-Identifier: Apache-2.0
// The sum of an array in two ways: blocks that leave one partial sum each, which the CPU adds up,
// and blocks that add theirs to one cell with an atomic; the latter also finds the largest element.
#include <cuda_runtime.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK 256

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// partial[b] = sum of the elements of block b
__global__ void sum_blocks(int n, const int *x, long long *partial)
{
    __shared__ long long shared[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    shared[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        if (t < width)
            shared[t] += shared[t + width];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = shared[0];
}

// *sum += sum of x;  *largest = max(*largest, all of x)
__global__ void sum_and_max(int n, const int *x, unsigned long long *sum, int *largest)
{
    __shared__ long long sums[BLOCK];
    __shared__ int maxima[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? x[i] : 0;
    maxima[t] = i < n ? x[i] : INT_MIN;
    __syncthreads();
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        if (t < width) {
            sums[t] += sums[t + width];
            if (maxima[t] < maxima[t + width])
                maxima[t] = maxima[t + width];
        }
        __syncthreads();
    }
    if (t != 0)
        return;
    atomicAdd(sum, (unsigned long long)sums[0]);
    atomicMax(largest, maxima[0]);
}

static long long sum_by_blocks(int n, const int *X)
{
    int blocks = (n + BLOCK - 1) / BLOCK;
    size_t bytes = blocks * sizeof(long long);
    long long *partial = (long long *)malloc(bytes + 1), *P, sum = 0;
    CHECK(cudaMalloc(&P, bytes));

    if (n > 0) {
        #pragma kmm parallel(i = 0:n, b: block.x) chunk(n / 7) read(X[i]) write(P[b])
        sum_blocks<<<blocks, BLOCK>>>(n, X, P);
        CHECK(cudaGetLastError());
    }

    CHECK(cudaMemcpy(partial, P, bytes, cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++)
        sum += partial[b];
    CHECK(cudaFree(P));
    free(partial);
    return sum;
}

static long long sum_by_atomics(int n, const int *X, int *largest)
{
    unsigned long long *S, sum = 0;
    int *L;
    *largest = INT_MIN;
    CHECK(cudaMalloc(&S, sizeof(sum)));
    CHECK(cudaMalloc(&L, sizeof(int)));
    CHECK(cudaMemcpy(S, &sum, sizeof(sum), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(L, largest, sizeof(int), cudaMemcpyHostToDevice));

    if (n > 0) {
        #pragma kmm parallel(i = 0:n) chunk(n / 5) read(X[i]) reduce(+: S[0]) reduce(max: L[0])
        sum_and_max<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(n, X, S, L);
        CHECK(cudaGetLastError());
    }

    CHECK(cudaMemcpy(&sum, S, sizeof(sum), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(largest, L, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(S));
    CHECK(cudaFree(L));
    return (long long)sum;
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
    fprintf(stderr, "usage: reduction [-n elements] [-s seed]\n");
    return 2;
}

int main(int argc, char **argv)
{
    long count = 1000000;
    uint64_t seed = 1;
    for (int option; (option = getopt(argc, argv, "n:s:")) != -1;) {
        switch (option) {
        case 'n': count = number(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        default: return usage();
        }
    }
    if (optind != argc || count < 0 || count > INT_MAX - BLOCK)
        return usage();

    int n = (int)count;
    size_t bytes = (size_t)n * sizeof(int);
    int *x = (int *)malloc(bytes + 1), *X;
    if (!x) {
        fprintf(stderr, "reduction: not enough host memory for %zu bytes\n", bytes);
        return 1;
    }
    long long expected_sum = 0;
    int expected_largest = INT_MIN;
    for (int i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (int)(seed >> 33) - (1 << 30);
        expected_sum += x[i];
        if (expected_largest < x[i])
            expected_largest = x[i];
    }

    CHECK(cudaMalloc(&X, bytes));
    CHECK(cudaMemcpy(X, x, bytes, cudaMemcpyHostToDevice));
    int largest;
    long long by_blocks = sum_by_blocks(n, X), by_atomics = sum_by_atomics(n, X, &largest);
    CHECK(cudaFree(X));

    bool right =
        by_blocks == expected_sum && by_atomics == expected_sum && largest == expected_largest;
    printf("reduction: n = %d, sum = %lld and %lld, largest = %d: %s\n", n, by_blocks, by_atomics,
           largest, right ? "ok" : "FAILED");
    free(x);
    return !right;
}
