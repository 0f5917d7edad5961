#include <stdio.h>

#include "size.h"

static float x[N], y[N];

static void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = i;
#pragma kmm parallel(i = 0:N) chunk(100) rebase(n: i) read(x[i]) update(y[i])
    saxpy(N, 2, x, y);
    printf("%g\n", y[N - 1]);
    return 0;
}
