// RUN: %kmmcc %san -O1 %s -o %t && env KMM_DEVICES=host %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t
// Several parameters get the length of one axis: pointers move once. Of two axes, they move for each.
// Items of 5 and 6 dimensions: sections of flat pointers, of pointers to arrays and of arrays; extents of 1 and 0.
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
enum { P = 24, Q = 3, R = 4, S = 2, T = 5, U = 30 };
static int near[P][Q][R][S][T][U], far[P][Q][R][S][T][U], expected[P][Q][R][S][T][U];

/* Element [a][b][c][d][e][f] of `to` gets what `from` has there and before and behind it in a. */
static void smooth(int lo, int hi, int p, int plane, int *to, const int *from)
{
    for (int a = lo; a < hi; a++)
        for (int k = 0; k < plane; k++)
            to[a * plane + k] = from[a * plane + k] + (a ? from[(a - 1) * plane + k] : 0) +
                                (a + 1 < p ? from[(a + 1) * plane + k] : 0);
}
static void halve(int lo, int hi, int (*m)[Q][R][S][T][U])
{
    for (int a = lo; a < hi; a++)
        for (int k = 0; k < Q * R * S * T * U; k++)
            (&m[a][0][0][0][0][0])[k] /= 2;
}
static void corner(int lo, int hi, int (*m)[R][S][T][U])
{
    for (int a = lo; a < hi; a++)
        for (int k = 0; k < S * T * U; k++)
            (&m[a][R - 1][0][0][0])[k] -= a;
}
static void fill(int lo, int hi, unsigned r, unsigned s, unsigned t, int *y)
{
    for (unsigned k = lo * r * s * t * t; k < hi * r * s * t * t; k++)
        y[k] = (int)k;
}

/* Compares the shape of p x q x r x s x t x u in chunks with one that runs as it stands. */
static int try_shape(int p, int q, int r, int s, int t, int u)
{
    int *x = &near[0][0][0][0][0][0], *y = &far[0][0][0][0][0][0], *z = &expected[0][0][0][0][0][0];
    size_t n = (size_t)p * q * r * s * t * u;
    for (size_t k = 0; k < n; k++)
        x[k] = (int)(k * 7 % 101);
    memset(y, 0, sizeof(far));
    memset(z, 0, sizeof(far));
    smooth(0, p, p, q * r * s * t * u, z, x);
#pragma kmm parallel(i = 0:p) chunk(5) rebase(lo: begin(i), hi: end(i)) shape(x[p][q][r][s][t][u], y[p][q][r][s][t][u]) read(x[i-1:3][:][:][:][:][:]) write(y[i][:][:][:][:][:])
    smooth(0, p, p, q * r * s * t * u, y, x);
    return memcmp(y, z, sizeof(far)) ? printf("%d %d %d %d %d %d\n", p, q, r, s, t, u) : 0;
}

static int six_dimensions(void)
{
    int (*m)[R][S][T][U] = &far[0][0];
    if (try_shape(P, Q, R, S, T, U) || try_shape(7, 1, 1, 1, 3, 1) || try_shape(P, Q, R, S, T, 1) || try_shape(1, 1, R, 1, T, U) ||
        try_shape(P, Q, 0, S, T, U) || try_shape(P, Q, R, S, T, 0) || try_shape(0, Q, R, S, T, U))
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

/* The sizes are unsigned, so that the call is one of few elements. */
static int refused(int p, unsigned r, unsigned s, unsigned t, int *y)
{
// CHECK: two_lengths.c:[[#@LINE+1]]: fill: argument y[i][:][:][:][:]: its shape or its sections are larger than any array
#pragma kmm parallel(i = 0:p) chunk(2) rebase(lo: begin(i), hi: end(i)) shape(y[p][r][s][t][t]) update(y[i][:][:][:][:])
    fill(0, p, r, s, t, y);
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
