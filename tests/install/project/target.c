/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

void scale(int n, float a, float *y);

enum { N = 1000 };
static float y[N];

static void count(int n, const float *all, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] += all[0];
}

int main(void)
{
    static float one[1] = { 1 };
#pragma kmm parallel(i = 0:N) chunk(N / 3) rebase(n: i) update(y[i]) read(one[0:1])
    count(N, one, y);
    scale(N, 21, y);
    scale(N, 2, y);
    printf("%g\n", y[N - 1]);
    return 0;
}
