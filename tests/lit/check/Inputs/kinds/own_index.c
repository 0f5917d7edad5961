// SPDX-License-Identifier: Apache-2.0
// functions: an index of their own
#include <stdio.h>
enum { N = 4096 };
static float x[2 * N], y[2 * N], s[4];
static int at;
static void f(int n, float *a) { for (int i = 0; i < n; i++) a[at++ / 4 % 1024] = 1; }
int main(void)
{
    for (int k = 0; k < 2 * N; k++)
        x[k] = y[k] = k % 11;
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) update(y[i])
    f(N, y);
    return 0;
}
