// SPDX-License-Identifier: Apache-2.0
// functions: a local array that lives across iterations
#include <stdio.h>
#include <stdlib.h>
enum { N = 4096 };
static int x[N], y[N];
static void f(int n, const int *a, int *b) { int r[4] = {0}; for (int i = 0; i < n; i++) { b[i] = r[a[i] & 3]; r[(a[i] + 1) & 3] = a[i]; } }
int main(void)
{
    for (int k = 0; k < N; k++)
        x[k] = k * 7919 % 4099;
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) read(x[i]) write(y[i])
    f(N, x, y);
    printf("%d\n", y[N - 1]);
    return 0;
}
