// SPDX-License-Identifier: Apache-2.0
// A program that launches the same again and again, in many chunks, beside what a person would
// write by hand (baseline_gpus.h).
//
//     bench_iterative [elements [chunks [iterations]]]
//
// Every result is checked.
#include "baseline_gpus.h"
#include "measure.h"

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <kmm.h>

__global__ void set(int n, float *x, int period)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (float)(i % period);
}

__global__ void add_into(int n, float *c, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

enum { PERIOD_A = 1021, PERIOD_B = 509, REPEAT = 5 };

// The same arguments each time.
static void add_same(int n, int chunk, float *x[2], float *b, int iterations)
{
    for (int k = 0; k < iterations; k++) {
        float *from = x[0], *to = x[1];
        #pragma kmm parallel(i = 0:n) chunk(chunk) read(from[i], b[i]) write(to[i])
        add_into<<<(n + 255) / 256, 256>>>(n, to, from, b);
    }
}

// Two arrays that change roles.
static void add_in_turn(int n, int chunk, float *x[2], float *b, int iterations)
{
    for (int k = 0; k < iterations; k++) {
        float *from = x[k % 2], *to = x[(k + 1) % 2];
        #pragma kmm parallel(i = 0:n) chunk(chunk) read(from[i], b[i]) write(to[i])
        add_into<<<(n + 255) / 256, 256>>>(n, to, from, b);
    }
}

static long long count_wrong(int n, const float *x, int times)
{
    float *got = (float *)malloc(n * sizeof(float));
    long long wrong = 0;
    CHECK(cudaMemcpy(got, x, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += got[i] != (float)(i % PERIOD_A) + (float)times * (float)(i % PERIOD_B);
    free(got);
    return wrong;
}

typedef struct timing {
    double first, best;
} timing_t; // seconds for each iteration

static timing_t time_of(void (*run)(int, int, float **, float *, int), int n, int chunk,
                        int iterations, int turns, int *failed)
{
    float *x[2], *b;
    timing_t t = {0, 1e30};
    for (float **a : {&x[0], &x[1], &b})
        CHECK(cudaMalloc(a, n * sizeof(float)));
    float *first = x[0];
    #pragma kmm parallel(i = 0:n) write(first[i])
    set<<<(n + 255) / 256, 256>>>(n, first, PERIOD_A);
    #pragma kmm parallel(i = 0:n) write(b[i])
    set<<<(n + 255) / 256, 256>>>(n, b, PERIOD_B);
    CHECK(cudaMemset(x[1], 0, n * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k <= REPEAT; k++) {
        double start = bench_now();
        run(n, chunk, x, b, iterations);
        CHECK(cudaDeviceSynchronize());
        double time = (bench_now() - start) / iterations;
        if (k)
            t.best = fmin(t.best, time);
        else
            t.first = time;
    }
    int times = turns ? iterations * (REPEAT + 1) : 1;
    long long wrong = count_wrong(n, x[times % 2], times);
    if (wrong)
        fprintf(stderr, "%lld elements are wrong\n", wrong);
    *failed |= wrong != 0;
    for (float *a : {x[0], x[1], b})
        CHECK(cudaFree(a));
    return t;
}

static void print_row(const char *what, int chunks, double seconds, double graph)
{
    const char *join = getenv("KMM_JOIN"),
               *joined = join && atoi(join) == 0 ? ", each chunk a task" : "";
    bench_row("iterative/repeated", 1e6 * seconds / chunks, 1e6 * graph / chunks, "us/chunk",
              "%s%s", what, joined);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100000000, want = argc > 2 ? atol(argv[2]) : 1000,
         iterations = argc > 3 ? atol(argv[3]) : 20;
    if (argc > 4 || n < 1 || n > INT_MAX - 255 || want < 1 || iterations < 2 || iterations % 2 ||
        iterations > 1000) {
        fprintf(stderr,
                "usage: bench_iterative [elements [chunks [iterations, even, at most 1000]]]\n");
        return 2;
    }
    int chunk = (int)((n / want + 255) / 256 * 256), failed = 0;
    chunk = chunk ? chunk : 256;
    int chunks = (int)((n + chunk - 1) / chunk);
    double launches = baseline_launches((int)n, (int)want, (int)iterations, REPEAT),
           graph = baseline_graph((int)n, (int)want, (int)iterations, REPEAT);
    double one = baseline_launches((int)n, 1, (int)iterations, REPEAT);
    if (launches < 0 || graph < 0 || one < 0)
        return 1;
    timing_t same = time_of(add_same, (int)n, chunk, (int)iterations, 0, &failed),
             turn = time_of(add_in_turn, (int)n, chunk, (int)iterations, 1, &failed);
    printf(
        "n = %ld, %ld iterations, %d chunks of %d; one launch for each iteration takes %.3f ms\n",
        n, iterations, chunks, chunk, 1e3 * one);
    if (!getenv("KMM_JOIN"))
        print_row("plain launches, by hand", chunks, launches, graph);
    print_row("the same arguments each time", chunks, same.best, graph);
    print_row("two arrays that change roles, first run", chunks, turn.first, graph);
    print_row("two arrays that change roles", chunks, turn.best, graph);
    return failed;
}
