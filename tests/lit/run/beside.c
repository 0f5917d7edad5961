// What lies beside an array, or beside the elements that `reduce` names, is noticed although the index is data, or the clauses are not compared.
// RUN: %kmmcc -fno-kmm-compare -O1 %san %s -o %t
// RUN: not --crash env KMM_DEVICES=host %t 1 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not --crash env KMM_DEVICES=host:3,mem=1M %t 1 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not --crash env KMM_DEVICES=host:3,mem=1M KMM_CHECK=result %t 1 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not --crash env KMM_DEVICES=host %t 2 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: env KMM_DEVICES=host:3,mem=1M %t 3 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env KMM_DEVICES=host:3,mem=8M KMM_CHECK=access %t 4 2>&1 | FileCheck %s --check-prefix=GHOST
// RUN: env KMM_DEVICES=host:3,mem=8M KMM_CHECK=access %t 5 2>&1 | FileCheck %s --check-prefix=ADDED
// RUN: not --crash env KMM_DEVICES=host:3,mem=8M KMM_CHECK=access %t 6 2>&1 | FileCheck %s --check-prefix=OUTSIDE
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000 };
static int bin[N], count[16], room[64], sign[24];
static double value[N + 2], result[N + 2], total[1];

static void histogram(int n, const int *a, int *h) { for (int i = 0; i < n; i++) h[a[i]]++; }
static void neighbours(int lo, int hi, const double *u, double *v) { for (int i = lo; i < hi; i++) v[i] = u[i - 1] + u[i + 1]; }
static void sum(int lo, int hi, const double *u, double *s) { for (int i = lo; i < hi; i++) *s += u[i] * u[i + 1]; }
static void spill(int lo, int hi, double *v) { for (int i = lo; i < hi; i++) v[i] = i; if (hi == N) v[hi] = 1; }

int main(int argc, char **argv)
{
    const int test = argc > 1 ? atoi(argv[1]) : 0, last = N - 1;
    double *u = value + 1, *v = result + 1;
    for (int i = 0; i < N; i++)
        bin[i] = i % 16 - (test == 2);
    for (int i = -1; i <= N; i++)
        u[i] = 1;
    // LOST: kmm: error: {{.*}}beside.c:[[#@LINE + 2]]: histogram: argument count[0:8]: a chunk changes element 8, which no clause names, so that what it stores there is lost; widen the region
    if (test == 1) {
        #pragma kmm parallel(i = 0:N) chunk(2000) rebase(n: i) read(bin[i]) reduce(+: count[0:8])
        histogram(N, bin, count);
    }
    // BEFORE: kmm: error: {{.*}}beside.c:[[#@LINE + 2]]: histogram: argument (sign + 4)[0:16]: a chunk changes element -1, which no clause names
    if (test == 2) {
        #pragma kmm parallel(i = 0:N) chunk(2000) rebase(n: i) read(bin[i]) reduce(+: (sign + 4)[0:16])
        histogram(N, bin, sign + 4);
    }
    // RIGHT-NOT: kmm
    // RIGHT: 1250 1250
    if (test == 3) {
        #pragma kmm parallel(i = 0:N) chunk(2000) rebase(n: i) read(bin[i]) reduce(+: room[0:64])
        histogram(N, bin, room);
    }
    #pragma kmm data map(tofrom: u[0:N], v[0:N])
    {
        // GHOST: kmm: warning: {{.*}}neighbours: chunk 0 of 4: argument u[i-1:3]: the chunk has read elements that no clause lets it read, and stored them to argument v[i], or sums with them, elements 0 to 0
        if (test == 4) {
            #pragma kmm parallel(i = 0:N) chunk(5000) rebase(lo: begin(i), hi: end(i)) read(u[i-1:3]) write(v[i])
            neighbours(0, N, u, v);
        }
        // ADDED: kmm: warning: {{.*}}sum: chunk {{.*}} of 4: argument u[i]: the chunk has read elements that no clause lets it read, and stored them to argument total[0], or sums with them
        if (test == 5) {
            #pragma kmm parallel(i = 0:last) chunk(5000) rebase(lo: begin(i), hi: end(i)) read(u[i]) reduce(+: total[0])
            sum(0, last, u, total);
        }
        // OUTSIDE: kmm: error: {{.*}}spill: chunk 3 of 4: argument v[i]: the chunk stores 0 bytes behind the end of its array, which none of its clauses names
        if (test == 6) {
            #pragma kmm parallel(i = 0:N) chunk(5000) rebase(lo: begin(i), hi: end(i)) update(v[i])
            spill(0, N, v);
        }
    }
    printf("%d %d\n", room[0], room[15]);
    return 0;
}
