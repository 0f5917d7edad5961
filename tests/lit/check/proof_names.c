// RUN: %kmmcc -O1 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=warning: --implicit-check-not=error: %s
// REQUIRES: ir
// Variables that a function reads by their names, and that a directive or a reduction names by a pointer. Every warning is in the list at the end.
enum { N = 1000 };
#define LENGTH _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) write(a[i])")
double norm(const double *x);

static void restricted_copy(int n, const double *x, double *restrict t) { for (int i = 0; i < n; i++) t[i] = x[i]; }
static double made[N], filled[N], far_bound, near_bound;
static int made_int[N];
static void uses_made(int n, const double *x, double *a) { for (int i = 0; i < n; i++) a[i] = x[i] + made[(int)x[i]]; }
static void uses_filled(int n, const double *x, double *a) { for (int i = 0; i < n; i++) a[i] = x[i] + filled[(int)x[i]] + made_int[(int)x[i]]; }
static void prunes(int n, const double *x, double *s) { for (int i = 0; i < n; i++) if (far_bound < 3) *s += x[i]; }
static void limits(int n, const double *x, double *s) { for (int i = 0; i < n; i++) if (near_bound < 3) *s += x[i]; }
static void total_by(int n, const double *x, double *s)
{
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(+: s[0])
    prunes(n, x, s);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(+: s[0])
    limits(n, x, s);
}
static void make(int n, const double *x, double *t)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(t[i]) nowait
    restricted_copy(n, x, t);
}
void by_pointer(int n, const double *x, double *a, double *s)
{
    make(n, x, made);
    norm(made_int[0] ? x : a);
    LENGTH uses_made(n, x, a);
    LENGTH uses_filled(n, x, a);
    total_by(n, x, &far_bound);
#pragma kmm wait
}
// CHECK: warning: it is not proven that chunks of 'prunes' give what one call gives, since it reads a variable that may be what it reduces
// CHECK: warning: it is not proven that chunks of 'uses_made' give what one call gives, since it reads by its name a variable that may be on a device: directives of the file name arrays by pointers
