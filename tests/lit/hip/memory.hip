// What programs do with memory: pinned and pitched, in structs by value, from its middle, swapped, made in other files, wrongly used.
// RUN: rm -rf %t && mkdir %t
// RUN: %kmmcc --target=host %san -O1 %s %S/Inputs/memory_helper.cpp -o %t/cpu
// RUN: env KMM_DEVICES=host:2 %t/cpu | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=64K %t/cpu | FileCheck %s
// RUN: %kmmcc --target=host %san -O1 -fno-kmm %s %S/Inputs/memory_helper.cpp -o %t/plain && %t/plain | FileCheck %s
// RUN: %if hipcc && !san %{ %kmmcc --target=hip --offload-arch=gfx90a -O1 %s -c -o %t/memory.o %}
// RUN: %if hipcc && !san %{ %kmmcc --target=hip --offload-arch=gfx90a -O1 -c %S/Inputs/memory_helper.cpp -o %t/helper.o %}
// RUN: %if hipcc && !san %{ %kmmcc --target=hip --offload-arch=gfx90a %t/memory.o %t/helper.o -o %t/amd %}
// RUN: %if hipcc && !san %{ %kmm_source/tests/hip/make_kernels %kmmcc %kmm_source %s %t/kernels.so add,add_parts,add_rows %}
// RUN: %if hipcc && !san %{ env KMM_DEVICES=hip LD_LIBRARY_PATH=%kmm_build/tests/fake/hip5 KMM_FAKE_KERNELS=%t/kernels.so %t/amd | FileCheck %s %}
#include <hip/hip_runtime.h>

#include <cstdio>
#include <utility>

#include "Inputs/memory_helper.h"

enum { N = 10000, W = 100, H = 50 };

__global__ void add(int n, int *to, const int *from, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] + by;
}

__global__ void add_parts(parts p, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.inner.n)
        p.inner.to[i] = p.from[i] + by;
}

__global__ void add_rows(int w, int h, size_t pitch, char *plane, int by)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < w && y < h)
        ((int *)(plane + y * pitch))[x] += by;
}

static int host[N];

static void say(const char *what, const int *device, int n, int first, int step)
{
    int wrong = 0;
    hipMemcpy(host, device, n * sizeof(int), hipMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        wrong += host[i] != first + step * i;
    std::printf("%s: %d wrong\n", what, wrong);
}

static void pinned()
{
    int *p, *d = make_array(N, 0);
    hipHostMalloc((void **)&p, N * sizeof(int), 0);
    for (int i = 0; i < N; i++)
        p[i] = i;
    hipMemcpyAsync(d, p, N * sizeof(int), hipMemcpyHostToDevice, 0);
    add<<<(N + 255) / 256, 256>>>(N, d, d, 5);
    hipMemcpyAsync(p, d, N * sizeof(int), hipMemcpyDeviceToHost, 0);
    hipDeviceSynchronize();
    std::printf("pinned: %d %d\n", p[0], p[N - 1]);
    hipHostFree(p);
    hipFree(d);
}

static void planes()
{
    static int rows[H * W], back[H * W], row = W * sizeof(int);
    char *plane;
    size_t pitch;
    int wrong = 0;
    hipMallocPitch((void **)&plane, &pitch, W * sizeof(int), H);
    for (int k = 0; k < W * H; k++)
        rows[k] = k;
    hipMemcpy2D(plane, pitch, rows, row, row, H, hipMemcpyHostToDevice);
    add_rows<<<dim3(1, H), 128>>>(W, H, pitch, plane, 3);
    hipMemcpy2D(back, row, plane, pitch, row, H, hipMemcpyDeviceToHost);
    for (int k = 0; k < W * H; k++)
        wrong += back[k] != k + 3;
    hipMemset2D(plane, pitch, 0, W * sizeof(int), H - 1);
    hipMemcpy2D(back, row, plane, pitch, row, H, hipMemcpyDeviceToHost);
    for (int k = 0; k < W * H; k++)
        wrong += back[k] != (k < W * (H - 1) ? 0 : k + 3);
    std::printf("plane: %d wrong\n", wrong);
    hipFree(plane);
}

static void structs()
{
    parts p = make_parts(N);
    add_parts<<<(N + 255) / 256, 256>>>(p, 7);
    say("struct without a pragma", p.inner.to, N, 7, 0);
    #pragma kmm parallel(i = 0:N) chunk(N / 4) read(p.from[i]) write(p.inner.to[i])
    add_parts<<<(N + 255) / 256, 256>>>(p, 8);
    say("struct in chunks", p.inner.to, N, 8, 0);
    int *middle = middle_of(p);
    hipMemset(middle, 0, N / 4 * sizeof(int));
    #pragma kmm parallel(i = 0:N / 2) chunk(N / 8) update(middle[i])
    add<<<(N / 2 + 255) / 256, 256>>>(N / 2, middle, middle, 1);
    say("in front of the middle", p.inner.to, N / 2, 8, 0);
    say("the middle", middle, N / 4, 1, 0);
    say("behind it", middle + N / 4, N / 4, 9, 0);
    hipFree(p.from);
    hipFree(p.inner.to);
}

static void buffers()
{
    int *from = make_array(N, 0), *to = make_array(N, 0);
    for (int step = 0; step < 6; step++, std::swap(from, to)) {
        #pragma kmm parallel(i = 0:N) chunk(N / 5) read(from[i]) write(to[i])
        add<<<(N + 255) / 256, 256>>>(N, to, from, step);
        if (step == 3) {
            std::swap(from, to);
            add<<<(N + 255) / 256, 256>>>(N, to, from, 100);
        }
    }
    say("swapped", from, N, 115, 0);
    hipFree(from);
    hipFree(to);
}

static void codes()
{
    int *d = make_array(N, 0), *none = nullptr;
    std::printf("free nothing: %d\n", hipFree(nullptr));
    std::printf("too much: %d\n", hipMalloc((void **)&none, (size_t)1 << 52));
    int first = hipGetLastError(), second = hipGetLastError();
    std::printf("seen: %d, then %d\n", first, second);
    add<<<0, 256>>>(N, d, d, 1);
    first = hipGetLastError(), second = hipGetLastError();
    std::printf("no blocks: %d, then %d\n", first != hipSuccess, second);
    std::printf("unharmed: %d\n", hipDeviceSynchronize());
    hipFree(d);
}

int main()
{
    pinned();  // CHECK: pinned: 5 10004
    planes();  // CHECK-NEXT: plane: 0 wrong
    structs(); // CHECK-NEXT: struct without a pragma: 0 wrong
               // CHECK-NEXT: struct in chunks: 0 wrong
               // CHECK-NEXT: in front of the middle: 0 wrong
               // CHECK-NEXT: the middle: 0 wrong
               // CHECK-NEXT: behind it: 0 wrong
    buffers(); // CHECK-NEXT: swapped: 0 wrong
    codes();   // CHECK-NEXT: free nothing: 0
               // CHECK-NEXT: too much: 2
               // CHECK-NEXT: seen: 2, then 0
               // CHECK-NEXT: no blocks: 1, then 0
               // CHECK-NEXT: unharmed: 0
    return 0;
}
