// RUN: %kmmcc %san -O1 %s -o %t && env KMM_DEVICES=host %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t
// Several parameters get the length of one axis: pointers move once. Of two axes, they move for each.
// Items of 5 and 6 dimensions: sections of flat pointers, of pointers to arrays and of arrays; outermost extents of 1 and 0.
// RUN: env KMM_DEVICES=host %not --crash %t large 2>&1 | FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void twice(int n, int m, int *y, int *z)
{
    for (int i = 0; i < n; i++)
        y[i] += 1;
    for (int i = 0; i < m; i++)
        z[i] -= 1;
}
static void rows(int n, long same, int w, int stride, int *y)
{
    for (int i = 0; i < n && i < same; i++)
        for (int k = 0; k < w; k++)
            y[i * stride + k] += 2;
}
enum { P = 24, Q = 3, R = 4, S = 2, T = 5, U = 30, PLANE = Q * R * S * T * U };
static int near[P][Q][R][S][T][U], far[P][Q][R][S][T][U], expected[P][Q][R][S][T][U];

/* Element [a][b][c][d][e][f] of `to` gets what `from` has there and before and behind it in a. */
static void smooth(int lo, int hi, int p, int *to, const int *from)
{
    for (int a = lo; a < hi; a++)
        for (int k = 0; k < PLANE; k++)
            to[a * PLANE + k] = from[a * PLANE + k] + (a ? from[(a - 1) * PLANE + k] : 0) +
                                (a + 1 < p ? from[(a + 1) * PLANE + k] : 0);
}
static void halve(int lo, int hi, int (*m)[Q][R][S][T][U])
{
    for (int a = lo; a < hi; a++)
        for (int k = 0; k < U; k++)
            m[a][Q - 1][R - 1][0][T - 1][k] /= 2;
}
static void corner(int lo, int hi, int (*m)[R][S][T][U])
{
    for (int a = lo; a < hi; a++)
        for (int k = 0; k < U; k++)
            m[a][R - 1][0][T - 1][k] -= a;
}
static void fill(int lo, int hi, int *y)
{
    for (int k = lo; k < hi; k++)
        y[k] = k;
}

/* Compares a launch in chunks with a call that runs as it stands. */
static int try_shape(int p)
{
    int *x = &near[0][0][0][0][0][0], *y = &far[0][0][0][0][0][0], *z = &expected[0][0][0][0][0][0];
    for (int k = 0; k < p * PLANE; k++)
        x[k] = k * 7 % 101;
    memset(y, 0, sizeof(far));
    memset(z, 0, sizeof(far));
    smooth(0, p, p, z, x);
#pragma kmm parallel(i = 0:p) chunk(5) rebase(lo: begin(i), hi: end(i)) shape(x[p][Q][R][S][T][U], y[p][Q][R][S][T][U]) read(x[i-1:3][:][:][:][:][:]) write(y[i][:][:][:][:][:])
    smooth(0, p, p, y, x);
    return memcmp(y, z, sizeof(far)) ? printf("%d\n", p) : 0;
}

static int six_dimensions(void)
{
    int (*m)[R][S][T][U] = &far[0][0];
    if (try_shape(P) || try_shape(7) || try_shape(1) || try_shape(0))
        return 1;
    memcpy(far, near, sizeof(far));
    memcpy(expected, near, sizeof(far));
    halve(0, P, expected);
    corner(0, P * Q, &expected[0][0]);
#pragma kmm parallel(i = 0:P) chunk(5) rebase(lo: begin(i), hi: end(i)) update(far[i][:][:][:][:][:])
    halve(0, P, far);
#pragma kmm parallel(i = 0:P * Q) chunk(7) rebase(lo: begin(i), hi: end(i)) update(m[i][R - 1][:][:][:])
    corner(0, P * Q, m);
    return memcmp(far, expected, sizeof(far)) ? printf("6 dimensions of arrays\n") : 0;
}

static int refused(int p, int r, int s, int t, int *y)
{
// CHECK: two_lengths.c:[[#@LINE+1]]: fill: argument y[i][:][:][:][:]: its shape or its sections are larger than any array
#pragma kmm parallel(i = 0:p) chunk(2) rebase(lo: begin(i), hi: end(i)) shape(y[p][r][s][t][t]) update(y[i][:][:][:][:])
    fill(0, p, y);
    return 0;
}

int main(int argc, char *argv[])
{
    enum { N = 100000, W = 500 };
    if (argc > 1 && !strcmp(argv[1], "large"))
        return refused(6, 1 << 20, 1 << 20, 1 << 20, &near[0][0][0][0][0][0]);
    int *y = calloc(N, sizeof(int)), *z = calloc(N, sizeof(int));
#pragma kmm parallel(i = 0:N) chunk(N / 7) rebase(n: i, m: i) update(y[i], z[i])
    twice(N, N, y, z);
#pragma kmm parallel(i = 0:N / W, k = 0:W) chunk(N / W / 3, W / 2) rebase(n: i, same: i, w: k) shape(y[N / W][W]) update(y[i][k])
    rows(N / W, N / W, W, W, y);
    for (int i = 0; i < N; i++)
        if (y[i] != 3 || z[i] != -1)
            return printf("y[%d] is %d, z[%d] is %d\n", i, y[i], i, z[i]), 1;
    return six_dimensions();
}
