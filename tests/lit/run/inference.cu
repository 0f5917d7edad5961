// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// What is inferred of a kernel holds for the grid, the numbers and the scope of each launch.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define OFF 300
#define ONE_AND_ONE 1 + 1
const int SHIFT = 200;
enum { STEP = 3 };
namespace numbers { constexpr int SEVEN = 7; }
struct limits { static const int FIVE = 5; };
constexpr int twice(int x) { return 2 * x; }

struct pair { float a, b; __host__ __device__ pair &operator=(float v) { a = v; return *this; } };

__global__ void guarded(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i] + 1; }
__global__ void leaves(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; x[i] = y[i] + 2; }
__global__ void wide(unsigned n, float *x, const float *y) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i] + 3; }
__global__ void mixed(int n, float *x, const float *y) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i] + 4; }
__global__ void large(size_t n, float *x, const float *y) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) x[i] = y[i] + 5; }
__global__ void before_last(unsigned n, float *x, const float *y) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n - 1) x[i] = y[i] + 6; }
__global__ void everyone(float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = y[i] + 7; }
__global__ void reversed(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[n - 1 - i] = y[i] + 8; }
__global__ void strides(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[STEP * i] = y[2 * i + 1]; }
__global__ void several(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { x[2 * i] = y[i]; x[2 * i + 1] = -y[i]; } }
__global__ void some(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && y[i] > 500) x[i] = y[i]; }
__global__ void rows(int w, int h, int pitch, float *x, const float *y)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < w && r < h)
        x[r * pitch + c] = y[r * pitch + c] + 1;
}
__global__ void columns(int w, int h, float *x, const float *y)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= w || r >= h)
        return;
    x[c * h + r] = y[r * w + c];
}
__global__ void boxes(int w, int h, int d, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < w && j < h && k < d)
        x[(k * h + j) * w + i] += i + j + k;
}
__global__ void constants(int n, float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = y[i + OFF] + y[i + SHIFT] + y[i * ONE_AND_ONE] + y[i + numbers::SEVEN] + y[i + limits::FIVE] + y[i + twice(11)] + y[i + sizeof(double)];
}
template <int x> __global__ void hidden(int n, float *X, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) X[x * i] = y[i] + x; }
template <class T> __global__ void assigned(int n, T *x, float v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = v; }
__global__ void vectors(int n, float2 *x, const float2 *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = make_float2(y[i].y, y[i].x); }
__global__ void copies(int n, float4 *x, float4 *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { float4 v = y[i]; v.x += 1; x[i] = v; } }
__global__ void unused(int n, float *x, float *never, const float *nothing) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i; }

__global__ void shifted(int n, unsigned off, float *x, const float *y) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i + 5] = y[i + 5 + off]; }
__global__ void swaps(int n, float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float t = x[i]; x[i] = y[i]; y[i] = t; }
__global__ void two_bounds(int n, int m, float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; if (i >= m) return; x[i] = 1; y[i] = x[i] + 2; }

enum { N = 60000, ALL = 4 * N };
static float *X, *Y;
static void fill()
{
    static float h[ALL];
    for (int k = 0; k < ALL; k++)
        h[k] = k % 1013;
    cudaMemcpy(X, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemcpy(Y, h, sizeof(h), cudaMemcpyHostToDevice);
}
static void show(const char *name)
{
    static float h[ALL];
    double sum = 0;
    cudaMemcpy(h, X, sizeof(h), cudaMemcpyDeviceToHost);
    for (int k = 0; k < ALL; k++)
        sum += (k % 17 + 1) * h[k];
    printf("%s %.1f %s\n", name, sum, cudaGetErrorString(cudaGetLastError()));
    fill();
}
template <class T> static void in_template(int n, T *x)
{
    #pragma kmm parallel
    assigned<T><<<50, 256>>>(n, x, 3.0f);
    #pragma kmm parallel
    assigned<<<(n + 255) / 256, 256>>>(n, x + 5, 4.0f);
}

static void run(int blocks, int n)
{
    printf("%d blocks, n = %d\n", blocks, n);
    #pragma kmm parallel
    guarded<<<blocks, 256>>>(n, X, Y);
    show("guarded");
    #pragma kmm parallel chunk(3000)
    leaves<<<blocks, 256>>>(n, X + 1, Y);
    show("leaves");
    if (n >= 0) {
        #pragma kmm parallel
        reversed<<<blocks, 256>>>(n, X, Y);
        show("reversed");
        #pragma kmm parallel chunk(5000)
        several<<<blocks, 256>>>(n, X, Y);
        show("several");
        #pragma kmm parallel
        strides<<<blocks, 256>>>(n, X, Y);
        show("strides");
    }
    #pragma kmm parallel
    wide<<<blocks, 256>>>(n, X, Y);
    show("wide");
    #pragma kmm parallel chunk(7000)
    mixed<<<blocks, 256>>>(n, X, Y);
    show("mixed");
    #pragma kmm parallel
    large<<<blocks, 256>>>(n, X, Y);
    show("large");
    #pragma kmm parallel
    large<<<blocks, 256>>>((unsigned short)n, X, Y);
    show("large, converted");
    #pragma kmm parallel
    before_last<<<blocks, 256>>>(n, X, Y);
    show("before_last");
    #pragma kmm parallel chunk(4000)
    everyone<<<blocks, 256>>>(X, Y);
    show("everyone");
    #pragma kmm parallel
    some<<<blocks, 256>>>(n, X, Y);
    show("some");
    #pragma kmm parallel(i) update(X[i])
    guarded<<<blocks, 256>>>(n, X, Y);
    show("said in part");
    #pragma kmm parallel
    hidden<3><<<blocks, 256>>>(n, X, Y);
    show("hidden");
    #pragma kmm parallel
    assigned<<<blocks, 256>>>(n, (pair *)X, 2.5f);
    show("assigned in part");
    #pragma kmm parallel
    vectors<<<blocks, 256>>>(n, (float2 *)X, (const float2 *)Y);
    show("vectors");
    #pragma kmm parallel
    unused<<<blocks, 256>>>(n, X, Y, (float *)NULL);
    show("unused");
}

int main()
{
    cudaMalloc(&X, ALL * sizeof(float));
    cudaMalloc(&Y, ALL * sizeof(float));
    fill();
    run(235, N);
    run(10, N);
    run(300, N);
    run(1, 1);
    run(235, 0);
    run(235, -3);
    run(20, N - 1);
    for (int grid = 3; grid <= 40; grid += 7) {
        int w = 300, h = 100;
        #pragma kmm parallel
        rows<<<dim3(grid, grid), dim3(16, 8)>>>(w, h, 512, X, Y);
        show("rows");
        #pragma kmm parallel chunk(w, 16)
        rows<<<dim3(grid, 2 * grid), dim3(16, 8)>>>(w, h, w, X, Y);
        show("rows without gaps");
        #pragma kmm parallel
        columns<<<dim3(grid, grid), dim3(16, 8)>>>(w, h, X, Y);
        show("columns");
        #pragma kmm parallel
        boxes<<<dim3(grid, grid, 3), dim3(8, 4, 2)>>>(60, 50, 7, X);
        show("boxes");
    }
    {
#undef OFF
#define OFF 1
        const int SHIFT = 0, STEP = 1, x = 2;
        struct limits { enum { FIVE = 1 }; };
        namespace numbers = ::numbers;
        (void)SHIFT, (void)STEP, (void)x;
        #pragma kmm parallel chunk(9000)
        constants<<<235, 256>>>(N, X, Y);
        show("constants");
        #pragma kmm parallel chunk(9000)
        strides<<<235, 256>>>(N, X, Y);
        show("strides");
        #pragma kmm parallel
        hidden<x><<<100, 256>>>(N, X, Y);
        show("hidden");
    }
    #pragma kmm parallel
    copies<<<20, 256>>>(N, (float4 *)X, (float4 *)Y);
    show("copies");
    #pragma kmm parallel
    shifted<<<235, 256>>>(N, -5, X, Y);
    show("shifted");
    #pragma kmm parallel
    swaps<<<200, 256>>>(N, X, X + N);
    show("swaps");
    #pragma kmm parallel
    guarded<<<200, 256>>>(N, X, X);
    show("one array");
    #pragma kmm parallel
    two_bounds<<<200, 256>>>(N, N / 3, X, Y);
    show("two_bounds");
    in_template(N / 2, X);
    in_template(N / 2, (pair *)X);
    in_template(N, (double *)X);
    show("in_template");
    return 0;
}
