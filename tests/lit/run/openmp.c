// OpenMP directives around kmm's, and kmm's around OpenMP's.
// RUN: %cc -fopenmp -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -fopenmp -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
#include <stdio.h>
#ifdef _OPENMP
enum { WITH_OPENMP = 1 };
#else
enum { WITH_OPENMP = 0 };
#endif
enum { N = 1000 };
static float a[6][N], b[N], c[N], d[N], e[N];
static void add(int n, float *y) { for (int i = 0; i < n; i++) y[i] += 1; }

int main(void)
{
    int n = N;
#pragma omp parallel for default(none) shared(a, n)
    for (int k = 0; k < 6; k++) {
        float *y = a[k];
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(y[i])
        add(n, y);
    }
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(b[i])
        add(n, b);
#pragma omp barrier
#pragma omp single
        {
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(b[i])
            add(n, b);
        }
#pragma omp sections
        {
#pragma omp section
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(d[i])
            add(n, d);
#pragma omp section
            {
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(e[i])
                add(n, e);
            }
        }
    }
#pragma kmm task update(c[0:n])
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        c[i] += 2;
    printf("%d %g %g %g %g %g\n", WITH_OPENMP, a[5][n - 1], d[0], e[3], b[7], c[7]);
    return 0;
}
