/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all benchmarks: a clock, medians and one form of output. In C, C++ and CUDA. */
#ifndef KMM_BENCH_H
#define KMM_BENCH_H

#include <stdarg.h>
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

/*
 * Prints one figure in the form that bench/report reads:
 *
 *     row SUBJECT "NAME" VALUE UNIT [baseline VALUE]
 *
 * SUBJECT is the benchmark and what it measures, such as vector_add/chunks. The baseline is the
 * figure of what the row is compared with, in the same unit; 0: there is none. Of s, ms, us and ns,
 * and of us/chunk and its like, less is better; of every other unit more. SUBJECT and UNIT have no
 * blanks. NAME, a format with its arguments, is what the page calls the row.
 */
__attribute__((format(printf, 5, 6))) static inline void bench_row(const char *subject,
                                                                   double value, double baseline,
                                                                   const char *unit,
                                                                   const char *name, ...)
{
    va_list args;
    printf("row %s \"", subject);
    va_start(args, name);
    vprintf(name, args);
    va_end(args);
    printf("\" %.5g %s", value, unit);
    if (baseline > 0)
        printf(" baseline %.5g", baseline);
    printf("\n");
    fflush(stdout);
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
