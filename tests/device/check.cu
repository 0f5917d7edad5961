// SPDX-License-Identifier: Apache-2.0
// Right and wrong launches for -fkmm-check: `device_check NAME` runs one. A right one prints "right". `check` runs them all.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <kmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 20, W = 1024, BINS = 64, CHUNK = N / 4, GRID = N / 256 };

#define I int i = blockIdx.x * blockDim.x + threadIdx.x

/* ---- Kernels ---- */

__global__ void copy(int n, float *x, const float *y) { I; if (i < n) x[i] = y[i]; }
__global__ void halo(int n, int *x, const int *y) { I; if (i < n) x[i] = y[i] + (i + 1 < n ? y[i + 1] : 0); }
__global__ void old(int n, int *x) { I; if (i < n) x[i] = x[i] * 3 + 1; }
__global__ void own(int n, int *x) { I; if (i < n) { x[i] = i; __threadfence(); x[i] = *(volatile int *)&x[i] + 1; } }
__global__ void spots(int n, int *x) { I; if (i < n && i % 7 != 3) x[i] = i; }
__global__ void bytes(int n, unsigned char *x, const unsigned char *y) { I; if (i < n) x[i] = y[i] + 1; }
__global__ void byte_spots(int n, unsigned char *x) { I; if (i < n && i % 7 != 3) x[i] = 1; }
__global__ void bins(int n, int *s, const int *y, int m) { I; if (i < n) atomicAdd(&s[y[i] % m], 1); }
__global__ void beyond(int n, int *x, long long far) { I; if (i < n) x[i + far] = i; }
__global__ void four(int n, float4 *x, const float4 *y) { I; if (i < n) { float4 v = y[i]; v.x += 1; x[i] = v; } }
__global__ void member(int n, double4 *v) { I; if (i < n) v[i].x = v[i].y = v[i].w = 1; }
__global__ void exchange(int n, int *x) { I; if (i < n) atomicCAS(&x[i], 1, 2); }
__global__ void halves(int n, __half2 *x) { I; if (i < n) atomicAdd(&x[i], __float2half2_rn(1)); }
__global__ void hidden_halves(int n, const __half2 *x) { I; if (i < n) atomicAdd((__half2 *)((size_t)x + 4 * (size_t)i), __float2half2_rn(1)); }
__global__ void hidden(int n, const int *x) { I; if (i < n) *(int *)((size_t)x + 4 * (size_t)i) = i; }
__global__ void tiles(float *to, const float *from, int width)
{
    int at = blockIdx.x * 32 + threadIdx.x + width * (blockIdx.y * 32 + threadIdx.y);
    for (int i = 0; i < 32; i += 16)
        to[at + i * width] = from[at + i * width];
}
__global__ void square(float *to, const float *from, int width) { I; int at = i + width * (blockIdx.y * blockDim.y + threadIdx.y); to[at] = from[at]; }
__device__ __noinline__ int nth(const int *y, int i) { return y[i] * 2; }
__device__ __noinline__ int other(const int *y, int i) { return y[i] * 3; }
__global__ void calls(int n, int *x, const int *y, int more) { I; if (i < n) x[i] = nth(y, i + more) - nth(y, i); }
typedef int chosen_t(const int *y, int i);
__device__ chosen_t *const choices[] = {nth, other};
__global__ void chooses(int n, int *x, const int *y, int which, int more) { I; if (i < n) x[i] = choices[which](y, i + more); }
__device__ __noinline__ int sum_to(const int *y, int i, int k) { return k ? y[i] + sum_to(y, i + 1, k - 1) : 0; }
__global__ void many(int n, int *x, const int *y, int k) { I; int v = 0; for (int j = 0; i < n && j < k; j++) v += y[(i + j) % n]; if (i < n) x[i] = v; }
__global__ void recurses(int n, int *x, const int *y, int k) { I; if (i + k <= n) x[i] = sum_to(y, i, k); else if (i < n) x[i] = k; }
extern "C" __global__ void in_c(int n, int *x, const int *y, int more) { I; if (i < n) x[i] = y[i + more]; }
template <class T> __global__ void of_type(int n, T *x, const T *y, int more) { I; if (i < n) x[i] = y[i + more] + T(1); }
__global__ void staged(int n, int *x, const int *y, int more)
{
    __shared__ int part[256];
    I;
    __pipeline_memcpy_async(&part[threadIdx.x], &y[i + more], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (i < n)
        x[i] = part[255 - threadIdx.x];
}
__global__ void guarded(int n, int *x, const int *y, int limit)
{
    I;
    int v = 0;
    asm volatile("{\n.reg .pred p;\nsetp.lt.s32 p, %1, %2;\n@p ld.global.s32 %0, [%3];\n}" : "+r"(v) : "r"(i), "r"(limit), "l"(y + i));
    if (i < n)
        x[i] = v;
}
struct pair { int *to; const int *from; };
__global__ void paired(int n, pair p, int more) { I; if (i < n) p.to[i] = p.from[i + more]; }
__device__ int *elsewhere;
__global__ void strays(int n, int *x) { I; if (i < n) x[i] = elsewhere[i]; }
__device__ int table[256];
__global__ void looks_up(int n, int *x) { I; if (i < n) x[i] = table[i & 255] + i; }
__global__ void sums(int n, int *s, const int *y)
{
    __shared__ int part[256];
    I;
    part[threadIdx.x] = i < n ? y[i] : 0;
    __syncthreads();
    for (int k = 128; k; k /= 2) {
        if (threadIdx.x < k)
            part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(s, part[0]);
}
__global__ void says(int n, int *x) { I; if (i < n) x[i] = i; if (i == 5) printf("said %d\n", i); }
__global__ void strided(int n, int *x, const int *y, int k) { I; if (i < n) x[i] = y[i * k]; }
__global__ void marks_all(int n, int *x, const int *y) { I; if (i < n && y[i] > 1000) x[i] = 1; }

/* ---- Launches ---- */

static int *x, *y, *s, *host;
static float *a, *b;
static double4 *d;
static int wrong;

static void fetch(const void *from, size_t size)
{
    if (cudaMemcpy(host, from, size, cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong = 1;
}

#define EXPECT(from, what) do { fetch(from, N * 4); for (int i = 0; i < N; i++) wrong |= host[i] != (what); } while (0)
#define IS(name) (!strcmp(which, name))

static void right(const char *which)
{
    float *fx = (float *)x, *fy = (float *)y;
    if (IS("copy")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(fy[i]) write(fx[i])
        copy<<<GRID, 256>>>(N, fx, fy);
        EXPECT(x, i % 100);
    } else if (IS("one_chunk")) {
#pragma kmm parallel(i = 0:N) chunk(N) read(fy[i]) write(fx[i])
        copy<<<GRID, 256>>>(N, fx, fy);
        EXPECT(x, i % 100);
    } else if (IS("halo")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i:2]) write(x[i])
        halo<<<GRID, 256>>>(N, x, y);
        EXPECT(x, i % 100 + (i + 1 < N ? (i + 1) % 100 : 0));
    } else if (IS("update")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) update(y[i])
        old<<<GRID, 256>>>(N, y);
        EXPECT(y, i % 100 * 3 + 1);
    } else if (IS("own")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        own<<<GRID, 256>>>(N, x);
        EXPECT(x, i + 1);
    } else if (IS("spots")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) update(x[i])
        spots<<<GRID, 256>>>(N, x);
        EXPECT(x, i % 7 != 3 ? i : 1);
    } else if (IS("bytes")) {
        unsigned char *to = (unsigned char *)x, *from = (unsigned char *)y;
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(from[i]) write(to[i])
        bytes<<<GRID, 256>>>(N, to, from);
        fetch(x, N);
        for (int i = 0; i < N; i++)
            wrong |= ((unsigned char *)host)[i] != 1 + (i % 4 ? 0 : i / 4 % 100);
    } else if (IS("bins")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) reduce(+: s[0:BINS])
        bins<<<GRID, 256>>>(N, s, y, BINS);
        fetch(s, BINS * 4);
        int total = 0;
        for (int i = 0; i < BINS; i++)
            total += host[i];
        wrong |= total != N;
    } else if (IS("four")) {
        float4 *v = (float4 *)a, *w = (float4 *)b;
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(w[i]) write(v[i])
        four<<<GRID, 256>>>(N, v, w);
        cudaDeviceSynchronize();
    } else if (IS("halves")) {
        __half2 *h = (__half2 *)x;
        cudaMemset(x, 0, N * 4);
#pragma kmm parallel(i = 0:N) chunk(CHUNK) update(h[i])
        halves<<<GRID, 256>>>(N, h);
        cudaDeviceSynchronize();
    } else if (IS("exchange")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) update(x[i])
        exchange<<<GRID, 256>>>(N, x);
        EXPECT(x, 2);
    } else if (IS("square")) {
#pragma kmm parallel(x: global.x, y: global.y) chunk(W / 2, W / 4) shape(a[W][W], b[W][W]) read(b[y][x]) write(a[y][x])
        square<<<dim3(W / 32, W / 16), dim3(32, 16)>>>(a, b, W);
        cudaDeviceSynchronize();
    } else if (IS("vectors_end")) {
        float4 *v = (float4 *)a;
#pragma kmm parallel(i = 0:N - 1) chunk(CHUNK) read(b[4 * i + 4:4]) write(v[i])
        four<<<GRID, 256>>>(N - 1, v, (const float4 *)b + 1);
        cudaDeviceSynchronize();
    } else if (IS("calls")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        calls<<<GRID, 256>>>(N, x, y, 0);
        EXPECT(x, 0);
    } else if (IS("chooses")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        chooses<<<GRID, 256>>>(N, x, y, 1, 0);
        EXPECT(x, i % 100 * 3);
    } else if (IS("recurses")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i:5]) write(x[i])
        recurses<<<GRID, 256>>>(N, x, y, 5);
        cudaDeviceSynchronize();
    } else if (IS("in_c")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        in_c<<<GRID, 256>>>(N, x, y, 0);
        EXPECT(x, i % 100);
    } else if (IS("of_type")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        of_type<int><<<GRID, 256>>>(N, x, y, 0);
        EXPECT(x, i % 100 + 1);
    } else if (IS("staged")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        staged<<<GRID, 256>>>(N, x, y, 0);
        cudaDeviceSynchronize();
    } else if (IS("guarded")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        guarded<<<GRID, 256>>>(N, x, y, N / 2);
        EXPECT(x, i < N / 2 ? i % 100 : 0);
    } else if (IS("paired")) {
        pair p = {x, y};
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        paired<<<GRID, 256>>>(N, p, 0);
        EXPECT(x, i % 100);
    } else if (IS("looks_up")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        looks_up<<<GRID, 256>>>(N, x);
        EXPECT(x, i);
    } else if (IS("sums")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) reduce(+: s[0:1])
        sums<<<GRID, 256>>>(N, s, y);
        cudaDeviceSynchronize();
    } else if (IS("says")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        says<<<GRID, 256>>>(N, x);
        EXPECT(x, i);
    } else {
        printf("no such test: %s\n", which);
        exit(2);
    }
}

static void wrong_one(const char *which)
{
    float *fx = (float *)x, *fy = (float *)y;
    if (IS("short")) {
#pragma kmm parallel(i = 0:N / 2) chunk(CHUNK / 2) read(fy[i]) write(fx[i])
        copy<<<GRID, 256>>>(N, fx, fy);
    } else if (IS("halo")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        halo<<<GRID, 256>>>(N, x, y);
    } else if (IS("stores_to_read")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(x[i])
        hidden<<<GRID, 256>>>(N, x);
    } else if (IS("old")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        old<<<GRID, 256>>>(N, x);
    } else if (IS("old_exchange")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        exchange<<<GRID, 256>>>(N, x);
    } else if (IS("left_out")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        spots<<<GRID, 256>>>(N, x);
    } else if (IS("left_out_bytes")) {
        unsigned char *to = (unsigned char *)x;
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(to[i])
        byte_spots<<<GRID, 256>>>(N, to);
    } else if (IS("left_out_all")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        marks_all<<<GRID, 256>>>(N, x, y);
    } else if (IS("overrun")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) reduce(+: s[0:8])
        bins<<<GRID, 256>>>(N, s, y, BINS);
    } else if (IS("beyond")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        beyond<<<GRID, 256>>>(N, x, 1000);
    } else if (IS("far_beyond")) { /* in the address space that is free beside the copy */
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        beyond<<<GRID, 256>>>(N, x, -(1 << 20));
    } else if (IS("four")) {
        float4 *v = (float4 *)a;
        const float4 *w = (const float4 *)(b + 2);
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(b[4 * i:4]) write(v[i])
        four<<<GRID, 256>>>(N, v, (const float4 *)b + 1);
        (void)w;
    } else if (IS("member")) {
#pragma kmm parallel(i = 0:N / 4) chunk(N / 16) write(d[i])
        member<<<GRID / 4, 256>>>(N / 4, d);
    } else if (IS("halves")) {
        __half2 *h = (__half2 *)x;
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(h[i])
        hidden_halves<<<GRID, 256>>>(N, h);
    } else if (IS("tiles")) {
#pragma kmm parallel(x: global.x, y: global.y) chunk(W, W / 8) shape(a[W][W], b[W][W]) read(b[y][x]) update(a[y][x])
        tiles<<<dim3(W / 32, W / 32), dim3(32, 16)>>>(a, b, W);
    } else if (IS("calls")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        calls<<<GRID, 256>>>(N, x, y, 1);
    } else if (IS("chooses")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        chooses<<<GRID, 256>>>(N, x, y, 0, 1);
    } else if (IS("recurses")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i:4]) write(x[i])
        recurses<<<GRID, 256>>>(N, x, y, 5);
    } else if (IS("in_c")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        in_c<<<GRID, 256>>>(N, x, y, -1);
    } else if (IS("of_type")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        of_type<int><<<GRID, 256>>>(N, x, y, 3);
    } else if (IS("staged")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        staged<<<GRID, 256>>>(N, x, y, 1);
    } else if (IS("guarded")) {
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[0:N / 2]) write(x[i])
        guarded<<<GRID, 256>>>(N, x, y, N / 2 + 10);
    } else if (IS("paired")) {
        pair p = {x, y};
#pragma kmm parallel(i = 0:N) chunk(CHUNK) read(y[i]) write(x[i])
        paired<<<GRID, 256>>>(N, p, 1);
    } else if (IS("strays")) {
        cudaMemcpyToSymbol(elsewhere, &y, sizeof y);
#pragma kmm parallel(i = 0:N) chunk(CHUNK) write(x[i])
        strays<<<GRID, 256>>>(N, x);
    } else if (IS("strided")) {
#pragma kmm parallel(i = 0:N / 2) chunk(N / 8) read(y[i]) write(x[i])
        strided<<<GRID / 2, 256>>>(N / 2, x, y, 2);
    } else {
        printf("no such test: %s\n", which);
        exit(2);
    }
    cudaDeviceSynchronize();
}

/* Milliseconds of a stencil over 256 MiB, and of a kernel that computes more. */
static void take_time(void)
{
    enum { MANY = 1 << 26 };
    int *to, *from;
    cudaMalloc(&to, MANY * 4ll), cudaMalloc(&from, MANY * 4ll), cudaMemset(from, 0, MANY * 4ll), cudaMemset(to, 0, MANY * 4ll);
    for (int k = 0; k < 3; k++) {
        struct timespec begin, middle, end;
        cudaDeviceSynchronize();
        clock_gettime(CLOCK_MONOTONIC, &begin);
#pragma kmm parallel(i = 0:MANY) chunk(MANY / 4) read(from[i:2]) write(to[i])
        halo<<<MANY / 256, 256>>>(MANY, to, from);
        cudaDeviceSynchronize();
        clock_gettime(CLOCK_MONOTONIC, &middle);
#pragma kmm parallel(i = 0:MANY) chunk(MANY / 4) read(from[0:MANY]) write(to[i])
        many<<<MANY / 256, 256>>>(MANY, to, from, 200);
        cudaDeviceSynchronize();
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("%.1f ms, %.1f ms\n", (middle.tv_sec - begin.tv_sec) * 1e3 + (middle.tv_nsec - begin.tv_nsec) * 1e-6,
               (end.tv_sec - middle.tv_sec) * 1e3 + (end.tv_nsec - middle.tv_nsec) * 1e-6);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "time"))
        return take_time(), 0;
    if (argc != 3)
        return 2;
    host = (int *)malloc(4 * N * 4);
    cudaMalloc(&x, N * 4), cudaMalloc(&y, N * 4), cudaMalloc(&s, BINS * 4);
    cudaMalloc(&a, N * 16), cudaMalloc(&b, N * 16), cudaMalloc(&d, N / 4 * sizeof *d);
    for (int i = 0; i < N; i++)
        host[i] = 1;
    cudaMemcpy(x, host, N * 4, cudaMemcpyHostToDevice);
    for (int i = 0; i < N; i++)
        host[i] = i % 100;
    cudaMemcpy(y, host, N * 4, cudaMemcpyHostToDevice);
    cudaMemset(s, 0, BINS * 4), cudaMemset(a, 0, N * 16), cudaMemset(b, 0, N * 16), cudaMemset(d, 0, N / 4 * sizeof *d);
    if (!strcmp(argv[1], "right"))
        right(argv[2]);
    else
        wrong_one(argv[2]);
    cudaError_t error = cudaGetLastError();
    printf("%s: %s\n", wrong || error ? "not right" : "right", cudaGetErrorString(error));
    return wrong;
}
