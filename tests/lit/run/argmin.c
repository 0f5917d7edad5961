// argmin and argmax over structs of a value and an index; of equal values the smaller index,
// but the target where it has that value. Complex sums.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=4M %t | diff %t.expected -
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

enum { N = 50021 };
typedef struct best { float value; int index; } best_t;
static float x[N];

static void find_least(int lo, int hi, const float *v, best_t *least)
{
    for (int i = lo; i < hi; i++)
        if (v[i] < least->value)
            *least = (best_t){v[i], i};
}

struct pair { long index; double value; };

static void find_most(int lo, int hi, const float *v, struct pair *most)
{
    for (int i = lo; i < hi; i++)
        if (v[i] > most->value)
            *most = (struct pair){i, v[i]};
}

static void sum(int n, const float *v, double complex *total)
{
    for (int i = 0; i < n; i++)
        *total += (int)v[i] % 10 + I * ((int)v[i] % 7);
}

int main(void)
{
    best_t least[1] = {{INFINITY, INT_MAX}}, none[2] = {{0, -1}, {INFINITY, N}};
    struct pair most[2] = {{7, 0}, {LONG_MAX, -INFINITY}};
    double complex total[1] = {1};
    for (int i = 0; i < N; i++)
        x[i] = (i * 7919) % 10007;
    #pragma kmm parallel(i = 0:N) chunk(N / 9) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: least[0])
    find_least(0, N, x, least);
    #pragma kmm parallel(i = 0:N) chunk(N / 9) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: none[0])
    find_least(0, N, x, none);
    for (int half = 1; half >= 0; half--) { /* the later half comes first */
        #pragma kmm parallel(i = half * N / 2:N / 2) chunk(N / 9) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: none[1])
        find_least(half * N / 2, half * N / 2 + N / 2, x, none + 1);
    }
    #pragma kmm parallel(i = 0:N) chunk(N / 9) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmax: most[1])
    find_most(0, N, x, most + 1);
    #pragma kmm parallel(i = 0:N) chunk(N / 9) rebase(n: i) read(x[i]) reduce(+: total[0])
    sum(N, x, total);
    printf("%d %g %d\n", none[0].index, none[1].value, none[1].index);
    printf("%g %d, %g %ld, %g %g\n", least->value, least->index, most[1].value, most[1].index, creal(*total), cimag(*total));
    return 0;
}
