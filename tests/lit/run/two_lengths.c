// RUN: %kmmcc %san -O1 %s -o %t && env KMM_DEVICES=host %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t
// Several parameters get the length of one axis: pointers move once. Of two axes, they move for each.
#include <stdio.h>
#include <stdlib.h>
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
int main(void)
{
    enum { N = 100000, W = 500 };
    int *y = calloc(N, sizeof(int)), *z = calloc(N, sizeof(int));
#pragma kmm parallel(i = 0:N) chunk(N / 7) rebase(n: i, m: i) update(y[i], z[i])
    twice(N, N, y, z);
#pragma kmm parallel(i = 0:N / W, k = 0:W) chunk(N / W / 3, W / 2) rebase(n: i, same: i, w: k) shape(y[N / W][W]) update(y[i][k])
    rows(N / W, N / W, W, W, y);
    for (int i = 0; i < N; i++)
        if (y[i] != 3 || z[i] != -1)
            return printf("y[%d] is %d, z[%d] is %d\n", i, y[i], i, z[i]), 1;
    return 0;
}
