// SPDX-License-Identifier: Apache-2.0
// functions: an array by its global name
#include <stdio.h>
enum { N = 4096 };
static float x[2 * N], y[2 * N], s[4];
static void f(int n, float *b) { for (int i = 0; i < n; i++) b[i] = x[i]; }
int main(void)
{
    for (int k = 0; k < 2 * N; k++)
        x[k] = y[k] = k % 11;
#pragma kmm data map(tofrom: x, y)
    {
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) read(x[i]) write(y[i])
    f(N, y);
    }
    return 0;
}
