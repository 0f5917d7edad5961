// REQUIRES: ir
// RUN: %kmmcc --target=host -std=c++17 --explain %s | FileCheck %s
// RUN: %kmmcc --target=host -std=c++17 -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host -std=c++17 -Werror -Wno-kmm-whole %san -O1 %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=result %t > %t.three 2>/dev/null && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// A launch in a template is inferred from all instances that the file makes.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 128, N = 20003 };
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
template <class T> __global__ void scales(T *x, T a, int n) { int i = INDEX; if (i < n) x[i] = x[i] * a + 1; }
template <class T, int R> __global__ void blurs(T *o, const T *x, int n) { int i = INDEX; if (i >= R && i < n - R) { T s = 0; for (int k = -R; k <= R; k++) s += x[i + k]; o[i] = s; } }
template <class T, bool All> __global__ void copies(T *o, const T *x, int n) { int i = INDEX; if (i < n) { if constexpr (All) o[i] = x[i] + 1; else if (x[i] > o[i]) o[i] = x[i]; } }
template <int S> __global__ void gaps(float *o, int n) { int i = INDEX; if (i < n) o[S * i] += 1; }
template <class P> __global__ void adds(P x, int n) { int i = INDEX; if (i < n) x[i] += 2; }
template <class T, class F> __global__ void maps(T *x, int n, F f) { int i = INDEX; if (i < n) x[i] = f(x[i]); }
struct twice { __host__ __device__ float operator()(float v) const { return 2 * v; } };
struct plus { float b; __host__ __device__ float operator()(float v) const { return v + b; } };
struct same { __host__ __device__ float operator()(const float *x, int i) const { return 2 * x[i]; } };
struct shift { int s; __host__ __device__ float operator()(const float *x, int i) const { return x[i + s]; } };
class secret { int s; public: secret(int k) : s(k) {} __host__ __device__ float operator()(const float *x, int i) const { return x[i + s]; } };
template <class F> __global__ void takes(float *o, const float *x, int n, F f) { int i = INDEX; if (i < n) o[i] = f(x, i); }
__global__ void hides(float *o, const float *x, int n, secret f) { int i = INDEX; if (i < n) o[i] = f(x, i); }
__global__ void over(float *x, int n) { int i = INDEX; if (i < n) x[i] += 1; }
__global__ void over(double *x, int n) { int i = INDEX; if (i < n) x[i] += x[i]; }
__global__ void halves(float *x, int n) { int i = INDEX; if (i < n) x[i] /= 2; }
template <class T> __global__ void own(T *x, int n) { int i = INDEX; if (i < n) x[i] += 1; }
template <> __global__ void own<double>(double *y, int m) { int i = INDEX; if (i < m / 2) y[2 * i] += 3; }
__global__ void narrow(float *x, unsigned char n) { int i = INDEX; if (i < n) x[i] += 1; }
template <class T> struct view { T *p; int n; };
template <class T> __global__ void views(view<T> v, T a) { int i = INDEX; if (i < v.n) v.p[i] += a; }
template <int K> __global__ void bins(const float *a, int *s, int n) { __shared__ int h[K]; int i = INDEX; for (int k = threadIdx.x; k < K; k += blockDim.x) h[k] = 0; __syncthreads(); if (i < n) atomicAdd(&h[(unsigned)(int)a[i] % K], 1); __syncthreads(); for (int k = threadIdx.x; k < K; k += blockDim.x) atomicAdd(&s[k], h[k]); }

template <class T, int R> void run(T *o, T *x, int n)
{
    // CHECK: launch of kernel 'scales'
    // CHECK: updates  x[x_]
    // CHECK: analysis x: exact
    // CHECK-NEXT: analysis of scales<
#pragma kmm parallel
    scales<<<(n + B - 1) / B, B>>>(x, T(2), n);
    // CHECK: launch of kernel 'blurs'
    // CHECK: reads    x[x_ - R:(2 * R + 1)]
    // CHECK: holds    where x_ + R is int for all threads
#pragma kmm parallel
    blurs<T, R><<<(n + B - 1) / B, B>>>(o, x, n);
    // CHECK: launch of kernel 'blurs'
    // CHECK: reads    x[x_ - (2 * R):(4 * R + 1)]
#pragma kmm parallel
    blurs<T, 2 * R><<<(n + B - 1) / B, B>>>(o, x, n);
    // A branch that an instance discards launches nothing there.
    // CHECK: launch of kernel 'copies'
    // CHECK: analysis x: exact
    // CHECK: analysis o: exact
    // CHECK: analysis of copies<{{.*}}, 1>
    // CHECK-NEXT: and copies<{{.*}}, 1>
    // CHECK-NEXT: results
    if constexpr (R > 3)
#pragma kmm parallel
        copies<T, true><<<(n + B - 1) / B, B>>>(o, x, n);
    // CHECK: launch of kernel 'copies'
    // CHECK: updates  o[x_]
    // CHECK: analysis o: over-approximated: a condition on data decides, in copies<float, 0>
#pragma kmm parallel
    copies<T, (R > 3)><<<(n + B - 1) / B, B>>>(o, x, n);
}
template <int S> void each(float *o, int n)
{
    // CHECK: updates  o[(S) * x]
#pragma kmm parallel
    gaps<S><<<(n / S + B - 1) / B, B>>>(o, n / S);
}
template <class T> void seen(T *x, int n)
{
    view<T> v = {x, n};
    // CHECK: updates  v.p[x]
#pragma kmm parallel
    views<<<(n + B - 1) / B, B>>>(v, T(3));
}
template <int K> void counts(const float *x, int *s, int n)
{
    // CHECK: launch of kernel 'bins'
    // CHECK: reduces  s[0:K]
#pragma kmm parallel
    bins<K><<<(n + B - 1) / B, B>>>(x, s, n);
}
template <class P> void add(P x, int n)
{
    // CHECK: launch of kernel 'adds'
    // CHECK: updates  x[x_]
#pragma kmm parallel
    adds<P><<<(n + B - 1) / B, B>>>(x, n);
}
template <class F> void map(float *x, int n, F f)
{
    // CHECK: analysis of maps<float, (lambda at
#pragma kmm parallel
    maps<<<(n + B - 1) / B, B>>>(x, n, f);
}
// A member that not all instances have, or that is private, has no name in clauses.
template <class F> void take(float *o, const float *x, int n, F f)
{
    // CHECK: launch of kernel 'takes'
    // CHECK-NEXT: axis
    // CHECK: writes   o[x_]
    // CHECK: reads    x
    // CHECK-NEXT: elements  the whole array
#pragma kmm parallel
    takes<<<(n + B - 1) / B, B>>>(o, x, n, f);
}
void hide(float *o, const float *x, int n, secret f)
{
    // CHECK: launch of kernel 'hides'
    // CHECK: reads    x
    // CHECK-NEXT: elements  the whole array
#pragma kmm parallel
    hides<<<(n + B - 1) / B, B>>>(o, x, n, f);
}
template <class T> void chosen(T *x, int n)
{
    // CHECK: analysis of over({{float|double}} *, int)
    // CHECK-NEXT: and over({{float|double}} *, int)
#pragma kmm parallel
    over<<<(n + B - 1) / B, B>>>(x, n);
}
template <void (*K)(float *, int)> void pointed(float *x, int n)
{
    // CHECK: launch of kernel 'K'
    // CHECK: updates  x[x_]
#pragma kmm parallel
    K<<<(n + B - 1) / B, B>>>(x, n);
}
// The code of a specialization is its own.
template <class T> void special(T *x, int n)
{
    // CHECK: updates  x[2 * x_]
    // CHECK: analysis of own<double>
#pragma kmm parallel
    own<<<(n + B - 1) / B, B>>>(x, n);
}
// The launch converts the argument.
template <class I> void few(float *x, I n)
{
    // CHECK: 0 <= x_ < ((unsigned char)(n))
#pragma kmm parallel
    narrow<<<2, B>>>(x, n);
}
template <class T> void never(T *x, T *y, int n)
{
    // CHECK: launch of kernel 'blurs'
    // CHECK: analysis unknown: no instance of the template around the launch is made in this file
#pragma kmm parallel
    blurs<T, 9><<<(n + B - 1) / B, B>>>(x, y, n);
}
template <class T> struct base {
    T *p, *q;
    int n;
    virtual void go() = 0;
};
template <class T, int R> struct field : base<T> {
    field(T *x, T *y, int k)
    {
        this->p = x, this->q = y, this->n = k;
        // CHECK: launch of kernel 'scales'
        // CHECK: analysis this->p: exact
#pragma kmm parallel
        scales<T><<<(this->n + B - 1) / B, B>>>(this->p, T(3), this->n);
    }
    // Only the table of virtual functions names the instance.
    void go() override
    {
        // CHECK: launch of kernel 'blurs'
        // CHECK: reads    this->p[x_ - R:(2 * R + 1)]
        // CHECK: analysis of blurs<
#pragma kmm parallel
        blurs<T, R><<<(this->n + B - 1) / B, B>>>(this->q, this->p, this->n);
    }
    template <int M> void in();
};
template <class T, int R> template <int M> void field<T, R>::in()
{
    // CHECK: launch of kernel 'gaps'
    // CHECK: analysis this->p: exact
#pragma kmm parallel
    gaps<R * M><<<(N / (R * M) + B - 1) / B, B>>>(this->p, N / (R * M));
}
template <class T> void outer(T *o, T *x, int n)
{
    run<T, 4>(o, x, n);
    struct local {
        static void go(T *x, int n)
        {
            // CHECK: analysis of scales<float>
#pragma kmm parallel
            scales<<<(n + B - 1) / B, B>>>(x, T(5), n);
        }
    };
    local::go(x, n);
}
// Nothing else in the file names this instance.
template void run<double, 7>(double *, double *, int);

static unsigned long long hash(const void *d, size_t n)
{
    unsigned char *h = (unsigned char *)malloc(n);
    unsigned long long s = 5381;
    cudaMemcpy(h, d, n, cudaMemcpyDeviceToHost);
    for (size_t k = 0; k < n; k++)
        s = s * 33 + h[k];
    free(h);
    return s;
}

int main(void)
{
    static float f[N];
    static double d[N];
    float *x, *o;
    double *dx, *dd;
    for (int k = 0; k < N; k++)
        d[k] = f[k] = k % 17 - 5;
    cudaMalloc(&x, sizeof(f)), cudaMalloc(&o, sizeof(f));
    cudaMalloc(&dx, sizeof(d)), cudaMalloc(&dd, sizeof(d));
    cudaMemcpy(x, f, sizeof(f), cudaMemcpyHostToDevice), cudaMemcpy(o, f, sizeof(f), cudaMemcpyHostToDevice);
    cudaMemcpy(dx, d, sizeof(d), cudaMemcpyHostToDevice), cudaMemcpy(dd, d, sizeof(d), cudaMemcpyHostToDevice);
#define SHOW printf("%d %llx %llx %llx %llx\n", __LINE__, hash(x, sizeof(f)), hash(o, sizeof(f)), hash(dx, sizeof(d)), hash(dd, sizeof(d)))
    run<float, 3>(o, x, N), run<double, 5>(dd, dx, N);
    SHOW;
    each<2>(o, N), each<5>(x, N);
    add(x, N), add(dd, N);
    seen(o, N), seen(dx, N);
    SHOW;
    cudaMemset(o, 0, 400);
    counts<16>(x, (int *)o, N), counts<40>(x, (int *)o + 16, N);
    printf("%llx\n", hash(o, 400));
    cudaMemcpy(o, f, sizeof(f), cudaMemcpyHostToDevice);
    map(x, N, twice()), map(o, N, plus{3}), map(o, N, [=] __host__ __device__(float v) { return v - 7; });
    SHOW;
    take(o, x, N, same()), take(o, x, N - 3, shift{2}), take(o, x, N - 7, secret(5)), hide(o, x, N - 9, 3);
    SHOW;
    chosen(x, N), chosen(dd, N);
    pointed<halves>(x, N);
    special(dd, N);
    few(x, 300), few(o, (short)77);
    SHOW;
    field<float, 2> two(x, o, N);
    field<float, 6> six(o, x, N);
    base<float> *bases[] = {&two, &six};
    for (base<float> *b : bases)
        b->go();
    two.in<3>();
    outer(x, o, N);
    SHOW;
    auto generic = [&](auto *p, auto n) {
        // CHECK: launch of kernel 'scales'
        // CHECK: updates  p[x_]
        // CHECK: analysis p: exact
#pragma kmm parallel
        scales<<<(n + B - 1) / B, B>>>(p, {4}, n);
    };
    generic(x, N), generic(dx, (short)1000);
    SHOW;
    return 0;
}
