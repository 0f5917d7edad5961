// SPDX-License-Identifier: Apache-2.0
// What calls cost in a program whose data fits: one file, built by nvcc, by kmmcc, and by kmmcc with
// its pragmas (-DPRAGMAS). Each row is the median of ROUNDS turns, in microseconds.
#include "timed.h"

#include <algorithm>
#include <functional>
#include <vector>

enum { ROUNDS = 9, THREADS = 256 };

__global__ void scale1(int n, float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = a[i] * 0.5f + 1;
}

__global__ void sum4(int n, float *a, const float *b, const float *c, const float *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + c[i] + d[i];
}

__global__ void axpy(int n, float f, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += f * x[i];
}

__global__ void dot(int n, const float *x, const float *y, float *out)
{
    __shared__ float part[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] * y[i] : 0;
    __syncthreads();
    for (int k = THREADS / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}

__global__ void spin(long long cycles)
{
    for (long long begin = clock64(); clock64() - begin < cycles;)
        ;
}

static void row(const char *name, int times, const std::function<void()> &turn)
{
    std::vector<double> us;
    turn();
    must(cudaDeviceSynchronize(), name);
    for (int k = 0; k < ROUNDS; k++) {
        double begin = now_us();
        turn();
        must(cudaDeviceSynchronize(), name);
        us.push_back((now_us() - begin) / times);
    }
    std::sort(us.begin(), us.end());
    printf("%-44s %10.2f us\n", name, us[ROUNDS / 2]);
    fflush(stdout);
}

static void launch1(int n, float *a)
{
#ifdef PRAGMAS
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(a[i])
#endif
    scale1<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, a);
}

static void launch4(int n, float *a, const float *b, const float *c, const float *d)
{
#ifdef PRAGMAS
    #pragma kmm parallel(i = 0:n) chunk(n / 4) write(a[i]) read(b[i], c[i], d[i])
#endif
    sum4<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, a, b, c, d);
}

static void launch_axpy(int n, float f, const float *x, float *y)
{
#ifdef PRAGMAS
    #pragma kmm parallel(i = 0:n) chunk(n / 4) read(x[i]) update(y[i])
#endif
    axpy<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, f, x, y);
}

static void launch_dot(int n, const float *x, const float *y, float *out)
{
#ifdef PRAGMAS
    #pragma kmm parallel(i = 0:n) chunk(n / 4) read(x[i], y[i]) reduce(+: out[0])
#endif
    dot<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, x, y, out);
}

int main()
{
    const int small = 1 << 12, large = 1 << 20, times = 500;
    float *a, *b, *c, *d, *out;
    float got = 0, *pinned;
    cudaStream_t s[8], s1, s2;
    cudaEvent_t event;
    for (float **p : {&a, &b, &c, &d})
        must(cudaMalloc(p, large * sizeof(float)), "cudaMalloc");
    must(cudaMalloc(&out, 4096), "cudaMalloc");
    must(cudaMallocHost(&pinned, 4096), "cudaMallocHost");
    for (float *p : {a, b, c, d})
        must(cudaMemset(p, 0, large * sizeof(float)), "cudaMemset");
    must(cudaMemset(out, 0, 4096), "cudaMemset");
    for (auto &each : s)
        must(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking), "cudaStreamCreate");
    must(cudaStreamCreate(&s1), "cudaStreamCreate");
    must(cudaStreamCreate(&s2), "cudaStreamCreate");
    must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");

    row("launch, 1 array", times, [&] {
        for (int k = 0; k < times; k++)
            launch1(small, a);
    });
    row("launch, 4 arrays", times, [&] {
        for (int k = 0; k < times; k++)
            launch4(small, a, b, c, d);
    });
    row("launch + cudaDeviceSynchronize", times, [&] {
        for (int k = 0; k < times; k++) {
            launch1(small, a);
            cudaDeviceSynchronize();
        }
    });
    row("launch + cudaMemcpy of 4 bytes back", times, [&] {
        for (int k = 0; k < times; k++) {
            launch1(small, a);
            cudaMemcpy(&got, a, 4, cudaMemcpyDeviceToHost);
        }
    });
    row("launch + async copy of 4 bytes + sync", times, [&] {
        for (int k = 0; k < times; k++) {
            launch1(small, a);
            cudaMemcpyAsync(pinned, a, 4, cudaMemcpyDeviceToHost, 0);
            cudaStreamSynchronize(0);
        }
    });
    row("cudaMemset of 4 KiB + launch", times, [&] {
        for (int k = 0; k < times; k++) {
            cudaMemset(out, 0, 4096);
            launch1(small, a);
        }
    });
    row("copy of 4 KiB in", times, [&] {
        for (int k = 0; k < times; k++)
            cudaMemcpy(out, pinned, 4096, cudaMemcpyHostToDevice);
    });
    row("record + wait + launch on two streams", times, [&] {
        for (int k = 0; k < times; k++) {
            cudaEventRecord(event, k % 2 ? s1 : s2);
            cudaStreamWaitEvent(k % 2 ? s2 : s1, event, 0);
            scale1<<<small / THREADS, THREADS, 0, k % 2 ? s2 : s1>>>(small, a);
        }
    });
    int clock_khz = 0;
    must(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0), "clock");
    row("8 streams, a kernel of 0.5 ms on each", 1, [&] {
        for (auto &each : s)
            spin<<<8, THREADS, 0, each>>>((long long)clock_khz / 2);
    });
    for (size_t mib : {1, 256})
        row(mib == 1 ? "cudaMalloc + launch + cudaFree of 1 MiB" : "cudaMalloc + launch + cudaFree of 256 MiB",
            50, [&] {
                for (int k = 0; k < 50; k++) {
                    float *p;
                    must(cudaMalloc(&p, mib << 20), "cudaMalloc");
                    scale1<<<small / THREADS, THREADS>>>(small, p);
                    cudaFree(p);
                }
            });
    // First pass over arrays that cudaMemset has made.
    const size_t giga = (size_t)1 << 28;
    float *x, *y, *z;
    double begin = 0, first = 0;
    for (float **p : {&x, &y, &z})
        must(cudaMalloc(p, giga * 4), "cudaMalloc");
    for (float *p : {x, y, z})
        must(cudaMemset(p, 0, giga * 4), "cudaMemset");
    must(cudaDeviceSynchronize(), "sets");
    begin = now_us();
#ifdef PRAGMAS
    {
        int n = (int)giga;
        #pragma kmm parallel(i = 0:n) chunk(n / 4) write(x[i]) read(y[i], z[i])
        sum4<<<n / THREADS, THREADS>>>(n, x, y, z, z);
    }
#else
    sum4<<<(int)(giga / THREADS), THREADS>>>((int)giga, x, y, z, z);
#endif
    must(cudaDeviceSynchronize(), "pass");
    first = now_us() - begin;
    printf("%-44s %10.2f GB/s\n", "first pass over 3 arrays of 1 GiB", 3.0 * giga * 4 / first / 1e3);
    row("iteration as of conjugate gradients, 4 MiB", 100, [&] {
        for (int k = 0; k < 100; k++) {
            cudaMemset(out, 0, 4);
            launch_dot(large, a, b, out);
            cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
            launch_axpy(large, got * 1e-9f, a, b);
            launch_axpy(large, 1e-9f, b, c);
        }
    });
    return 0;
}
