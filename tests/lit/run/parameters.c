// Parameters that are arrays, functions, enums and pointers to rows, and arguments that the call converts.
// RUN: %cc -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -w %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=16M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t 2>&1 | diff %t.expected -
#include <stdbool.h>
#include <stdio.h>

typedef int row[4];
typedef struct { int x; } point;
typedef enum { A, B } named;
static int twice(int a) { return 2 * a; }
static int thrice(int a) { return 3 * a; }
typedef int (*table[2])(int);

static void f(int n, const point p[], int out[static 1], int g(int), int (*h)(int), int (**t)(int), int (*(*u)[2])(int), named e)
{
    for (int i = 0; i < n; i++)
        out[i] = g(p[i].x) + h(1) + t[1](1) + (*u)[0](1) + (e == B);
}
static void g(int n, row *const c, const row d[], int m[restrict], bool b, float s, char k, enum { X, Y } y)
{
    for (int i = 0; i < n; i++)
        c[i][3] = d[i][0] + m[i] + b + (s == 16777216.0f) + k + y;
}
static void rows(int lo, int hi, int w, int a[hi][w], const int (*b)[w], int v[w])
{
    for (int i = lo; i < hi; i++)
        for (int k = 0; k < w; k++)
            a[i][k] = b[i][k] + v[0];
}
static void convert(int n, int out[], bool b, float f, int i, unsigned char c)
{
    for (int k = 0; k < n; k++)
        out[k] = b + (f == 9007200328482816.0f) * 2 + i * 4 + c * 1000;
}
int main(void)
{
    enum { N = 1000 };
    static point p[N];
    static int out[N], c[N][4], d[N][4], m[N];
    int (*t[2])(int) = {twice, thrice};
    double half = 0.5;
    for (int i = 0; i < N; i++)
        p[i].x = i, d[i][0] = i, m[i] = 7;
    #pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) read(p[i], t[0:2]) write(out[i])
    f(N, p, out, twice, thrice, t, &t, B);
    #pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) read(d[i][:], m[i]) update(c[i][:])
    g(N, c, d, m, half, 16777217, 300 - 256, 1);
    printf("%d %d\n", out[N - 1], c[N - 1][3]);
    #pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) write(out[i])
    convert(N, out,
#ifdef NAME
            1,
#else
            half,
#endif
            9007199791611905,
#ifdef NAME
            -
#endif
            7.9, 257.5 - 256);
    printf("%d\n", out[N - 1]);
    static int a[N][8];
    static int q[N][8];
    #pragma kmm parallel(i = 0:N) chunk(100) rebase(lo: begin(i), hi: end(i)) read(q[i][:], m[0:8]) write(a[i][:])
    rows(0, N, 8, a, q, m);
    printf("%d\n", a[1][1]);
}
