// SPDX-License-Identifier: Apache-2.0
// What a program gains or loses by more GPUs: launches of a kernel that takes a given time, with what programs do between launches. Run it
// with KMM_DEVICES=cuda:1 (one GPU), without KMM_DEVICES (kmm chooses) and with KMM_DEVICES=cuda:2 (always two). Each row is the median of
// ROUNDS turns, in microseconds a launch, after the program has run for SECONDS, so that what kmm learns is learned.
#include "timed.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

enum { ROUNDS = 7, THREADS = 256, N = 1 << 24, WIDTH = 8192 };

__global__ void grind(int n, int rounds, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    for (int k = 0; k < rounds; k++)
        v = v * 0.999f + 0.5f;
    x[i] = v;
}

__global__ void smooth(int w, int h, const float *a, float *b)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        b[y * w + x] = 0.25f * (a[(y - 1) * w + x] + a[(y + 1) * w + x] + a[y * w + x - 1] + a[y * w + x + 1]);
}

static double measure(const std::function<void()> &step, double seconds)
{
    double begin = now_us(), times[ROUNDS];
    int steps = 0;
    do { // until what can be learned is learned
        step();
        must(cudaDeviceSynchronize(), "a step");
        steps++;
    } while (now_us() - begin < seconds * 1e6);
    int count = steps < 20 ? 20 : steps > 2000 ? 2000 : steps;
    for (double &t : times) {
        begin = now_us();
        for (int k = 0; k < count; k++)
            step();
        must(cudaDeviceSynchronize(), "steps");
        t = (now_us() - begin) / count;
    }
    std::sort(times, times + ROUNDS);
    return times[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    const double seconds = argc > 3 ? atof(argv[3]) : 2;
    float *x = nullptr, *y = nullptr, *small = nullptr, got;
    must(cudaMalloc(&x, N * sizeof(float)), "cudaMalloc");
    must(cudaMalloc(&small, 4096), "cudaMalloc");
    must(cudaMemset(x, 0, N * sizeof(float)), "cudaMemset");
    auto launch = [&] {
        #pragma kmm parallel(i = 0:N) update(x[i])
        grind<<<N / THREADS, THREADS>>>(N, rounds, x);
    };
    std::function<void()> step;
    if (what == "launch")
        step = launch;
    else if (what == "wait") // a launch and cudaDeviceSynchronize
        step = [&] { launch(), must(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); };
    else if (what == "read") // a launch and a copy of 4 bytes to the host
        step = [&] { launch(), must(cudaMemcpy(&got, x, sizeof(got), cudaMemcpyDeviceToHost), "cudaMemcpy"); };
    else if (what == "beside") // a launch, and one without a pragma on a small array
        step = [&] { launch(), grind<<<1, THREADS>>>(1024, 1, small); };
    else if (what == "stencil") { // 5 points, halos of two rows
        const dim3 block(32, 8), grid(WIDTH / 32, WIDTH / 8);
        must(cudaFree(x), "cudaFree");
        must(cudaMalloc(&x, sizeof(float) * WIDTH * WIDTH), "cudaMalloc");
        must(cudaMalloc(&y, sizeof(float) * WIDTH * WIDTH), "cudaMalloc");
        must(cudaMemset(x, 0, sizeof(float) * WIDTH * WIDTH), "cudaMemset");
        must(cudaMemset(y, 0, sizeof(float) * WIDTH * WIDTH), "cudaMemset");
        step = [&, block, grid] {
            #pragma kmm parallel(i = 1:WIDTH - 2, j = 1:WIDTH - 2) shape(x[WIDTH][WIDTH], y[WIDTH][WIDTH]) read(x[j - 1:3][i - 1:3]) update(y[j][i])
            smooth<<<grid, block>>>(WIDTH, WIDTH, x, y);
            std::swap(x, y);
        };
    } else {
        printf("usage: bench_more_gpus launch|wait|read|beside|stencil [ROUNDS OF A KERNEL [SECONDS]]\n");
        return 2;
    }
    const char *devices = getenv("KMM_DEVICES");
    double us = measure(step, seconds);
    printf("more_gpus %s %d devices=%s us=%.2f\n", what.c_str(), rounds, devices ? devices : "-", us);
    return 0;
}
