/* SPDX-License-Identifier: Apache-2.0 */
/* Smoothes a series several times, and prints its sum and its largest element. */
#include <stdio.h>
#include <stdlib.h>

#include "series.h"

enum { ROUNDS = 6 };

static void smooth(int n, double *x, double *other)
{
    for (int round = 0; round < ROUNDS; round += 2) {
        series_smooth(0, n, n, x, other);
        series_smooth(0, n, n, other, x);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 400000;
    if (argc > 2 || n < 1 || n > 100000000) {
        fprintf(stderr, "usage: report [elements]\n");
        return 2;
    }
    double *x = malloc(n * sizeof(double)), *other = malloc(n * sizeof(double));
    if (!x || !other)
        return 1;
    for (int i = 0; i < n; i++)
        x[i] = i * 7919L % 1009;

    smooth(n, x, other);
    series_scale(n, 0.5, x);

    double sum[1] = {0}, most[1] = {0};
    series_add(n, x, sum);
    series_most(n, x, most);
    printf("report: %d elements, sum %.9g, most %.9g\n", n, sum[0], most[0]);
    free(x);
    free(other);
    return 0;
}
