// Items whose base lies elsewhere than their region: behind nothing that is mapped, before a one-based array, before
// the mapped part. The pointer that is passed is the base, so it means the array of the region.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -Wno-kmm-unproven %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host KMM_THREADS=4 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=4M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=16M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff %t.expected -
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000, SUMS = 8 };
static int x[N + 10], y[2 * N + 10], s[SUMS];

static void stencil(int lo, int hi, const int *in, int *out)
{
    for (int i = lo; i < hi; i++)
        out[i] = in[i - 1] + in[i + 1];
}

static void shifted(int n, const int *in, int *out)
{
    for (int i = 0; i < n; i++)
        out[i] = 3 * in[i];
}

static void half(int lo, int hi, const int *in, int *out)
{
    for (int i = lo; i < hi; i++)
        out[i] = in[i] + 1;
}

static void sum(int lo, int hi, const int *in, int *to)
{
    for (int i = lo; i < hi; i++)
        *(volatile int *)(to + 3) += in[i];
}

static void fill(void)
{
    for (int i = 0; i < N + 10; i++)
        x[i] = i % 1000 + 1;
    for (int i = 0; i < 2 * N + 10; i++)
        y[i] = -1;
    for (int i = 0; i < SUMS; i++)
        s[i] = i;
}

static void show(const char *what)
{
    unsigned long hash = 5381;
    for (int i = 0; i < 2 * N + 10; i++)
        hash = hash * 33 + (unsigned)y[i];
    printf("%s: %lu %d %d %d\n", what, hash, s[2], s[3], s[4]);
    fill();
}

int main(void)
{
    int *one = malloc((N + 1) * sizeof(int)), *y1 = y - 1;
    fill();
    for (int i = 0; i <= N; i++)
        one[i] = 7 * i;

#pragma kmm parallel(i = 1:N - 2) chunk(N / 7) rebase(lo: begin(i), hi: end(i)) \
    read(x[i - 1:3]) write(y[i])
    stencil(1, N - 1, x, y);
    show("a stencil's interior");

#pragma kmm parallel(i = 1:N) chunk(N / 5) rebase(lo: begin(i), hi: end(i)) \
    read(one[i]) write(y1[i])
    half(1, N + 1, one, y1);
    show("one-based");

#pragma kmm data map(to: x[0:N]) map(from: y[N / 2:N / 2])
    {
#pragma kmm parallel(i = N / 2:N / 2) chunk(N / 9) rebase(lo: begin(i), hi: end(i)) \
    read(x[i]) write(y[i])
        half(N / 2, N, x, y);
    }
    show("the second half is mapped");

#pragma kmm parallel(i = 0:N) chunk(N / 6) rebase(n: i) read(x[i + 5]) write(y[i + 9])
    shifted(N, x + 5, y + 9);
    show("pointers that are passed behind");

#pragma kmm parallel(i = 0:N) chunk(N / 8) rebase(lo: begin(i), hi: end(i)) read(x[i]) \
    reduce(+: s[3])
    sum(0, N, x, s);
    show("a sum into one element");
    free(one);
    return 0;
}
