// SPDX-License-Identifier: Apache-2.0
/* The baselines of one GPU: plain CUDA for the work of the benchmarks. */
#include "baseline.h"
#include "measure.h"

#include <cstdio>
#include <cuda_runtime.h>

__global__ static void vector_add(int n, float *C, const float *A, const float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] + B[i];
}

double baseline_launch(int n, int repeat)
{
    float *array[3];
    for (float *&x : array) {
        TRY(cudaMalloc(&x, n * sizeof(float)));
        TRY(cudaMemset(x, 0, n * sizeof(float)));
    }
    double best = 1e30;
    for (int k = 0; k <= repeat; k++) { // the first run warms up
        TRY(cudaDeviceSynchronize());
        double start = bench_now();
        vector_add<<<(n + 255) / 256, 256>>>(n, array[2], array[0], array[1]);
        TRY(cudaGetLastError());
        TRY(cudaDeviceSynchronize());
        double time = bench_now() - start;
        if (k > 0 && time < best)
            best = time;
    }
    for (float *x : array)
        TRY(cudaFree(x));
    return best;
}

double baseline_first(int n)
{
    float *array[3];
    double start = bench_now();
    for (float *&x : array) {
        TRY(cudaMalloc(&x, n * sizeof(float)));
        TRY(cudaMemset(x, 0, n * sizeof(float)));
    }
    vector_add<<<(n + 255) / 256, 256>>>(n, array[2], array[0], array[1]);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    double time = bench_now() - start;
    for (float *x : array)
        TRY(cudaFree(x));
    return time;
}

enum { STREAMS = 3 };

typedef struct lane {
    cudaStream_t stream;
    float *a, *b, *c;
} lane_t;

static double stream_once(int n, int chunks, const float *a, const float *b, float *c,
                          const lane_t *lanes)
{
    int size = (n + chunks - 1) / chunks;
    double start = bench_now();
    for (int k = 0; k < chunks; k++) {
        const lane_t *l = &lanes[k % STREAMS];
        size_t from = (size_t)k * size;
        if (from >= (size_t)n)
            break;
        int count = n - from < (size_t)size ? (int)(n - from) : size;
        size_t bytes = count * sizeof(float);
        TRY(cudaMemcpyAsync(l->a, a + from, bytes, cudaMemcpyHostToDevice, l->stream));
        TRY(cudaMemcpyAsync(l->b, b + from, bytes, cudaMemcpyHostToDevice, l->stream));
        vector_add<<<(count + 255) / 256, 256, 0, l->stream>>>(count, l->c, l->a, l->b);
        TRY(cudaGetLastError());
        TRY(cudaMemcpyAsync(c + from, l->c, bytes, cudaMemcpyDeviceToHost, l->stream));
    }
    TRY(cudaDeviceSynchronize());
    return bench_now() - start;
}

double baseline_stream(int n, int chunks, const float *a, const float *b, float *c, int repeat)
{
    size_t bytes = (size_t)((n + chunks - 1) / chunks) * sizeof(float);
    lane_t lanes[STREAMS];
    for (lane_t &l : lanes) {
        TRY(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
        TRY(cudaMalloc(&l.a, bytes));
        TRY(cudaMalloc(&l.b, bytes));
        TRY(cudaMalloc(&l.c, bytes));
    }
    double best = 1e30;
    for (int k = 0; k < repeat; k++) {
        double time = stream_once(n, chunks, a, b, c, lanes);
        if (time < 0)
            return time;
        if (time < best)
            best = time;
    }
    for (lane_t &l : lanes) {
        TRY(cudaFree(l.a));
        TRY(cudaFree(l.b));
        TRY(cudaFree(l.c));
        TRY(cudaStreamDestroy(l.stream));
    }
    return best;
}

double baseline_context(void)
{
    double start = bench_now();
    TRY(cudaFree(nullptr));
    return bench_now() - start;
}

double baseline_copy(int n, const float *a, const float *b, float *c)
{
    float *array[3];
    size_t bytes = n * sizeof(float);
    for (float *&x : array)
        TRY(cudaMalloc(&x, bytes));
    double start = bench_now();
    TRY(cudaMemcpy(array[0], a, bytes, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(array[1], b, bytes, cudaMemcpyHostToDevice));
    vector_add<<<(n + 255) / 256, 256>>>(n, array[2], array[0], array[1]);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(c, array[2], bytes, cudaMemcpyDeviceToHost));
    double time = bench_now() - start;
    for (float *x : array)
        TRY(cudaFree(x));
    return time;
}

double baseline_two_way(size_t bytes, int pieces)
{
    char *host[2], *device[2];
    cudaStream_t stream[2];
    for (int k = 0; k < 2; k++) {
        TRY(cudaMallocHost(&host[k], bytes));
        TRY(cudaMalloc(&device[k], bytes));
        TRY(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
    }
    double best = 1e30;
    for (int repeat = 0; repeat < 3; repeat++) {
        TRY(cudaDeviceSynchronize());
        double start = bench_now();
        for (int k = 0; k < pieces; k++) {
            TRY(cudaMemcpyAsync(device[0], host[0], bytes, cudaMemcpyHostToDevice, stream[0]));
            TRY(cudaMemcpyAsync(host[1], device[1], bytes, cudaMemcpyDeviceToHost, stream[1]));
        }
        TRY(cudaDeviceSynchronize());
        double time = bench_now() - start;
        if (time < best)
            best = time;
    }
    for (int k = 0; k < 2; k++) {
        TRY(cudaFreeHost(host[k]));
        TRY(cudaFree(device[k]));
        TRY(cudaStreamDestroy(stream[k]));
    }
    return 2.0 * bytes * pieces / best;
}
