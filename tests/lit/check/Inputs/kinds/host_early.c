// SPDX-License-Identifier: Apache-2.0
// the host reads what a launch with `nowait` stores
#include <stdio.h>
enum { N = 4096 };
static float x[2 * N], y[2 * N], s[4];
static void f(int n, const float *a, float *b) { for (int i = 0; i < n; i++) b[i] += a[i]; }
int main(void)
{
    for (int k = 0; k < 2 * N; k++)
        x[k] = y[k] = k % 11;
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) read(x[i]) update(y[i]) nowait
    f(N, x, y);
    printf("%g\n", y[N - 1]);
#pragma kmm wait
    return 0;
}
