// RUN: %cc -O1 %s -o %t.plain -lm && %t.plain > %t.right
// RUN: %kmmcc -O1 %s -o %t -lm 2>&1 | FileCheck --allow-empty --implicit-check-not=warning: %s
// RUN: env KMM_DEVICES=host %t | diff %t.right -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.right -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_CHECK=access %t | diff %t.right -
// REQUIRES: ir
// Where the target is a NaN, fmin and fmax take the number, and a comparison keeps the NaN.
#include <math.h>
#include <stdio.h>
enum { N = 5000 };
static double x[N];
static float y[N];
static void least(int n, const double *a, double *s) { for (int i = 0; i < n; i++) s[0] = fmin(s[0], a[i]); }
static void most(int n, const float *a, float *s) { float t = -INFINITY; for (int i = 0; i < n; i++) t = fmaxf(t, a[i]); *s = fmaxf(*s, t); }
static void less(int n, const double *a, double *s) { for (int i = 0; i < n; i++) if (a[i] < *s) *s = a[i]; }
int main(void)
{
    double s[3] = {NAN, NAN, 7}, t = NAN, u = 1;
    float m = NAN, none = NAN;
    for (int i = 0; i < N; i++)
        x[i] = i % 97 == 5 ? NAN : i % 89 - 3, y[i] = i / 7.0f;
    #pragma kmm parallel(i = 0:N) chunk(611) rebase(n: i) read(x[i]) reduce(min: s[0])
    least(N, x, s);
    #pragma kmm parallel(i = 0:N) chunk(611) rebase(n: i) read(x[i]) reduce(min: (&t)[0])
    less(N, x, &t);
    #pragma kmm parallel(i = 0:N) chunk(611) rebase(n: i) read(x[i]) reduce(min: (&u)[0])
    least(N, x, &u);
    #pragma kmm parallel(i = 0:N) chunk(611) rebase(n: i) read(y[i]) reduce(max: (&m)[0])
    most(N, y, &m);
    for (int i = 0; i < N; i++)
        y[i] = NAN;
    #pragma kmm parallel(i = 0:N) chunk(611) rebase(n: i) read(y[i]) reduce(max: (&none)[0])
    most(N, y, &none);
    printf("%g %d %g %g %g %d\n", s[0], isnan(t), u, m, s[2], isnan(none) || none < 0);
    return 0;
}
