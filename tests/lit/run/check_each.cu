// -fkmm-check: each load and store of a kernel's chunks on the CPU is compared with the clauses, also where what is wrong is a copy, a NaN or an
// integer. kmmcc refuses most of these while compiling; -fno-kmm-compare keeps it from that.
// RUN: %if !san %{ %kmmcc --target=host -fkmm-check -fno-kmm-compare -w %s -o %t %}
// gcc's warning of fences is off, since libkmm has them.
// RUN: %if !san %{ %kmmcc --target=host -fkmm-check -fno-kmm-compare -Werror -Wno-kmm-update -Wno-kmm-pointers -c %s -o %t.o %}
// RUN: %if !san %{ %not %t short 2>&1 | FileCheck --check-prefix=SHORT %s %}
// SHORT-DAG: copy: chunk [[#]] of 10: argument fy[i]: check_each.cu:[[#]]: the chunk reads element {{[0-9]+}} (and {{[0-9]+}} more), which no clause names for this chunk
// SHORT-DAG: copy: chunk [[#]] of 10: argument fx[i]: check_each.cu:[[#]]: the chunk stores to element {{[0-9]+}} (and {{[0-9]+}} more), which no clause names for this chunk
// RUN: %if !san %{ %not %t halo 2>&1 | FileCheck --check-prefix=HALO %s %}
// HALO: halo: chunk [[#]] of 10: argument y[i]: check_each.cu:[[#]]: the chunk reads element {{[0-9]+}}, which no clause names for this chunk; widen `read(y[i])` (it names elements {{[0-9]+}} to {{[0-9]+}}, 1 fewer at its upper end), or the range of its axis
// RUN: %if !san %{ %not %t old 2>&1 | FileCheck --check-prefix=OLD %s %}
// OLD: old: chunk [[#]] of 10: argument x[i]: check_each.cu:[[#]]: the chunk reads element {{[0-9]+}} (and {{[0-9]+}} more), which it has not stored before: `write` has no old values; say `update(x[i])`
// RUN: %if !san %{ %not %t overrun 2>&1 | FileCheck --check-prefix=BEYOND %s %}
// BEYOND: overrun: chunk [[#]] of 10: argument s[0:8]: check_each.cu:[[#]]: the chunk stores to element 8 (and {{[0-9]+}} more), which no clause names for this chunk; widen `reduce(... s[0:8])` (it names elements 0 to 7, 2040 fewer at its upper end)
// RUN: %if !san %{ %not %t tiles 2>&1 | FileCheck --check-prefix=TILES %s %}
// TILES-DAG: tiles: chunk [[#]] of 4: argument a[y][x]: check_each.cu:[[#]]: the chunk reads element [{{[0-9]+}}][{{[0-9]+}}] (and {{[0-9]+}} more), which no clause names for this chunk; widen `read(a[y][x])`, or the range of its axis
// TILES-DAG: tiles: chunk [[#]] of 4: argument b[y][x]: check_each.cu:[[#]]: the chunk stores to element [{{[0-9]+}}][{{[0-9]+}}] (and
// RUN: %if !san %{ %not %t member 2>&1 | FileCheck --check-prefix=MEMBER %s %}
// MEMBER: member: chunk [[#]] of 10: argument d[i]: `write` promises to store every element, but the chunk does not store element {{[0-9]+}} (and {{[0-9]+}} more); say `update(d[i])`
// What kmmcc does not compare while compiling: pointers in a lambda, an array of arguments, atomic operations through an array of pointers.
// RUN: %if !san %{ %not %t lambda 2>&1 | FileCheck --check-prefix=LAMBDA %s %}
// LAMBDA: each: chunk [[#]] of 10: argument y[i]: check_each.cu:[[#]]: the chunk reads element {{[0-9]+}}, which no clause names for this chunk
// RUN: %if !san %{ %not %t args 2>&1 | FileCheck --check-prefix=HALO %s %}
// RUN: %if !san %{ %not %t chosen 2>&1 | FileCheck --check-prefix=CHOSEN %s %}
// CHOSEN: chosen: chunk [[#]] of 10: argument s[0:1]: check_each.cu:[[#]]: the chunk stores to element 1 (and {{[0-9]+}} more), which no clause names for this chunk
// RUN: %if !san %{ %t right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=8M KMM_FRAME=64K KMM_JOIN=0 %t right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RIGHT-NOT: kmm:
// RIGHT: right 100000 100000 no error
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=8M KMM_FRAME=64K KMM_JOIN=0 %not %t short 2>&1 | FileCheck --check-prefix=SHORT %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=8M KMM_FRAME=64K KMM_JOIN=0 %not %t overrun 2>&1 | FileCheck --check-prefix=BEYOND %s %}
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
enum { N = 100000, W = 512 };
__global__ void copy(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i]; }
__global__ void fenced(int n, int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; __threadfence(); }
__global__ void halo(int n, int *x, const int *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i] + y[i + 1]; }
__global__ void old(int n, int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * 3 + 1; }
__global__ void overrun(int n, int *s, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&s[i % m], 1); }
template <class F> __global__ void each(int n, F f) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) f(i); }
__global__ void chosen(int n, int *s) { int i = blockIdx.x * blockDim.x + threadIdx.x, *of[2] = {s, s + 1}; if (i < n) atomicAdd(of[i & 1], 1); }
__global__ void tiles(float *to, const float *from, int width)
{
    int at = blockIdx.x * 32 + threadIdx.x + width * (blockIdx.y * 32 + threadIdx.y);
    for (int i = 0; i < 32; i += 16)
        to[at + i * width] = from[at + i * width];
}
__global__ void member(int n, double4 *v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) v[i].x = v[i].y = v[i].w = 1; }
__global__ void right(int n, int *x, const int *y, int *s)
{
    __shared__ int part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    part[t] = i < n ? y[i] : 0;
    if (i < n) x[i] = y[i] + (i + 1 < n ? y[i + 1] : 0) + (i ? y[i - 1] : 0) - 2;
    if (i < n) x[i] += part[t];
    __syncthreads();
    for (int k = 128; k; k /= 2) { if (t < k) part[t] += part[t + k]; __syncthreads(); }
    if (t == 0) atomicAdd(s, part[0]);
}
int main(int c, char **v)
{
    int *x, *y, *s, one[N + 1], total = 0, last = 0;
    double4 *d;
    const char *which = c > 1 ? v[1] : "";
    for (int i = 0; i <= N; i++) one[i] = 1;
    cudaMalloc(&x, sizeof one); cudaMalloc(&y, sizeof one); cudaMalloc(&s, 4096 * 4); cudaMalloc(&d, N * sizeof *d);
    cudaMemset(s, 0, 4096 * 4); cudaMemcpy(x, one, sizeof one, cudaMemcpyHostToDevice); cudaMemcpy(y, one, sizeof one, cudaMemcpyHostToDevice);
    float *fx = (float *)x, *fy = (float *)y;
    if (!strcmp(which, "short")) {
#pragma kmm parallel(i = 0:N / 2) chunk(N / 10) read(fy[i]) write(fx[i])
        copy<<<(N + 255) / 256, 256>>>(N, fx, fy);
    } else if (!strcmp(which, "halo")) {
#pragma kmm parallel(i = 0:N) chunk(N / 10) read(y[i]) write(x[i])
        halo<<<(N + 255) / 256, 256>>>(N, x, y);
    } else if (!strcmp(which, "old")) {
#pragma kmm parallel(i = 0:N) chunk(N / 10) write(x[i])
        old<<<(N + 255) / 256, 256>>>(N, x);
    } else if (!strcmp(which, "overrun")) {
#pragma kmm parallel(i = 0:N) chunk(N / 10) reduce(+: s[0:8])
        overrun<<<(N + 255) / 256, 256>>>(N, s, 2048);
    } else if (!strcmp(which, "lambda")) {
        auto f = [=] __device__ (int i) { x[i] = y[i] + y[i + 1]; };
#pragma kmm parallel(i = 0:N) chunk(N / 10) read(y[i]) write(x[i])
        each<<<(N + 255) / 256, 256>>>(N, f);
    } else if (!strcmp(which, "args")) {
        int n = N;
        void *args[] = {&n, &x, &y};
#pragma kmm parallel(i = 0:n) chunk(N / 10) read(y[i]) write(x[i])
        cudaLaunchKernel((const void *)halo, dim3((N + 255) / 256), dim3(256), args, 0, 0);
    } else if (!strcmp(which, "chosen")) {
#pragma kmm parallel(i = 0:N) chunk(N / 10) reduce(+: s[0:1])
        chosen<<<(N + 255) / 256, 256>>>(N, s);
    } else if (!strcmp(which, "tiles")) {
        float *a, *b;
        cudaMalloc(&a, W * W * 4); cudaMalloc(&b, W * W * 4); cudaMemset(a, 0, W * W * 4); cudaMemset(b, 0, W * W * 4);
#pragma kmm parallel(x: global.x, y: global.y) chunk(W, W / 8) shape(a[W][W], b[W][W]) read(a[y][x]) update(b[y][x])
        tiles<<<dim3(W / 32, W / 32), dim3(32, 16)>>>(b, a, W);
    } else if (!strcmp(which, "member")) {
#pragma kmm parallel(i = 0:N) chunk(N / 10) write(d[i])
        member<<<(N + 255) / 256, 256>>>(N, d);
    } else {
#pragma kmm parallel(i = 0:N) chunk(N / 10) read(y[i - 1:3]) write(x[i]) reduce(+: s[0:1])
        right<<<(N + 255) / 256, 256>>>(N, x, y, s);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(one, x, sizeof one, cudaMemcpyDeviceToHost); cudaMemcpy(&total, s, 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) last += one[i] - (i > 0 && i + 1 < N);
    printf("right %d %d %s\n", last, total, cudaGetErrorString(cudaGetLastError()));
}
