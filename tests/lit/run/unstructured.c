// enter and exit data, update, wait for single arrays, nowait, _Pragma, placement: as the erased program.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=4M %t | diff %t.expected -
#include <stdio.h>
#include <stdlib.h>

enum { N = 100003 };
static double fixed[N];

static void twice(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] *= 2;
}

static double sum(int n, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}

int main(void)
{
    int n = N;
    double *x = malloc((size_t)n * sizeof(double)), scratch[10], total = 0;
    for (int i = 0; i < n; i++)
        x[i] = fixed[i] = i % 10;
    #pragma kmm enter data map(x[0:n], fixed) map(alloc: scratch)
    #pragma kmm parallel(i = 0:n) chunk(n / 7) rebase(n: i) update(x[i])
    twice(n, x);
    _Pragma("kmm parallel(i = 0:n) chunk(n / 7) rebase(n: i) update(x[i]) label(\"the \\\"second\\\"\")") twice(n, x);
    for (int k = 0; k < 3; k++)
        _Pragma("kmm parallel(i = 0:n) chunk(n / 7) rebase(n: i) update(fixed[i]) schedule(cyclic) priority(k)") twice(n, fixed);
    #pragma kmm update from(x[10:10], fixed)
    printf("%g %g\n", x[15], fixed[N - 1]);
    for (int i = 10; i < 20; i++)
        x[i] = 1000;
    #pragma kmm update to(x[10:10])
    #pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) device(host) schedule(block)
    twice(n, x);
    #pragma kmm update from(x)
    printf("%g\n", sum(n, x));
    #pragma kmm task read(x, fixed[0:N]) priority(2) label("sums")
    {
        total += sum(n, x) + sum(N, fixed);
    }
    printf("%g\n", total);
    #pragma kmm enter data map(x[0:n])
    #pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) schedule(locality) device(all)
    twice(n, x);
    #pragma kmm wait(x, fixed)
    #pragma kmm exit data map(x[0:n])
    #pragma kmm exit data map(x[0:n], fixed) map(scratch)
    printf("%g %g\n", x[0], x[12]);
    #pragma kmm task update(x[0:n])
    twice(n, x);
    #pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) nowait
    twice(n, x);
    #pragma kmm wait(x)
    printf("%g\n", sum(n, x));
    #pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) nowait
    twice(n, x);
    #pragma kmm wait
    printf("%g\n", sum(n, x));
    free(x);
    return 0;
}
