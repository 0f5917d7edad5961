/* SPDX-License-Identifier: Apache-2.0 */
/* Smoothes a series several times, and prints its sum and its largest element. */
#include <stdio.h>
#include <stdlib.h>

#include "series.h"

enum { ROUNDS = 6 };

static void smooth(int n, double *x, double *other)
{
    for (int round = 0; round < ROUNDS; round += 2) {
        #pragma kmm parallel(i = 0:n) chunk(n / 8) rebase(begin: begin(i), end: end(i)) \
                    read(x[i-1:3]) write(other[i])
        series_smooth(0, n, n, x, other);
        #pragma kmm parallel(i = 0:n) chunk(n / 8) rebase(begin: begin(i), end: end(i)) \
                    read(other[i-1:3]) write(x[i])
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

    #pragma kmm enter data map(tofrom: x[0:n]) map(alloc: other[0:n])
    smooth(n, x, other);
    #pragma kmm parallel(i = 0:n) chunk(n / 8) rebase(n: i) update(x[i])
    series_scale(n, 0.5, x);

    double sum[1] = {0}, most[1] = {0};
    #pragma kmm parallel(i = 0:n) chunk(n / 8) rebase(n: i) read(x[i]) reduce(+: sum[0])
    series_add(n, x, sum);
    #pragma kmm parallel(i = 0:n) chunk(n / 8) rebase(n: i) read(x[i]) reduce(max: most[0])
    series_most(n, x, most);
    #pragma kmm exit data map(x[0:n], other[0:n])
    printf("report: %d elements, sum %.9g, most %.9g\n", n, sum[0], most[0]);
    free(x);
    free(other);
    return 0;
}
