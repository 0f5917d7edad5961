// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=2M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// RUN: %kmmcc --target=host --emit-source %s | FileCheck %s
// Kernels that change parts of elements, or that reach from one element to the next; and the forms of guards.
#include <cuda_runtime.h>
#include <stdio.h>

#define TEST(...) _Pragma("kmm parallel") __VA_ARGS__; show(__LINE__)

// CHECK-LABEL: static void copies_in_part{{.}}int n)
// CHECK-COUNT-6: KMM_{{UPDATE}}
// CHECK-LABEL: static void changes_in_part{{.}}int n)
// CHECK-COUNT-9: KMM_{{UPDATE}}
// CHECK-LABEL: static void neighbours{{.}}int n)
// CHECK-COUNT-9: KMM_{{READ}}, "{{Y(\[.*\])?}}", Y
// CHECK-LABEL: static void guards{{.}}int n)
// CHECK-COUNT-6: kmm_launch_axis(kmm__launch, "{{x_}}", KMM_GLOBAL_X, 0, n);
// CHECK: kmm_launch_axis(kmm__launch, "{{x_}}", KMM_GLOBAL_X, 0, (long long)(int)(n) + 1);

// ---- An operator= that the compiler makes stores as much as those of bases and members
struct part { float a, b; __device__ part &operator=(const part &o) { a = o.a; return *this; } };
struct member { part p; float c, d; };
struct base : part { float c, d; };
struct array { part p[2]; };
struct deep { struct { array m; } inside; };
template <class X> struct both { X x, y; };
template <class X> struct derived : both<X> { };

__global__ void k_member(int n, member *x, const member *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i]; }
__global__ void k_base(int n, base *x, const base *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i]; }
__global__ void k_array(int n, array *x, const array *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i]; }
__global__ void k_deep(int n, deep *x, const deep *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i]; }
__global__ void k_both(int n, both<part> *x, const both<part> *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i]; }
__global__ void k_derived(int n, derived<part> *x, const derived<part> *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[i]; }

// ---- What is seen to change no more than its element
template <class D> struct counts { __device__ void inc() { static_cast<D *>(this)->a += 1; } };
struct number : counts<number> {
    float a, b, v[2];
    __device__ number &add(float x) { a += x; return *this; }
    __device__ number &operator+=(float x) { v[1] += x; return *this; }
    __device__ number &operator++() { b += 1; return *this; }
    __device__ float &operator[](int k) { return v[k]; }
};
__device__ void by_reference(number &x, float y) { if (y > 500) x.v[0] = y; }
__device__ void by_pointer(number *x, float y) { if (y > 500) x->v[1] = y; }
__global__ void k_base_method(int n, number *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i].inc(); }
__global__ void k_chain(int n, number *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i].add(1).add(2) += 3; }
__global__ void k_operator(int n, number *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { ++x[i]; x[i] += 2; } }
__global__ void k_subscript(int n, number *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i][1] = 4; }
__global__ void k_reference(int n, number *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) by_reference(x[i], y[i]); }
__global__ void k_pointer(int n, number *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) by_pointer(&x[i], 501); }
__global__ void k_local(int n, number *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { number &r = x[i]; r.a = 1; number *p = &x[i]; p->b = 2; } }
__global__ void k_fields(int n, number *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { x[i].a = 1; x[i].v[1] = x[i].b; } }
__global__ void k_old(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { float t = x[i]++; x[i] = 0; x[i] = t * 2; } }

// ---- What reaches other elements than the one whose address it takes
struct two { float a, b; __device__ float after() const { return this[1].a; } };
__device__ float third(const float *q) { return q[3]; }
__global__ void k_address(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = (&y[i])[1]; }
__global__ void k_variable(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { const float *q = &y[i]; x[i] = q[2]; } }
__global__ void k_moves(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { const float *q = &y[i]; q += 3; x[i] = *q; } }
__global__ void k_steps(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { const float *q = &y[i]; q++; x[i] = *q; } }
__global__ void k_wide(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = (*(const float4 *)&y[4 * i]).w; }
__global__ void k_wide_reference(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = reinterpret_cast<const float4 &>(y[4 * i]).z; }
__global__ void k_called(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = third(&y[i]); }
__global__ void k_this(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = ((const two *)&y[i])->after(); }
__global__ void k_bytes(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = *(const float *)((const char *)&y[i] + 8); }

// ---- Guards
__global__ void g_turned(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (n > i) x[i] = 1; }
__global__ void g_not(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (!(i < n)) return; x[i] = 2; }
__global__ void g_turned_out(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (n <= i) return; x[i] = 3; }
__global__ void g_not_beyond(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (!(i >= n)) x[i] = 4; }
__global__ void g_not_not(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (!!(n > i)) x[i] = 5; }
__global__ void g_neither(int n, int m, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (!(i >= n || i >= m)) x[i] = 6; }
__global__ void g_last(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) x[i] = 7; }
__global__ void g_last_unsigned(unsigned n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (n < i) return; x[i] = 8; }
__global__ void g_last_wide(int n, float *x) { size_t i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) x[i] = 9; }
__global__ void g_last_number(float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i > 999) return; x[i] = 10; }
__global__ void g_last_sum(unsigned n, float *x) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n - 1) x[i] = 11; }
__global__ void g_behind(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i > n) x[i] = 12; }
__global__ void g_two(int n, int m, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; if (m <= i) return; x[i] = 13; }

enum { N = 50000, ALL = 8 * N };
static float *X, *Y;
static void show(int line)
{
    static float h[ALL];
    double sum = 0;
    cudaMemcpy(h, X, sizeof(h), cudaMemcpyDeviceToHost);
    for (int k = 0; k < ALL; k++)
        sum += (k % 17 + 1) * h[k];
    printf("%d %.1f %s\n", line, sum, cudaGetErrorString(cudaGetLastError()));
    for (int k = 0; k < ALL; k++)
        h[k] = k % 1013;
    cudaMemcpy(X, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemcpy(Y, h, sizeof(h), cudaMemcpyHostToDevice);
}

static void copies_in_part(int n)
{
    TEST(k_member<<<150, 256>>>(n, (member *)X, (member *)Y));
    TEST(k_base<<<150, 256>>>(n, (base *)X, (base *)Y));
    TEST(k_array<<<150, 256>>>(n, (array *)X, (array *)Y));
    TEST(k_deep<<<150, 256>>>(n, (deep *)X, (deep *)Y));
    TEST(k_both<<<150, 256>>>(n, (both<part> *)X, (both<part> *)Y));
    TEST(k_derived<<<150, 256>>>(n, (derived<part> *)X, (derived<part> *)Y));
}

static void changes_in_part(int n)
{
    number *p = (number *)X;
    TEST(k_base_method<<<150, 256>>>(n, p));
    TEST(k_chain<<<150, 256>>>(n, p));
    TEST(k_operator<<<150, 256>>>(n, p));
    TEST(k_subscript<<<150, 256>>>(n, p));
    TEST(k_reference<<<150, 256>>>(n, p, Y));
    TEST(k_pointer<<<150, 256>>>(n, p));
    TEST(k_local<<<150, 256>>>(n, p));
    TEST(k_fields<<<150, 256>>>(n, p));
    TEST(k_old<<<150, 256>>>(n, X));
}

static void neighbours(int n)
{
    TEST(k_address<<<150, 256>>>(n, X, Y));
    TEST(k_variable<<<150, 256>>>(n, X, Y));
    TEST(k_moves<<<150, 256>>>(n, X, Y));
    TEST(k_steps<<<150, 256>>>(n, X, Y));
    TEST(k_wide<<<150, 256>>>(n, X, Y));
    TEST(k_wide_reference<<<150, 256>>>(n, X, Y));
    TEST(k_called<<<150, 256>>>(n, X, Y));
    TEST(k_this<<<150, 256>>>(n, X, Y));
    TEST(k_bytes<<<150, 256>>>(n, X, Y));
}

static void guards(int n)
{
    TEST(g_turned<<<150, 256>>>(n, X));
    TEST(g_not<<<150, 256>>>(n, X));
    TEST(g_turned_out<<<150, 256>>>(n, X));
    TEST(g_not_beyond<<<150, 256>>>(n, X));
    TEST(g_not_not<<<150, 256>>>(n, X));
    TEST(g_neither<<<150, 256>>>(n, n, X));
    TEST(g_last<<<150, 256>>>(n, X));
    TEST(g_last_unsigned<<<150, 256>>>(n, X));
    TEST(g_last_wide<<<150, 256>>>(n, X));
    TEST(g_last_number<<<150, 256>>>(X));
    TEST(g_last_sum<<<150, 256>>>(n, X));
}

int main()
{
    int n = N;
    cudaMalloc(&X, ALL * 4);
    cudaMalloc(&Y, ALL * 4);
    show(0);
    copies_in_part(n);
    changes_in_part(n);
    neighbours(n);
    const int numbers[] = {N, 30000, 1, 0, -1, -5};
    for (int k = 0; k < 6; k++)
        guards(numbers[k]);
#pragma kmm parallel update(X)
    g_behind<<<150, 256>>>(n, X);
    show(__LINE__);
    TEST(g_two<<<150, 256>>>(n, n / 2, X));
    return 0;
}
