// SPDX-License-Identifier: Apache-2.0
// Data that does not fit, or that lies in ordinary memory, beside what a person would write by hand
// (baseline.h).
//
//     bench_out_of_core startup          from nothing to a runtime on the GPU, beside a CUDA
//                                        context
//     bench_out_of_core pageable [n]     vector add of arrays from malloc, beside plain cudaMemcpy
//     bench_out_of_core sweeps [bytes]   ten in-place sweeps over an array of that size; limit the
//                                        device to a third by KMM_DEVICE_MEM
//     bench_out_of_core temporary [bytes] an array of that size made, swept twice and freed, again
//     and again; limited likewise
//
// Every result is checked.
#include "baseline.h"
#include "measure.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <kmm.h>

__global__ void vector_add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

__global__ void add_one(long n, int *x)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

static int report(long long wrong)
{
    if (wrong)
        fprintf(stderr, "%lld elements are wrong\n", wrong);
    return wrong != 0;
}

// ---- Start-up ----

static int bench_startup(long)
{
    double context = baseline_context();
    if (context < 0)
        return 1;
    double start = bench_now();
    kmm_runtime_t *rt = NULL;
    if (kmm_create(&rt, NULL)) {
        fprintf(stderr, "%s\n", kmm_error_text(NULL));
        return 1;
    }
    double ready = bench_now() - start;
    kmm_destroy(rt);
    bench_row("out_of_core/startup", 1e3 * context, 0, "ms", "CUDA's driver and context");
    bench_row("out_of_core/startup", 1e3 * ready, 0, "ms", "a kmm runtime after that");
    return 0;
}

// ---- Ordinary memory ----

static void produce(long n, float *a, float *b, float *c)
{
    for (long i = 0; i < n; i++) {
        a[i] = (float)(i % 1021);
        b[i] = (float)(i % 509);
    }
    memset(c, 0, n * sizeof(float));
}

static long long count_wrong_sums(long n, const float *c)
{
    long long wrong = 0;
    for (long i = 0; i < n; i++)
        wrong += c[i] != (float)(i % 1021) + (float)(i % 509);
    return wrong;
}

static double add_host_arrays(int n, const float *a, const float *b, float *c)
{
    double start = bench_now();
    #pragma kmm parallel(i = 0:n) chunk(n / 80) read(a[i], b[i]) write(c[i])
    vector_add<<<(n + 255) / 256, 256>>>(n, c, a, b);
    CHECK(cudaDeviceSynchronize());
    return bench_now() - start;
}

static int bench_pageable(long n)
{
    int failed = 0;
    double plain = 0, ours = 0;
    for (int k = 0; k < 2; k++) { // each in memory of its own, just produced
        float *a = (float *)malloc(n * sizeof(float)), *b = (float *)malloc(n * sizeof(float)),
              *c = (float *)malloc(n * sizeof(float));
        if (!a || !b || !c)
            return 1;
        produce(n, a, b, c);
        if (k == 0)
            plain = baseline_copy((int)n, a, b, c);
        else
            ours = add_host_arrays((int)n, a, b, c);
        failed |= report(count_wrong_sums(n, c));
        free(a);
        free(b);
        free(c);
    }
    if (plain < 0)
        return 1;
    bench_row("out_of_core/pageable", 12e-9 * n / ours, 12e-9 * n / plain, "GB/s",
              "vector add of %.0f GB from malloc memory, mapped by the launch", 12e-9 * n);
    return failed;
}

// ---- Sweeps ----

// What a device that keeps `held` of `bytes` moves in ten sweeps one way, at the least: what is
// held at the end of one sweep
// need not come in for the next.
static double least_bytes(double bytes, double held)
{
    enum { SWEEPS = 10 };
    return SWEEPS * bytes - (SWEEPS - 1) * held;
}

static int bench_sweeps(long bytes)
{
    enum { SWEEPS = 10, CHUNKS = 96 };
    kmm_device_info_t before, after;
    long n = bytes / (long)sizeof(int), chunk = (n / CHUNKS + 255) / 256 * 256;
    double rate = baseline_two_way((size_t)1 << 30, 8);
    if (rate < 0)
        return 1;
    int *x;
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMemset(x, 0, n * sizeof(int)));
    #pragma kmm parallel(i = 0:n) chunk(chunk) update(x[i])
    add_one<<<(unsigned)((n + 255) / 256), 256>>>(n, x);
    CHECK(cudaDeviceSynchronize());
    if (kmm_device_get(kmm_default(), 0, &before))
        return 1;
    double start = bench_now();
    for (int k = 0; k < SWEEPS; k++) {
        #pragma kmm parallel(i = 0:n) chunk(chunk) update(x[i])
        add_one<<<(unsigned)((n + 255) / 256), 256>>>(n, x);
    }
    CHECK(cudaDeviceSynchronize());
    double seconds = bench_now() - start;
    if (kmm_device_get(kmm_default(), 0, &after))
        return 1;
    long long wrong = 0;
    int *piece = (int *)malloc(chunk * sizeof(int));
    for (long i = 0; i < n; i += chunk) {
        long count = n - i < chunk ? n - i : chunk;
        CHECK(cudaMemcpy(piece, x + i, count * sizeof(int), cudaMemcpyDeviceToHost));
        for (long k = 0; k < count; k++)
            wrong += piece[k] != SWEEPS + 1;
    }
    free(piece);
    CHECK(cudaFree(x));
    double held = (double)after.memory_bytes < bytes ? (double)after.memory_bytes : (double)bytes;
    double best = 2 * least_bytes((double)bytes, held) / rate,
           moved = (double)(after.bytes_in - before.bytes_in + after.bytes_out - before.bytes_out);
    printf("copies in and out at once, pinned, by hand: %.1f GB/s both ways together\n",
           1e-9 * rate);
    printf("ten sweeps: %.1f GB/s, %.1f GB moved; the best policy moves %.1f\n",
           1e-9 * moved / seconds, 1e-9 * moved, 2e-9 * least_bytes((double)bytes, held));
    bench_row("out_of_core/sweeps", seconds, best, "s",
              "ten in-place sweeps over %.0f GB, %.1f GB of device memory", 1e-9 * bytes,
              1e-9 * held);
    return report(wrong);
}

// ---- Arrays that come and go ----

// Elements that are not `value` in a piece of the array.
static long long count_other(const int *x, long n, long at, int value)
{
    enum { PIECE = 1 << 18 };
    long count = n - at < PIECE ? n - at : PIECE, wrong = 0;
    int *piece = (int *)malloc(count * sizeof(int));
    if (cudaMemcpy(piece, x + at, count * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong = count;
    for (long k = 0; k < count; k++)
        wrong += piece[k] != value;
    free(piece);
    return wrong;
}

// The host's side of the first array is touched and page-locked; those of the later ones are had
// from it.
static int bench_temporary(long bytes)
{
    enum { ROUNDS = 5, CHUNKS = 96 };
    long n = bytes / (long)sizeof(int), chunk = (n / CHUNKS + 255) / 256 * 256;
    double first = 0, later = 0;
    long long wrong = 0;
    for (int k = 0; k < ROUNDS; k++) {
        int *x;
        double start = bench_now();
        CHECK(cudaMalloc(&x, n * sizeof(int)));
        CHECK(cudaMemset(x, 0, n * sizeof(int)));
        for (int sweep = 0; sweep < 2; sweep++) {
            #pragma kmm parallel(i = 0:n) chunk(chunk) update(x[i])
            add_one<<<(unsigned)((n + 255) / 256), 256>>>(n, x);
        }
        CHECK(cudaDeviceSynchronize());
        double took = bench_now() - start;
        for (long at = 0; at < n; at += n / 16 + 1)
            wrong += count_other(x, n, at, 2);
        CHECK(cudaFree(x));
        if (k == 0)
            first = took;
        else if (later == 0 || took < later)
            later = took;
    }
    bench_row("out_of_core/temporary", later, first, "s",
              "%.0f GB allocated and swept twice, after the same was freed", 1e-9 * bytes);
    return report(wrong);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(long);
        long n;
    } modes[] = {{"startup", bench_startup, 1},
                 {"pageable", bench_pageable, 2000000000},
                 {"sweeps", bench_sweeps, 24000000000},
                 {"temporary", bench_temporary, 8000000000}};
    for (auto mode : modes) {
        if (argc < 2 || argc > 3 || strcmp(argv[1], mode.name) != 0)
            continue;
        long n = argc > 2 ? atol(argv[2]) : mode.n;
        if (n > 0)
            return mode.run(n);
    }
    fprintf(stderr, "usage: bench_out_of_core startup | pageable [elements] | sweeps [bytes] | "
                    "temporary [bytes]\n");
    return 2;
}
