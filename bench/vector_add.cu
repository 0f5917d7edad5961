// SPDX-License-Identifier: Apache-2.0
// The vector add, managed and in chunks, beside what a person would write by hand (baseline.h).
//
//     bench_vector_add memory [n]   arrays in device memory, 10 chunks, against one plain launch
//     bench_vector_add chunks [n]   1 to 5000 chunks: time for each chunk
//     bench_vector_add first [n]    arrays made, set and added: what memory costs when it is first
//                                   used, against the same by cudaMalloc
//     bench_vector_add spill [n]    from pinned host memory; limit the device by KMM_DEVICE_MEM
//
// Every result is checked.
#include "baseline.h"
#include "measure.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

__global__ void vector_add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

// Element i of an input; `period` tells the inputs apart.
__host__ __device__ static float value(unsigned int i, unsigned int period)
{
    return (float)(i % period);
}

enum { PERIOD_A = 1021, PERIOD_B = 509 };

__global__ void fill(int n, float *A, unsigned int period)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        A[i] = value(i, period);
}

// Two loads and a store of each element.
static double gigabytes(int n)
{
    return 12e-9 * n;
}

static long long count_wrong(const float *c, size_t first, size_t count)
{
    long long wrong = 0;
    for (size_t k = 0; k < count; k++) {
        unsigned int i = (unsigned int)(first + k);
        wrong += c[k] != value(i, PERIOD_A) + value(i, PERIOD_B);
    }
    return wrong;
}

// All elements of an array in device memory, copied out a piece at a time.
static long long count_wrong_on_device(const float *C, int n)
{
    const size_t piece = 64 << 20;
    float *c = (float *)malloc(piece * sizeof(float));
    long long wrong = 0;
    for (size_t first = 0; first < (size_t)n; first += piece) {
        size_t count = n - first < piece ? n - first : piece;
        CHECK(cudaMemcpy(c, C + first, count * sizeof(float), cudaMemcpyDeviceToHost));
        wrong += count_wrong(c, first, count);
    }
    free(c);
    return wrong;
}

typedef struct arrays {
    float *A, *B, *C;
} arrays_t;

static arrays_t arrays_create(int n)
{
    arrays_t x;
    CHECK(cudaMalloc(&x.A, n * sizeof(float)));
    CHECK(cudaMalloc(&x.B, n * sizeof(float)));
    CHECK(cudaMalloc(&x.C, n * sizeof(float)));
    int blocks = (n + 255) / 256;
    float *A = x.A, *B = x.B;
    unsigned int a = PERIOD_A, b = PERIOD_B;
    #pragma kmm parallel(i = 0:n) chunk(n / 10) write(A[i])
    fill<<<blocks, 256>>>(n, A, a);
    #pragma kmm parallel(i = 0:n) chunk(n / 10) write(B[i])
    fill<<<blocks, 256>>>(n, B, b);
    CHECK(cudaMemset(x.C, 0, n * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    return x;
}

static void arrays_destroy(arrays_t x)
{
    CHECK(cudaFree(x.A));
    CHECK(cudaFree(x.B));
    CHECK(cudaFree(x.C));
}

// `launches` launches, and the wait for the last.
static double run_chunked(int n, arrays_t x, int chunk, int launches)
{
    float *A = x.A, *B = x.B, *C = x.C;
    double start = bench_now();
    for (int k = 0; k < launches; k++) {
        #pragma kmm parallel(i = 0:n) chunk(chunk) read(A[i], B[i]) write(C[i])
        vector_add<<<(n + 255) / 256, 256>>>(n, C, A, B);
    }
    CHECK(cudaDeviceSynchronize());
    return bench_now() - start;
}

static double best_of(int n, arrays_t x, int chunk, int launches, int repeat)
{
    double best = 1e30;
    for (int k = 0; k <= repeat; k++) { // the first run warms up
        double time = run_chunked(n, x, chunk, launches) / launches;
        if (k > 0 && time < best)
            best = time;
    }
    return best;
}

static int report(long long wrong)
{
    if (wrong)
        fprintf(stderr, "%lld elements are wrong\n", wrong);
    return wrong != 0;
}

static int bench_memory(int n)
{
    double plain = baseline_launch(n, 10);
    if (plain < 0)
        return 1;
    arrays_t x = arrays_create(n);
    double chunked = best_of(n, x, n / 10, 1, 10);
    int failed = report(count_wrong_on_device(x.C, n));
    arrays_destroy(x);
    printf(
        "vector add of %d elements in device memory: one plain launch %.3f ms, 10 chunks %.3f ms\n",
        n, 1e3 * plain, 1e3 * chunked);
    bench_row("vector_add/memory", gigabytes(n) / chunked, gigabytes(n) / plain, "GB/s",
              "%.0f GB in 10 chunks", gigabytes(n));
    return failed;
}

static int bench_first(int n)
{
    double plain = baseline_first(n), time[2];
    int failed = plain < 0;
    for (int k = 0; k < 2 && !failed; k++) {
        double start = bench_now();
        arrays_t x = arrays_create(n);
        run_chunked(n, x, n / 80, 1);
        time[k] = bench_now() - start;
        failed |= report(count_wrong_on_device(x.C, n));
        arrays_destroy(x);
    }
    if (failed)
        return 1;
    for (int k = 0; k < 2; k++)
        bench_row("vector_add/first", 1e3 * time[k], 1e3 * plain, "ms",
                  "three arrays of %.0f GB allocated, set and added%s", 4e-9 * n,
                  k ? ", again" : "");
    return 0;
}

static int bench_chunks(int n)
{
    static const struct {
        int chunks;
        double kmm;
    } cases[] = {{1, 2400}, {6, 3315}, {100, 362}, {1000, 39}, {5000, 7.9}};
    const char *join = getenv("KMM_JOIN"), *joined = join && atoi(join) == 0 ? ", each a task" : "";
    double plain = baseline_launch(n, 20);
    if (plain < 0)
        return 1;
    printf("vector add of %d elements in device memory: one plain launch %.3f ms\n", n,
           1e3 * plain);
    arrays_t x = arrays_create(n);
    int failed = 0;
    for (auto c : cases) {
        int chunk = (n / c.chunks + 255) / 256 * 256, chunks = chunk ? (n + chunk - 1) / chunk : 1;
        int launches = c.chunks < 100 ? 10 : 2;
        CHECK(cudaMemset(x.C, 0, n * sizeof(float)));
        double time = best_of(n, x, chunk, launches, 5);
        failed |= report(count_wrong_on_device(x.C, n));
        printf(
            "%d chunks: %.3f ms, %.2f us a chunk, of which %.2f above plain; KMM 0.3: %.4g GB/s\n",
            chunks, 1e3 * time, 1e6 * time / chunks, 1e6 * (time - plain) / chunks, c.kmm);
        bench_row("vector_add/chunks", gigabytes(n) / time, gigabytes(n) / plain, "GB/s",
                  "%d chunk%s%s", chunks, chunks == 1 ? "" : "s", joined);
    }
    arrays_destroy(x);
    return failed;
}

static void add_in_data_region(int n, const float *a, const float *b, float *c)
{
    #pragma kmm data map(to: a[0:n]) map(to: b[0:n]) map(from: c[0:n])
    {
        #pragma kmm parallel(i = 0:n) chunk(n / 80) read(a[i], b[i]) write(c[i])
        vector_add<<<(n + 255) / 256, 256>>>(n, c, a, b);
    }
}

static void add_host_arrays(int n, const float *a, const float *b, float *c)
{
    #pragma kmm parallel(i = 0:n) chunk(n / 80) read(a[i], b[i]) write(c[i])
    vector_add<<<(n + 255) / 256, 256>>>(n, c, a, b);
}

static int time_host_arrays(const char *what,
                            void (*add)(int, const float *, const float *, float *), int n,
                            const float *a, const float *b, float *c, double by_hand)
{
    double best = 1e30;
    int failed = 0;
    for (int k = 0; k < 3; k++) {
        memset(c, 0, n * sizeof(float));
        double start = bench_now();
        add(n, a, b, c);
        CHECK(cudaDeviceSynchronize());
        double time = bench_now() - start;
        if (time < best)
            best = time;
        failed |= report(count_wrong(c, 0, n));
    }
    bench_row("vector_add/spill", gigabytes(n) / best, gigabytes(n) / by_hand, "GB/s",
              "vector add of %.0f GB %s", gigabytes(n), what);
    return failed;
}

static int bench_spill(int n)
{
    float *a, *b, *c;
    CHECK(cudaMallocHost(&a, n * sizeof(float)));
    CHECK(cudaMallocHost(&b, n * sizeof(float)));
    CHECK(cudaMallocHost(&c, n * sizeof(float)));
    for (int i = 0; i < n; i++) {
        a[i] = value(i, PERIOD_A);
        b[i] = value(i, PERIOD_B);
    }
    double by_hand = baseline_stream(n, 80, a, b, c, 3);
    if (by_hand < 0)
        return 1;
    int failed = report(count_wrong(c, 0, n));
    printf(
        "vector add of %d elements from pinned memory, by hand in 80 chunks on 3 streams: %.3f s\n",
        n, by_hand);
    failed |= time_host_arrays("from pinned memory in a data region", add_in_data_region, n, a, b,
                               c, by_hand);
    failed |= time_host_arrays("from pinned memory, mapped by the launch", add_host_arrays, n, a, b,
                               c, by_hand);
    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    CHECK(cudaFreeHost(c));
    return failed;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int);
        long n;
    } modes[] = {{"memory", bench_memory, 2000000000},
                 {"chunks", bench_chunks, 100000000},
                 {"first", bench_first, 2000000000},
                 {"spill", bench_spill, 2000000000}};
    for (auto mode : modes) {
        if (argc < 2 || argc > 3 || strcmp(argv[1], mode.name) != 0)
            continue;
        long n = argc > 2 ? atol(argv[2]) : mode.n;
        if (n > 0 && n <= INT_MAX - 255)
            return mode.run((int)n);
    }
    fprintf(stderr, "usage: bench_vector_add memory|chunks|first|spill [elements]\n");
    return 2;
}
