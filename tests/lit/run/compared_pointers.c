// RUN: %kmmcc %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t 2>&1 | FileCheck %s
// A function that only compares a pointer with NULL needs no clause for it, wherever it points.
#include <stdio.h>
static void f(int n, int *x, const void *v, int *w)
{
    for (int i = 0; i < n; i++)
        x[i] += (v != NULL) + 2 * (w != NULL);
}
static void g(int n, int *x, const int *end)
{
    for (int *p = x; p != x + n; p++)
        *p += p != end;
}
static int x[60000], other[1000];
int main(void)
{
    int q = 3;
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i])
    f(60000, x, &q, NULL);
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i])
    f(60000, x, NULL, x + 7);
#pragma kmm data map(to: other)
    {
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i])
        f(60000, x, other, other + 5);
    }
    const int *same = x + 4;
#pragma kmm parallel(i = 0:60000) rebase(n: i) chunk(60000) update(x[i])
    g(60000, x, same);
    long s = 0;
    for (int i = 0; i < 60000; i++)
        s += x[i];
    // CHECK-NOT: kmm
    // CHECK: 419999
    printf("%ld\n", s);
}
