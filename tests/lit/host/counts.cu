// SPDX-License-Identifier: Apache-2.0
// Numbers of all types that count along a block, as indices and in loops with a stride: threads that go in step store what fibers store, where
// numbers come to their end, begin below 0, or are no integers.
// RUN: %kmmcc --target=host -w -fwrapv -fkmm-fibers %s -o %t.fibers && %t.fibers > %t.expected
// RUN: %kmmcc --target=host -O1 -w %s -o %t.split && %t.split > %t.out && diff %t.expected %t.out
// RUN: FileCheck --input-file=%t.out %s
// CHECK-COUNT-99: {{[0-9a-f]+$}}
// RUN: %kmmcc --target=host --emit-source %s | FileCheck --check-prefix=STEP %s
// In step where a template's argument is an integer, each thread for itself where it is none.
// STEP: void strided
// STEP: if constexpr (kmm_host_counts<kmm_host_as<I>{{.*}}>::may)
// STEP: for (; kmm__i{{[0-9]+}} < (n);
// STEP: kmm_host_each_counted<kmm_host_apart_if<I>(16)>
// STEP: void mixed
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdio.h>

struct Num {
    double v;
    __host__ __device__ Num(double x = 0) : v(x) {}
    __host__ __device__ operator double() const { return v; }
};
struct Two {
    int a, b;
    __host__ __device__ Two(int x = 3) : a(x), b(2 * x) {}
};
__host__ __device__ Two operator+(const Two &x, const Two &y)
{
    Two r;
    r.a = x.a + y.a;
    r.b = x.b ^ y.b;
    return r;
}

template <class I> __global__ void strided(I n, int *o)
{
    for (I i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        o[(int)i] += (int)i + 1;
}
template <class I, class N> __global__ void mixed(N n, int *o)
{
    I tid = threadIdx.x - 3;
    for (I i = tid; i < n; i += (N)blockDim.x)
        o[(int)(i & 1023)] += 1;
}
template <class I, class N> __global__ void guarded(N n, int *o)
{
    I i = (I)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        atomicAdd(&o[(int)i], 7);
}
template <class I> __global__ void converted(I off, int *o)
{
    I i = (I)(threadIdx.x) + off;
    if (i < (I)1000000)
        o[threadIdx.x] += (int)i;
    long j = i;
    o[threadIdx.x + 512] = (int)j;
}
/* In the order of a thread's own, though it reads and stores in steps through pointers that may be the same. */
template <class T> __global__ void alias(T *p, const T *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        T a = q[2 * i];
        p[2 * i + 1] = a + T(1);
        T b = q[2 * i + 1];
        p[2 * i] = b + a;
    }
}
template <class T> __global__ void rounds(T *p, T k, int n)
{
    __shared__ int place[256];
    T two = k + k;
    unsigned t = threadIdx.x;
    T v = p[t];
    place[t] = (int)(n - t);
    __syncthreads();
    T w = v + two;
    int other = place[(t + 1) % blockDim.x];
    __syncthreads();
    if (t < (unsigned)n && other > 3)
        p[t] = w + two;
}
__global__ void converts_condition(int n, int *o)
{
    for (unsigned i = threadIdx.x; (int)i < n; i += blockDim.x)
        o[i & 1023] += 1;
}
__global__ void converts_to_byte(int n, int *o)
{
    for (int i = threadIdx.x; (unsigned char)i < n && i < 900; i += blockDim.x)
        o[i] += 1;
}
__global__ void bytes(int n, int *o)
{
    for (unsigned char i = threadIdx.x; i < n; i += 64)
        atomicAdd(&o[i], 1);
}
__global__ void shorts(int n, int *o)
{
    for (short i = threadIdx.x - 5; i < n; i += blockDim.x)
        o[i & 1023] += 3;
    unsigned short u = threadIdx.x - 2;
    if (u < n)
        o[u] += 11;
}
__global__ void begins_below(size_t n, int *o)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x - 7;
    if (i < n)
        atomicAdd(&o[i], 5);
    for (size_t k = blockIdx.x * blockDim.x + threadIdx.x - 9; k < n; k += blockDim.x * gridDim.x)
        atomicAdd(&o[k], 13);
}
__global__ void large(unsigned n, unsigned base, unsigned *o)
{
    unsigned i = base + threadIdx.x;
    if (i < n)
        o[threadIdx.x] += i;
    for (unsigned k = base + threadIdx.x; k < n; k += blockDim.x)
        atomicAdd(&o[k & 511], k);
}
__global__ void end_of_shorts(int n, int *o)
{
    for (short i = threadIdx.x + 32700; i < n; i += blockDim.x) {
        o[i & 1023] += 1;
        if (i < 0)
            break;
    }
}

static int *d, h[2048];
static void show(const char *what, int n)
{
    unsigned x = 0;
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    for (int v : h)
        x = x * 16777619u + (unsigned)v;
    printf("%s %d: %08x\n", what, n, x);
    for (int k = 0; k < 2048; k++)
        h[k] = k;
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
}
template <class I> static void run_strided(const char *what, int n)
{
    strided<I><<<3, 64>>>(n, d);
    show(what, n);
}
template <class I, class N> static void run_mixed(const char *what, int n)
{
    mixed<I, N><<<1, 64>>>(n, d);
    show(what, n);
    guarded<I, N><<<4, 250>>>(n, d);
    show(what, n);
}
template <class I> static void run_converted(const char *what, I n)
{
    converted<I><<<1, 256>>>(n, d);
    show(what, 0);
}
template <class T> static void run_class(const char *what)
{
    for (int by = 0; by < 2; by++) {
        alias<T><<<2, 100>>>((T *)d, (T *)d + by, 200);
        show(what, by);
    }
    rounds<T><<<1, 200>>>((T *)d, T(2), 150);
    show(what, 2);
}

int main()
{
    cudaMalloc(&d, sizeof(h));
    cudaMemset(d, 0, sizeof(h));
    for (int n : {0, 1, 63, 64, 1000}) {
        run_strided<int>("int", n);
        run_strided<unsigned>("unsigned", n);
        run_strided<short>("short", n);
        run_strided<size_t>("size_t", n);
        run_strided<float>("float", n);
        run_mixed<int, int>("int, int", n);
        run_mixed<int, unsigned>("int, unsigned", n);
        run_mixed<size_t, int>("size_t, int", n);
        run_mixed<short, size_t>("short, size_t", n);
        run_mixed<unsigned, long>("unsigned, long", n);
        run_mixed<unsigned short, int>("unsigned short, int", n);
        guarded<Num, int><<<4, 250>>>(n, d);
        show("class", n);
        guarded<unsigned char, int><<<4, 250>>>(n & 127, d);
        show("unsigned char", n);
        begins_below<<<2, 100>>>(n, d);
        show("begins below", n);
        shorts<<<1, 64>>>(n, d);
        show("shorts", n);
        converts_to_byte<<<1, 64>>>(n, d);
        show("to byte", n);
        bytes<<<1, 32>>>(n & 127, d);
        show("bytes", n);
        converts_condition<<<1, 64>>>(n - 2, d);
        show("condition", n);
    }
    run_converted<float>("to float", 16777216.0f);
    run_converted<float>("to float", 0.5f);
    run_converted<short>("to short", 32700);
    run_converted<unsigned>("to unsigned", 4294967200u);
    run_converted<size_t>("to size_t", ~(size_t)0 - 5);
    large<<<1, 256>>>(4294965000u, 4294960000u, (unsigned *)d);
    show("large", 0);
    large<<<1, 256>>>(1u << 31, (1u << 31) - 1000, (unsigned *)d);
    show("large", 31);
    large<<<1, 256>>>((1u << 30) + 300, (1u << 30) - 100, (unsigned *)d);
    show("large", 30);
    large<<<1, 256>>>(1000, 4294967290u, (unsigned *)d);
    show("large", 1);
    end_of_shorts<<<1, 64>>>(32760, d);
    show("end of shorts", 0);
    run_class<int>("aliases of int");
    run_class<float>("aliases of float");
    run_class<Two>("aliases of a class");
    run_class<__half>("aliases of half");
    cudaFree(d);
}
