// RUN: %kmmcc --target=host -fno-kmm %san -w %s -o %t.plain && env KMM_DEVICES=host %t.plain > %t.want
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=2M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check 2>&1 && diff %t.want %t.check
// RUN: %kmmcc --target=host --emit-source %s | FileCheck %s
// Kernels whose stores some threads leave, whose elements are rows, whose parameters are arrays, and whose indices are written by macros.
#include <cuda_runtime.h>
#include <stdio.h>

#define TEST(...) _Pragma("kmm parallel") __VA_ARGS__; show(__LINE__)
#define I blockIdx.x * blockDim.x + threadIdx.x
#define INDEX(d) (blockIdx.d * blockDim.d + threadIdx.d)
#define AT(p, k) p[k]
#define LEAVE(i, n) if (i >= n) return
#define BEGIN int i = INDEX(x); LEAVE(i, n);
#define STORE(p, v) p[i] = v

// CHECK-LABEL: static void leaves{{.}}int n)
// CHECK-COUNT-6: KMM_UPDATE, "X[
// CHECK-NOT: KMM_WRITE
// CHECK-LABEL: static void rows{{.}}int n)
// CHECK: KMM_WRITE, "X[x_]"
// CHECK: KMM_READ, "R[x_][:]"
// CHECK: KMM_UPDATE, "Q[x_][:]"
// CHECK: KMM_READ, "P[x_][:][:]"
// CHECK-LABEL: static void macros{{.}}int n)
// CHECK-COUNT-3: KMM_WRITE, "X[x_]"

// CHECK-LABEL: static void arrays{{.}}int n)
// CHECK: KMM_READ, "(moved(Y))[i]"
// CHECK: KMM_UPDATE, "X[x_]"
// CHECK: KMM_READ, "Y[x_:2]"
// CHECK: KMM_READ, "((float (*)[8])Y)[{{.*}}][:]"
// CHECK: KMM_WRITE, "X[2 * x_]"
// CHECK: KMM_UPDATE, "((second *)(b))[3 * x_]"
// CHECK-LABEL: static void members{{.}}int n)
// CHECK: KMM_WRITE, "v.out[x_]"
// CHECK: KMM_UPDATE, "v.out[i]"

// ---- Threads leave in a statement that stores, or in one before it
__global__ void l_value(int n, float *x, const float *y) { int i = I; if (i >= n) return; x[i] = ({ if (y[i] < 500) return; y[i]; }); }
__global__ void l_value_within(int n, float *x, const float *y) { int i = I; if (i < n) x[i] = ({ if (y[i] < 500) return; y[i]; }); }
__global__ void l_value_block(int n, float *x, const float *y) { int i = I; if (i < n) { x[i] = ({ if (y[i] < 500) return; y[i]; }); } }
__global__ void l_before(int n, float *x, const float *y) { int i = I; if (i >= n) return; float v = ({ if (y[i] < 500) return; 2; }); x[i] = v; }
__global__ void l_no_access(int n, float *x) { int i = I; if (i >= n) return; float v = ({ if (i % 5 == 1) return; 3; }); x[i] = v; }
__global__ void l_goto(int n, float *x, const float *y) { int i = I; if (i >= n) return; x[i] = ({ if (y[i] < 500) goto out; y[i]; }); out:; }

// ---- Elements that are arrays
__global__ void r_read(int n, float *x, const float (*y)[8]) { int i = I; if (i < n) x[i] = y[i][3] + y[i][5]; }
__global__ void r_pointer(int n, float (*x)[8], const float (*y)[4][2]) { int i = I; if (i < n) { const float (*r)[2] = y[i]; for (int k = 0; k < 8; k++) x[i][k] += r[k / 2][k % 2]; } }
__global__ void r_both(int n, float (*x)[8], const float (*y)[4][2]) { int i = I; if (i < n) for (int k = 0; k < 8; k++) x[i][k] += y[i][k / 2][k % 2]; }

// ---- Macros
__global__ void m_all(int n, float *x, const float *y) { BEGIN STORE(x, y[i] + 1); }
__global__ void m_parts(int n, float *x, const float *y) { int i = INDEX(x); LEAVE(i, n); AT(x, i) = AT(y, i) + 2; }
__global__ void m_direct(int n, float *x, const float *y) { if (I < n) x[I] = y[INDEX(x)] + 3; }

// ---- Parameters that are written as arrays, and a pointer that becomes one to a base
__device__ void two(float v[], float by) { v[0] = by; *(v + 1) = -by; }
__device__ float at(const float v[8], int i) { return v[i]; }
__global__ void a_sum(int n, float x[], const float y[]) { int i = I; const float *p = y; p++; if (i < n) x[i] += p[i] + *(y + i); }
__global__ void a_moved(int n, float x[100], const float y[][8]) { int i = I; x += i; if (i < n) *x = y[n - 1 - i][3]; }
__global__ void a_helper(int n, float x[1], const float y[]) { int i = I; if (i < n) two(&x[2 * i], at(y, (int)y[i] % 5)); }
struct first { float a; };
struct second { float b; };
struct both : first, second { float c; };
__global__ void a_base(int n, second *x) { int i = I; if (i < n) x[3 * i].b = i; }

// ---- Members of one variable, of which a clause names one
struct view { float *in, *out; };
__global__ void v_copy(int n, float *x, const float *y) { int i = I; if (i < n) x[i] = y[i] + 4; }

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

static void leaves(int n)
{
    TEST(l_value<<<196, 256>>>(n, X, Y));
    TEST(l_value_within<<<196, 256>>>(n, X, Y));
    TEST(l_value_block<<<196, 256>>>(n, X, Y));
    TEST(l_before<<<196, 256>>>(n, X, Y));
    TEST(l_no_access<<<196, 256>>>(n, X));
    TEST(l_goto<<<196, 256>>>(n, X, Y));
}

static void rows(int n)
{
    float (*Q)[8] = (float (*)[8])X, (*R)[8] = (float (*)[8])Y, (*P)[4][2] = (float (*)[4][2])Y;
    TEST(r_read<<<196, 256>>>(n, X, R));
    TEST(r_both<<<196, 256>>>(n, Q, P));
    TEST(r_both<<<196, 256>>>(n, (float (*)[8])X, (const float (*)[4][2])Y));
    TEST(r_pointer<<<196, 256>>>(n, Q, P));
    TEST(r_pointer<<<196, 256>>>(n, (float (*)[8])X, (const float (*)[4][2])Y));
}

static void macros(int n)
{
    TEST(m_all<<<196, 256>>>(n, X, Y));
    TEST(m_parts<<<196, 256>>>(n, X, Y));
    TEST(m_direct<<<196, 256>>>(n, X, Y));
}

static float *moved(float *p) { return p + 1; }
static void arrays(int n)
{
    #pragma kmm parallel(i = 0:n) write((moved(X))[i])
    m_all<<<196, 256>>>(n, moved(X), moved(Y));
    show(__LINE__);
    TEST(a_sum<<<196, 256>>>(n, X, Y));
    TEST(a_moved<<<196, 256>>>(n, X, (float (*)[8])Y));
    TEST(a_helper<<<196, 256>>>(n, X, Y));
    both *b = (both *)X;
    TEST(a_base<<<196, 256>>>(n, b));
}

static void members(int n)
{
    view v = {Y, X};
    TEST(v_copy<<<196, 256>>>(n, v.out, v.in));
    #pragma kmm parallel(i = 0:n) read(v.in[i])
    v_copy<<<196, 256>>>(n, v.out, v.in);
    show(__LINE__);
}

int main()
{
    cudaMalloc(&X, ALL * sizeof(float));
    cudaMalloc(&Y, ALL * sizeof(float));
    cudaMemset(X, 0, ALL * sizeof(float));
    show(0);
    leaves(N);
    rows(N);
    macros(N);
    arrays(N);
    members(N);
}
