// A value of the function's own index that is the same for each index is none that a loop carries; sizeof without parentheses.
// RUN: %kmmcc -fno-kmm %san %s -o %t.plain && %t.plain > %t.expected
// RUN: %kmmcc -O1 -Werror %san %s -o %t
// RUN: env KMM_DEVICES=host %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff - %t.expected
#include <stdio.h>

enum { N = 40000, C = 3000 };
static int x[N];

static void folds(int n, int *a)
{
    for (int i = 0; i < n; i++)
        a[i] += i - i + 2 + i * 0 + (i ^ i) + (i & 0) + i % 1;
}

static void flips(long long n, unsigned char *p)
{
    for (long long i = 0; i < n; i++)
        p[i] = (unsigned char)~p[i];
}

int main(void)
{
    unsigned sum = 0;
    unsigned char *p = (unsigned char *)x;
    for (int i = 0; i < N; i++)
        x[i] = i % 89;
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(x[i])
    folds(N, x);
    #pragma kmm parallel(i = 0:sizeof x) chunk(C * sizeof *x) rebase(n: i) update(p[i])
    flips(sizeof x, p);
    #pragma kmm parallel(i = 0:sizeof x / sizeof x[0]) chunk(C) rebase(n: i) update(x[i])
    folds(sizeof x / sizeof x[0], x);
    for (int i = 0; i < N; i++)
        sum = sum * 31 + (unsigned)x[i];
    printf("%u\n", sum);
    return 0;
}
