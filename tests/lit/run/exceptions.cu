// Exceptions in source for GPUs: out of chunks of plain functions, and out of the arguments of a launch.
// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.expected
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff %t.expected -
// RUN: %kmmcc --target=host %san -O1 -w -DNO_WAIT %s -o %t && env KMM_DEVICES=host %not %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %not %t 2>&1 | FileCheck %s
// RUN: %kmmcc --target=host --emit-source -w %s | FileCheck %s --check-prefix=EMIT
// RUN: %kmmcc --target=host --emit-source -std=c++14 -w %s | FileCheck %s --check-prefix=EMIT
// CHECK: exceptions.cu:[[#]]: check: the chunk at 0 threw, and nothing waited for it: 77
// EMIT-LABEL: static void no_calls{{[(]}}
// EMIT: kmm_launch_arm{{[(]}}kmm__launch);
// EMIT-LABEL: constexpr int constant{{[(]}}
// EMIT: kmm_launch_arm{{[(]}}kmm__launch);
// EMIT-LABEL: static void in_arguments{{[(]}}
// EMIT: const kmm_armed_scope kmm__armed{{[(]}}kmm__launch);
#include <cuda_runtime.h>
#include <unistd.h>
#include <cstdio>
#include <stdexcept>
#include <string>

enum { N = 1000 };
static void check(int n, float *p)
{
    if (p[0] < 100)
        usleep(20000); // the first chunk throws last
    for (int i = 0; i < n; i++)
        if (int(p[i]) % 100 == 77)
            throw std::runtime_error(std::to_string(int(p[i])));
}

static void late(int n, float *p)
{
    usleep(10000);
    if (p[n - 1] == N - 1)
        throw std::runtime_error("late");
}

__global__ void set(int n, float *x, float v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = v; }
__global__ void add(int n, float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }
static float value(int v) { if (v == 3) throw v; return v; }

static void no_calls(float *x, float *y)
{
#pragma kmm parallel(i = 0:N) chunk(256) write(x[i])
    set<<<dim3((N + 63) / 64), 64>>>(N, x, 4);
    add<<<(N + 63) / 64, 64>>>(N, x, y);
}

// What may not throw needs no object, which a constexpr function could not have.
constexpr int constant(int n, float *x, float *y)
{
    if (x)
#pragma kmm parallel(i = 0:N) chunk(256) update(y[i])
        add<<<dim3((N + 63) / 64), 64>>>(N, x, y);
    return 2 * n;
}
static_assert(constant(4, nullptr, nullptr) == 8, "");

// The launch does not happen, so the next one has no description.
static void in_arguments(float *x, float *y)
{
    for (int v = 0; v < 5; v++)
        try {
#pragma kmm parallel(i = 0:N) chunk(256) write(x[i])
            set<<<(N + 63) / 64, 64>>>(N, x, value(v));
        } catch (int e) {
            std::printf("argument %d\n", e);
            add<<<(N + 63) / 64, 64>>>(N, x, y);
        }
}

int main()
{
    static float h[N];
    float *x, *y;
    for (int i = 0; i < N; i++)
        h[i] = float(i);
#ifdef NO_WAIT
#pragma kmm enter data map(tofrom: h[0:N])
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) read(h[i]) nowait
    check(N, h);
    return 0;
#endif
    try {
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) read(h[i])
        check(N, h);
#pragma kmm wait
        std::puts("not thrown");
    } catch (const std::exception &e) {
        std::printf("chunk %s\n", e.what());
    }
    try {
#pragma kmm data map(tofrom: h[0:N])
        {
#pragma kmm parallel(i = 0:N) chunk(N / 2) rebase(n: i) read(h[i])
            late(N, h);
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) read(h[i])
            check(N, h);
        }
    } catch (const std::exception &e) {
        std::printf("launches %s\n", e.what());
    }
    cudaMalloc(&x, sizeof(h));
    cudaMalloc(&y, sizeof(h));
    cudaMemset(y, 0, sizeof(h));
    in_arguments(x, y);
    cudaMemcpy(h, y, sizeof(h), cudaMemcpyDeviceToHost);
    std::printf("%g %g %s\n", h[0], h[N - 1], cudaGetErrorString(cudaGetLastError()));
    no_calls(x, y);
    cudaMemcpy(h, y, sizeof(h), cudaMemcpyDeviceToHost);
    std::printf("%g %g\n", h[0], h[N - 1]);
    constant(2, y, x);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    std::printf("%g %g\n", h[0], h[N - 1]);
    return 0;
}
