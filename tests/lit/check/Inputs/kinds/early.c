// SPDX-License-Identifier: Apache-2.0
// functions: an early end by data
#include <stdio.h>
#include <stdlib.h>
enum { N = 4096 };
static int x[N], y[N];
static void f(int n, const int *a, int *b) { for (int i = 0; i < n && a[i] != 3000; i++) b[i] = a[i]; }
int main(void)
{
    for (int k = 0; k < N; k++)
        x[k] = k * 7919 % 4099;
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) read(x[i]) update(y[i])
    f(N, x, y);
    printf("%d\n", y[N - 1]);
    return 0;
}
