/* SPDX-License-Identifier: Apache-2.0 */
/* What every benchmark needs: a clock, medians and one form of output. */
#ifndef KMM_BENCH_H
#define KMM_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now(void) /* seconds */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the samples and prints their median and quartiles. */
static inline void bench_report(const char *what, const char *unit, double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof(*samples), bench_compare);
    printf("%-58s %10.3f %-10s (quartiles %.3f %.3f, %d samples)\n", what, samples[count / 2], unit,
           samples[count / 4], samples[count * 3 / 4], count);
}

static inline void bench_check(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s: error %d\n", what, error);
    exit(1);
}

#endif
