// RUN: %kmmcc -O1 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=warning: --implicit-check-not=error: %s
// REQUIRES: ir
// Pointers that may lead into one array, and inner loops that may leave their row. Every warning is in the list at the end.
#include <stddef.h>
#include <string.h>

enum { N = 1000 };
struct grid { int nx, ny; double dx; double *u, *v; };
struct pair { double x, y; };
static double memory[N + 1], table[N + 1], *gu = memory, *gv = memory;
static const double weights[3] = {1, 2, 3};
static double own[3], shown[N], defined_here, *shown_by = shown;
double outer[3];
extern double declared[3];
static struct { double a, b, c[2]; int n; } setting;
static struct grid *grid;
static struct pair *pairs;
static struct cell { double weight; int next; } *cells;
double norm(const double *x);

// ---- Not proven ----
static void chain(int lo, int hi, double *y) { for (int i = lo; i < hi; i++) { gu[i] = gv[i + 1]; y[i] = 0; } }
static void named(int lo, int hi, double *y) { for (int i = lo; i < hi; i++) y[i] = table[i + 1]; }
static void first(int n, double *y) { for (int i = 0; i < n; i++) y[i] /= table[0]; }
static void by_data(int n, const int *v, double *y) { for (int i = 0; i < n; i++) y[i] = shown[v[i]]; }
static void elsewhere(int n, double *y) { for (int i = 0; i < n; i++) y[i] /= declared[0]; }
static void from_global(int lo, int hi, double *y) { for (int i = lo; i < hi; i++) y[i] = gu[i + 1]; }
static void from_struct(int lo, int hi, const struct grid *s, double *y) { for (int i = lo; i < hi; i++) y[i] = s->u[i + 1]; }
static void two_stores(int lo, int hi, double *y) { for (int i = lo; i < hi; i++) { gu[i] = 1; gv[i + 1] = 2; y[i] = 1; } }
static void from_rows(int n, double **r, double *y) { for (int i = 0; i < n; i++) y[i] = r[i][1]; }
static void flat(int n, double *y) { for (int i = 0; i < n; i++) y[i] *= pairs->x; }
static void lengths(int n, int k, const int *v, double *y) { for (int i = 0; i < n; i++) for (int j = 0; j < v[i]; j++) y[i * k + j] = v[i]; }
static void until(int n, const int *v, double *y) { for (int i = 0; i < n; i++) for (int j = 0; v[j]; j++) y[i * 16 + j] = v[j]; }
static void reads_on(int n, const int *v, double *y) { for (int i = 0; i < n; i++) for (int j = 0; j < v[i]; j++) y[i * 16] += y[i * 16 + j]; }
static void related(int lo, int hi, int s, int d, double *y) { for (int i = lo; i < hi; i++) y[i * s] = y[i * s - d] + 1; }
static void strided_view(int n, const int *v, double *y) { for (int i = 0; i < n; i++) y[2 * i] += cells[v[i]].weight; }

// ---- Proven ----
static void two_numbers(int n, int s, int d, double *y) { for (int i = 0; i < n; i++) y[i * s] = y[i * s + 1] + d; }
static void dense(int n, const int *v, double *y) { for (int i = 0; i < n; i++) y[i] += cells[v[i]].weight; }
static void other_type(int n, const int *v, double *y) { for (int i = 0; i < n; i++) y[2 * i] += cells[v[i]].next; }
static void constants(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = x[i] * weights[(int)x[i] % 3]; }
static void not_shown(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = x[i] * own[0] + outer[(int)x[i] % 3]; }
static void scalars(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = x[i] * defined_here + setting.b + setting.n; }
static void members(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = x[i] * grid->dx + grid->nx; }
static void restricted(int n, double **r, double *restrict y) { for (int i = 0; i < n; i++) y[i] = r[i][1] + table[1]; }
static void same_index(int lo, int hi, double *y) { for (int i = lo; i < hi; i++) y[i] = gu[i] + table[i]; }
static void follows(int lo, int hi, const struct grid *s) { for (int i = lo; i < hi; i++) s->u[i] += s->nx; }
static void at_most(int n, const int *v, double *y) { for (int i = 0; i < n; i++) for (int j = 0; j < 16 && v[j]; j++) y[i * 16 + j] = v[j]; }
static void least(int n, const int *v, double *y) { for (int i = 0; i < n; i++) { const int m = v[i] < 16 ? v[i] : 16; for (int j = 0; j < m; j++) y[i * 16 + j] = m; } }
static void half(int n, int w, double *y) { for (int i = 0; i < n; i++) for (int j = 0; j < w / 2; j++) y[i * w + j] = j; }
static void fill(double *c, int n) { for (int i = 0; i < n; i++) c[i] = i; }

void launches(int n, struct grid *s, int *v, double **r, double *x, double *a)
{
    double *b = table;
    fill(own, 3);
    memset(own, 0, sizeof own);
    defined_here = norm(x) + own[0];
#define LENGTH _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) update(a[i])")
#define BOUNDS _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) write(a[i])")
#define ROWS _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(v[0:n]) update(a[16*i:16])")
#define OWN _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(v[i]) update(a[16*i:16])")
    BOUNDS chain(0, n, a);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) write(b[i])
    named(0, n, b);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(b[i])
    first(n, b);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(v[i]) write(a[i])
    by_data(n, v, a);
    LENGTH elsewhere(n, a);
    BOUNDS from_global(0, n, a);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(s[0:1]) write(a[i])
    from_struct(0, n, s, a);
    BOUNDS two_stores(0, n, a);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(r[i]) write(a[i])
    from_rows(n, r, a);
    LENGTH flat(n, a);
    OWN lengths(n, 16, v, a);
    ROWS until(n, v, a);
    OWN reads_on(n, v, a);
#define HALVES _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(v[i]) update(a[2*i])")
    HALVES strided_view(n, v, a);
#pragma kmm parallel(i = 1:n) chunk(100) rebase(lo: begin(i), hi: end(i)) update(a[16*i]) read(a[16*i-15])
    related(1, n, 16, 15, a);

#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(v[i]) update(a[i])
    dense(n, v, a);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(a[4*i+1]) update(a[4*i])
    two_numbers(n, 4, 3, a);
    HALVES other_type(n, v, a);
    LENGTH constants(n, x, a);
    LENGTH not_shown(n, x, a);
    LENGTH scalars(n, x, a);
    LENGTH members(n, x, a);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(r[i]) write(a[i])
    restricted(n, r, a);
    BOUNDS same_index(0, n, a);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(s[0:1])
    follows(0, n, s);
    ROWS at_most(n, v, a);
    OWN least(n, v, a);
    ROWS half(n, 16, a);
}
double *shown_at(int k) { return shown_by + k; }

// CHECK: warning: it is not proven that chunks of 'chain' give what one call gives, since it reads through another pointer or name what another iteration may store
// CHECK: warning: it is not proven that chunks of 'named' give what one call gives, since it reads through another pointer or name what another iteration may store
// CHECK: warning: it is not proven that chunks of 'first' give what one call gives, since it reads through another pointer or name what another iteration may store
// CHECK: warning: it is not proven that chunks of 'by_data' give what one call gives, since it reads a variable that may be what it stores
// CHECK: warning: it is not proven that chunks of 'elsewhere' give what one call gives, since it reads through another pointer or name what another iteration may store
// CHECK: warning: it is not proven that chunks of 'from_global' give what one call gives, since it reads through another pointer or name what another iteration may store
// CHECK: warning: it is not proven that chunks of 'from_struct' give what one call gives, since it reads through another pointer or name what another iteration may store
// CHECK: warning: it is not proven that chunks of 'two_stores' give what one call gives, since it stores through another pointer, perhaps to where another iteration stores
// CHECK: warning: it is not proven that chunks of 'from_rows' give what one call gives, since it reads through a pointer that lies in memory, which may lead to what it stores
// CHECK: warning: it is not proven that chunks of 'flat' give what one call gives, since it reads through another pointer or name what another iteration may store
// CHECK: warning: it is not proven that chunks of 'lengths' give what one call gives, since it stores in an inner loop that data ends, perhaps to what another iteration accesses
// CHECK: warning: it is not proven that chunks of 'until' give what one call gives, since it stores in an inner loop that data ends, perhaps to what another iteration accesses
// CHECK: warning: it is not proven that chunks of 'reads_on' give what one call gives, since it reads in an inner loop that data ends, perhaps what another iteration stores
// CHECK: warning: it is not proven that chunks of 'strided_view' give what one call gives, since it reads through another pointer
// CHECK: warning: it is not proven that chunks of 'related' give what one call gives, since it reads what another iteration stores
