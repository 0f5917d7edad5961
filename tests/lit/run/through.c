// SPDX-License-Identifier: Apache-2.0
// The items' bases are not what the call passes: they lie behind it, in a struct, or in a part of
// an array that a `data` region maps. The program counts what differs from the plain result.
// RUN: %kmmcc %s -o %t %san
// RUN: env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// RUN: env KMM_CHECK=access %t 2>&1 | FileCheck %s
// CHECK-NOT: kmm
// CHECK: bad 0 0 0 0 0 0 0
// CHECK-NOT: kmm
#include <stdio.h>

enum { N = 4000 };
struct S {
    int n;
    float a[N];
    double tail;
};
struct R {
    int n;
    double sum;
    int most;
};
static int x[N + 200], y[N + 200];
static struct S s, t;
static float z[3 * N], w[3 * N];

static void shifted(int lo, int hi, const int *from, int *to)
{
    for (int i = lo; i < hi; i++)
        to[i + 50] = from[i + 100];
}

static void inside(int lo, int hi, const struct S *p, struct S *q)
{
    for (int i = lo; i < hi; i++)
        q->a[i] = (float)p->n * p->a[i];
}

static void part(int lo, int hi, const float *from, float *to)
{
    for (int i = lo; i < hi; i++)
        to[i + N] = from[i + N] + 1;
}

static void sum(int lo, int hi, const int *from, struct R *r)
{
    for (int i = lo; i < hi; i++) {
        r->sum += from[i];
        r->most = from[i] > r->most ? from[i] : r->most;
    }
}

static void stride(int n, const float *from, float *to)
{
    for (int i = 0; i < n; i++)
        to[2 * i] = from[i];
}

static void add(int n, int *to, const int *one)
{
    for (int i = 0; i < n; i++)
        to[i] += *one;
}

static void row(int n, const float *from, float *to, float *total)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[i] + 1;
        *total += from[i];
    }
}

int main(void)
{
    static float table[8][N];
    struct R r = {.sum = 1}, *d = &r;
    struct S *p = &s, *q = &t;
    int bad[7] = {0};
    for (int i = 0; i < N + 200; i++)
        x[i] = i;
#pragma kmm parallel(i = 0 : N) chunk(300) rebase(lo : begin(i), hi : end(i)) read((x + 100)[i])   \
    write((&y[50])[i])
    shifted(0, N, x, y);
    for (int i = 0; i < N + 200; i++)
        bad[0] += y[i] != (i >= 50 && i < N + 50 ? i + 50 : 0);

    s.n = 2;
    for (int i = 0; i < N; i++)
        s.a[i] = (float)i;
#pragma kmm parallel(i = 0 : N) chunk(300) rebase(lo : begin(i), hi : end(i))                      \
    read((&p->n)[0 : 1], p->a[i]) write(q->a[i])
    inside(0, N, p, q);
    for (int i = 0; i < N; i++)
        bad[1] += t.a[i] != 2 * (float)i;
    bad[1] += t.n != 0 || t.tail != 0;

#pragma kmm data map(to : z[N:N]) map(tofrom : w[N:N])
    {
#pragma kmm parallel(i = 0 : N) chunk(300) rebase(lo : begin(i), hi : end(i)) read((z + N)[i])     \
    write((w + N)[i])
        part(0, N, z, w);
    }
    for (int i = 0; i < 3 * N; i++)
        bad[2] += w[i] != (i >= N && i < 2 * N ? 1 : 0);

#pragma kmm parallel(i = 0 : N) chunk(300) rebase(lo : begin(i), hi : end(i)) read(x[i])           \
    reduce(+ : (&d->sum)[0]) reduce(max : (&d->most)[0])
    sum(0, N, x, d);
    bad[3] = r.sum != 1 + (double)N * (N - 1) / 2 || r.most != N - 1 || r.n != 0;

    for (int i = 0; i < N; i++)
        z[i] = (float)i;
#pragma kmm parallel(i = 0 : N) chunk(300) rebase(n : i) read(z[i]) update((z + N)[2 * i])
    stride(N, z, z + N);
    for (int i = 0; i < N; i++)
        bad[4] += z[N + 2 * i] != (float)i;

#pragma kmm parallel(i = 0 : N) chunk(300) rebase(n : i) update(x[i]) read(x[N + 9])
    add(N, x, &x[N + 9]);
    for (int i = 0; i < N; i++)
        bad[5] += x[i] != i + N + 9;

    float total = 0;
    for (int i = 0; i < N; i++)
        total += table[2][i] = (float)(i % 3);
#pragma kmm parallel(i = 0 : N) chunk(300) rebase(n : i) read(table[2][i]) write(table[5][i])      \
    reduce(+ : table[7][10])
    row(N, table[2], table[5], &table[7][10]);
    for (int i = 0; i < N; i++)
        bad[6] += table[5][i] != (float)(i % 3 + 1);
    bad[6] += table[7][10] != total;
    printf("bad %d %d %d %d %d %d %d\n", bad[0], bad[1], bad[2], bad[3], bad[4], bad[5], bad[6]);
}
