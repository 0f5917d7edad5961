// SPDX-License-Identifier: Apache-2.0
// Waves in a pond with a floor of uneven depth, in HIP. Each step computes the next heights of the
// water from the last two; every few steps the energy of the water is added up. The program is an
// ordinary one for hipcc and one AMD GPU, but for the lines with pragmas: with kmmcc it runs on
// all GPUs of a machine, on a pond larger than their memory, and with --target=host on the CPU.
// It has not run on AMD hardware.
#include <hip/hip_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        hipError_t status = (call);                                                                \
        if (status != hipSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { THREADS = 128, STEPS_OF_A_SUM = 5 };

// next = 2 now - last + depth times (the four neighbours - 4 now); the shore does not move.
__global__ void wave(int w, int h, const float *depth, const float *last, const float *now,
                     float *next)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w)
        return;
    int at = y * w + x;
    float height = 0;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        float around = (now[at - 1] + now[at + 1]) + (now[at - w] + now[at + w]);
        height = 2 * now[at] - last[at] + depth[at] * (around - 4 * now[at]);
    }
    next[at] = height;
}

// energy[0] += the squared speeds of all cells. A block adds its own in shared memory first.
__global__ void add_energy(int n, const float *last, const float *now, double *energy)
{
    __shared__ double shared[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    double speed = i < n ? (double)now[i] - last[i] : 0;
    shared[t] = speed * speed;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (t < width)
            shared[t] += shared[t + width];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(&energy[0], shared[0]);
}

static double energy_on_device(int n, const float *last, const float *now, double *sum)
{
    double energy;
    CHECK(hipMemset(sum, 0, sizeof(double)));
    #pragma kmm parallel(i = 0:n) chunk(n / 6) read(last[i], now[i]) reduce(+: sum[0])
    add_energy<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, last, now, sum);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(&energy, sum, sizeof(double), hipMemcpyDeviceToHost));
    return energy;
}

// Moves the water by `steps`; `cells` are its heights. Returns the energy at last.
static double run_on_device(int w, int h, int steps, const float *ground, float *cells)
{
    size_t bytes = (size_t)w * h * sizeof(float);
    float *depth, *last, *now, *next;
    double *sum, energy = 0;
    for (float **each : {&depth, &last, &now, &next})
        CHECK(hipMalloc(each, bytes));
    CHECK(hipMalloc(&sum, sizeof(double)));
    CHECK(hipMemcpy(depth, ground, bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(last, cells, bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(now, last, bytes, hipMemcpyDeviceToDevice));
    for (int step = 1; step <= steps; step++) {
        #pragma kmm parallel(x = 0:w, y = 0:h) chunk(w, h / 8 + 1) \
                    shape(depth[h][w], last[h][w], now[h][w], next[h][w]) \
                    read(depth[y][x], last[y][x], now[y-1:3][x-1:3]) write(next[y][x])
        hipLaunchKernelGGL(wave, dim3((w + THREADS - 1) / THREADS, h), dim3(THREADS), 0, 0, w, h,
                           depth, last, now, next);
        CHECK(hipGetLastError());
        float *oldest = last;
        last = now;
        now = next;
        next = oldest;
        if (step % STEPS_OF_A_SUM == 0 || step == steps)
            energy = energy_on_device(w * h, last, now, sum);
    }
    CHECK(hipMemcpy(cells, now, bytes, hipMemcpyDeviceToHost));
    for (float *each : {depth, last, now, next})
        CHECK(hipFree(each));
    CHECK(hipFree(sum));
    return energy;
}

// The same on the CPU, in double.
static double run_on_host(int w, int h, int steps, const float *depth, double *now)
{
    size_t n = (size_t)w * h;
    double *last = (double *)malloc(n * sizeof(double)), *next = last, energy = 0;
    double *oldest = (double *)malloc(n * sizeof(double));
    memcpy(last, now, n * sizeof(double));
    memcpy(oldest, now, n * sizeof(double));
    for (int step = 0; step < steps; step++) {
        memset(next, 0, n * sizeof(double));
        energy = 0;
        for (int y = 1; y < h - 1; y++)
            for (int x = 1; x < w - 1; x++) {
                size_t at = (size_t)y * w + x;
                double around = (now[at - 1] + now[at + 1]) + (now[at - w] + now[at + w]);
                next[at] = 2 * now[at] - oldest[at] + depth[at] * (around - 4 * now[at]);
            }
        for (size_t i = 0; i < n; i++)
            energy += (next[i] - now[i]) * (next[i] - now[i]);
        memcpy(oldest, now, n * sizeof(double));
        memcpy(now, next, n * sizeof(double));
    }
    free(last), free(oldest);
    return energy;
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 400, steps = argc > 2 ? atoi(argv[2]) : 20;
    if (argc > 3 || side < 1 || side > 30000 || steps < 0)
        return fprintf(stderr, "usage: hip [side of the pond, 1 to 30000] [steps]\n"), 2;
    size_t n = (size_t)side * side;
    float *depth = (float *)malloc(n * sizeof(float)), *cells = (float *)malloc(n * sizeof(float));
    double *expected = (double *)malloc(n * sizeof(double)), worst = 0;
    for (size_t i = 0; i < n; i++) {
        int x = (int)(i % side), y = (int)(i / side);
        float dx = x - side / 3.0f, dy = y - side / 2.0f;
        bool inner = x > 0 && y > 0 && x < side - 1 && y < side - 1;
        depth[i] = 0.1f + 0.3f * x / side;
        cells[i] = inner ? expf(-0.02f * (dx * dx + dy * dy)) : 0; // a drop has fallen
        expected[i] = cells[i];
    }
    double energy = run_on_device(side, side, steps, depth, cells);
    double right_energy = run_on_host(side, side, steps, depth, expected);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(cells[i] - expected[i]));
    bool right = worst < 1e-4 && fabs(energy - right_energy) <= 1e-4 * (1e-3 + right_energy);
    printf("hip: %d x %d cells, %d steps, energy %.4f: %s\n", side, side, steps, energy,
           right ? "ok" : "FAILED");
    free(depth), free(cells), free(expected);
    return !right;
}
