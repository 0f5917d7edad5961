// SPDX-License-Identifier: Apache-2.0
// functions: an algorithm over the whole range
#include <stdio.h>
#include <stdlib.h>
enum { N = 4096 };
static int x[N], y[N];
static int order(const void *p, const void *q) { return *(const int *)p - *(const int *)q; }
static void f(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = a[i]; qsort(b, (size_t)n, sizeof(*b), order); }
int main(void)
{
    for (int k = 0; k < N; k++)
        x[k] = k * 7919 % 4099;
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) read(x[i]) update(y[i])
    f(N, x, y);
    printf("%d\n", y[N - 1]);
    return 0;
}
