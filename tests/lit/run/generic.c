// Functions that _Generic selects, also by macros; pragmas whose text is written by macros.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_JOIN=0 KMM_STATS=1 %t 2>&1 | FileCheck %s
// All 13 launches have chunks: 9 each.
// CHECK: kmm: host:0{{ +}}39 
#include <stdio.h>

enum { N = 60000 };
static float x[N];
static double y[N];

static void add_float(int n, float *a)
{
    for (int i = 0; i < n; i++)
        a[i]++;
}

static void add_double(int n, double *a)
{
    for (int i = 0; i < n; i++)
        a[i]++;
}

static int half_int(int n)
{
    return n / 2;
}

static double half_double(double n)
{
    return n / 2;
}

#define PICK(a) _Generic((a), float *: add_float, double *: add_double)
#define add(n, a) PICK(a)(n, a)
#define half(n) _Generic((n), int: half_int, double: half_double)(n)
#define ninth(a) _Generic((a), float *: 6670, double *: 6671, default: 1)
#define STRING(...) STRING_OF(__VA_ARGS__)
#define STRING_OF(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(STRING(__VA_ARGS__))
#define LAUNCH(count, a) PRAGMA(kmm parallel(i = 0:count) chunk(6670) rebase(n: i) update(a[i])) add(count, a)
#define OF_X "kmm parallel(i = 0:N) chunk(6670) rebase(n: i) update(x[i])"
#define LAUNCH_OF_X _Pragma(OF_X)
#define UPDATE(a) update(a[i])

int main(void)
{
    float *p = x;
    double *q = y, sum = 0;
    int n = N, small = 13340;
    #pragma kmm parallel(i = 0:N) chunk(6670) rebase(n: i) update(x[i])
    add(N, &x[0]);
    #pragma kmm parallel(i = 0:N) chunk(6670) rebase(n: i) update(p[i])
    _Generic((p), float *: add_float, double *: add_double)(N, p);
    #pragma kmm parallel(i = 0:N) chunk(6670) rebase(n: i) update(q[i])
    (_Generic(q, default: add_float, double *: &add_double))(N, q);
    #pragma kmm parallel(i = 0:N) chunk(ninth(q)) rebase(n: i) update(q[i])
    _Generic((q), float *: _Generic((p), float *: add_float, default: add_float), default: add_double)(N, q);
    LAUNCH(N, q);
    LAUNCH(N, p);
    if (n)
        LAUNCH(N, p);
    #pragma kmm parallel(i = 0:N) chunk(half(small)) rebase(n: i) update(q[i])
    add(N, q);
    _Pragma("kmm parallel(i = 0:N) chunk(6670) rebase(n: i) update(q[i])") add(N,
         q);
    _Pragma(STRING(kmm parallel(i = 0:N) chunk(6670) rebase(n: i) update(x[i])))
    add_float(N, x);
    _Pragma(OF_X) add(N, x);
    LAUNCH_OF_X
    add(N, x);
    _Pragma(STRING(kmm parallel(i = 0:N) chunk(6670) rebase(n: i) UPDATE(y)))
    add(N, y);
    for (int i = 0; i < N; i++)
        sum += x[i] + 3 * y[i];
    printf("%g\n", sum);
    return 0;
}
