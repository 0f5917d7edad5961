// RUN: %kmmcc -O1 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=warning: --implicit-check-not=error: %s
// RUN: %kmmcc -O1 -Wno-kmm-unproven -Wno-kmm-update -c %s -o %t.o 2>&1 | FileCheck --allow-empty --implicit-check-not=kmm %s --check-prefix=NONE
// REQUIRES: ir
// Functions whose chunks are proven to give what one call gives, and functions of which it is said
// that this is not proven, with the reason. Every warning is in the list at the end.
// NONE-NOT: unproven
#include <algorithm>
#include <array>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <err.h>
#include <functional>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>
#define LENGTH _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) write(y[i])")
#define KEPT _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) update(y[i])")
#define BOUNDS _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) write(y[i])")
#define UPDATE _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) update(y[i])")
#define HALO _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i-1:3]) write(y[i])")
#define ROWS _Pragma("kmm parallel(i = 0:n) chunk(10) rebase(n: i) shape(x[n][w], y[n][w]) read(x[i][:]) write(y[i][:])")
#define SUM _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(+: s[0])")
#define MAXIMUM _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(max: s[0])")
#define AND _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(&&: k[0])")
typedef std::complex<double> cplx;
struct best { double value; int at; };
struct vec { double x, y, z; };
struct owner { double *p; };
extern "C" [[noreturn]] void fatal(int);
struct coefficients { double a, b, c; int power; };

// ---- Proven ----
static void axpy(int n, double a, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = a * x[i] + 1; }
static void by_pointer(int n, const double *x, double *y) { while (n--) *y++ = *x++; }
static void by_end(int n, const double *x, double *y) { for (const double *e = x + n; x != e; ++x, ++y) *y = *x; }
static void backwards(int n, const double *x, double *y) { for (int i = n - 1; i >= 0; i--) y[i] = x[i]; }
static void unsigned_index(size_t n, const double *__restrict x, double *__restrict y) { for (size_t i = 0; i < n; ++i) y[i] = x[i] * 2; }
static void long_index(long n, const double *x, double *y) { for (long i = 0; i < n; ++i) y[i] = x[i] * 2; }
static void unsigned_32(unsigned n, const double *x, double *y) { for (unsigned i = 0; i < n; ++i) y[i] = x[i] * 2; }
static void index_value(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[i] + i * 0.5; }
static void guard(int n, const double *x, double *y) { if (n <= 0) return; for (int i = 0; i < n; i++) y[i] = x[i]; }
static void with_continue(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { y[i] = 0; if (x[i] < 0) continue; y[i] = std::sqrt(x[i]); } }
static void inner_break(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { double v = x[i]; int k; for (k = 0; k < 50; k++) { v = v * v - 1; if (v > 100) break; } y[i] = k; } }
static void newton(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { double r = x[i], old; do { old = r; r = (r + x[i] / r) / 2; } while (fabs(r - old) > 1e-9); y[i] = r; } }
static void stencil(int lo, int hi, int m, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = i > 0 && i < m - 1 ? (x[i - 1] + x[i] + x[i + 1]) / 3 : x[i]; }
static void interior(int lo, int hi, int m, const double *x, double *y) { if (lo < 1) lo = 1; if (hi > m - 1) hi = m - 1; for (int i = lo; i < hi; i++) y[i] = x[i - 1] + x[i + 1]; }
static void interior_max(int lo, int hi, int m, const double *x, double *y) { for (int i = std::max(lo, 1); i < std::min(hi, m - 1); i++) y[i] = x[i - 1] + x[i + 1]; }
static void small_array(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { double t[4] = {1, 2, 3, 4}; for (int k = 1; k < 4; k++) t[k] += t[k - 1] * x[i]; y[i] = t[3]; } }
static void outer_array(int n, const double *x, double *y) { double t[8]; for (int i = 0; i < n; i++) { for (int k = 0; k < 8; k++) t[k] = k * x[i]; double s = 0; for (int k = 0; k < 8; k++) s += t[7 - k]; y[i] = s; } }
static void outer_memset(int n, const double *x, double *y) { int h[16]; for (int i = 0; i < n; i++) { memset(h, 0, sizeof h); h[(int)x[i] & 15]++; h[(int)(2 * x[i]) & 15]++; y[i] = h[3]; } }
static void table(int n, const double *x, double *y) { double c[16]; for (int k = 0; k < 16; k++) c[k] = 1.0 / (k + 1); for (int i = 0; i < n; i++) y[i] = c[(int)x[i] & 15]; }
static void constants(int n, const double *x, double *y) { static const double c[3] = {1, -2, 1}; for (int i = 0; i < n; i++) y[i] = c[(int)x[i] % 3]; }
static double horner(double v, const coefficients &c) { return (c.a * v + c.b) * v + c.c; }
static void by_value(int n, coefficients c, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = horner(x[i], c) + c.power; }
static void by_address(int n, const coefficients *c, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = horner(x[i], *c); }
static void lambda(int n, const double *x, double *y) { const double a = 3; auto f = [&](double v) { return a * v; }; for (int i = 0; i < n; i++) y[i] = f(x[i]); }
template <class T, class F> static void mapped(int n, const T *x, T *y, F f) { for (int i = 0; i < n; i++) y[i] = f(x[i]); }
struct square { double operator()(double v) const { return v * v; } };
static void vector_inside(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { std::vector<double> t(5, x[i]); for (double &v : t) v *= 2; y[i] = t[0] + t[4]; } }
static void array_inside(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { std::array<double, 3> t = {x[i], 2, 3}; y[i] = std::accumulate(t.begin(), t.end(), 0.0); } }
static void allocated(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { double *t = (double *)malloc(8 * sizeof *t); for (int k = 0; k < 8; k++) t[k] = x[i] * k; y[i] = t[3] + t[5]; free(t); } }
static void work_room(int n, int w, const double *x, double *y) { double *t = (double *)malloc(w * sizeof *t); for (int i = 0; i < n; i++) { for (int k = 0; k < w; k++) t[k] = x[i] + k; double s = 0; for (int k = 0; k < w; k++) s += t[k]; y[i] = s; } free(t); }
static void complex_parts(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { cplx z(x[i], 1); z = z * z + cplx(0, 2); y[i] = std::abs(z) + std::norm(z / cplx(2, 1)); } }
static void math(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { int e; y[i] = pow(sin(x[i]), 2) + exp(-x[i]) + fmin(x[i], 1) + frexp(x[i], &e) + e + atan2(x[i], 2) + std::floor(x[i]); } }
static void structs(int n, const vec *p, vec *q) { for (int i = 0; i < n; i++) { vec v = p[i]; v.x += v.y; q[i] = v; } }
static void members(int n, const vec *p, double *y) { for (int i = 0; i < n; i++) y[i] = std::sqrt(p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z); }
static void simd(int n, const double *x, double *y) {
#pragma omp simd
    for (int i = 0; i < n; i++) y[i] = x[i] * 2; }
static void two_loops(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = x[i]; for (int i = 0; i < n; i++) y[i] *= 2; }
static void time_steps(int n, int steps, double *y) { for (int t = 0; t < steps; t++) for (int i = 0; i < n; i++) y[i] = y[i] * 0.5 + t; }
static void filled(int n, double *y) { memset(y, 0, n * sizeof *y); }
static void copied(int n, const double *x, double *y) { memcpy(y, x, n * sizeof *y); }
static void std_copied(int n, const double *x, double *y) { std::copy(x, x + n, y); }
static void cleared(int n, const double *x, double *y) { memset(y, 0, n * sizeof *y); for (int i = 0; i < n; i++) y[i] += x[i]; }
static void copied_own(int lo, int hi, const double *x, double *y) { memcpy(y + lo, x + lo, (hi - lo) * sizeof *y); for (int i = lo; i < hi; i++) y[i] *= y[i]; }
static void in_place(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = 2 * x[i]; }
static void std_filled(int n, double *y) { std::fill(y, y + n, 3.0); }
static void std_transformed(int n, const double *x, double *y) { std::transform(x, x + n, y, [](double v) { return v + 1; }); }
static void switched(int n, const double *x, double *y) { for (int i = 0; i < n; i++) switch ((int)x[i] % 4) { case 0: y[i] = 1; break; case 1: y[i] = 2; break; default: y[i] = x[i]; } }
static void gathered(int lo, int hi, const int *at, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[at[i]]; }
static void sparse(int lo, int hi, const int *row, const int *col, const double *v, const double *x, double *y) { for (int i = lo; i < hi; i++) { double s = 0; for (int k = row[i]; k < row[i + 1]; k++) s += v[k] * x[col[k]]; y[i] = s; } }
static void rows(int n, int w, const double *x, double *y) { for (int i = 0; i < n; i++) for (int j = 0; j < w; j++) y[i * w + j] = 2 * x[i * w + j]; }
static void row_pointers(int n, int w, const double *x, double *y) { for (int i = 0; i < n; i++) { const double *a = x + (size_t)i * w; double *b = y + (size_t)i * w; for (int j = 0; j < w; j++) b[j] = a[j]; } }
static void row_scan(int n, int w, const double *x, double *y) { for (int i = 0; i < n; i++) { y[i * w] = x[i * w]; for (int j = 1; j < w; j++) y[i * w + j] = y[i * w + j - 1] + x[i * w + j]; } }
static void row_sort(int n, int w, const double *x, double *y) { for (int i = 0; i < n; i++) { for (int j = 0; j < w; j++) y[i * w + j] = x[i * w + j]; for (int j = 1; j < w; j++) for (int k = j; k > 0 && y[i * w + k] < y[i * w + k - 1]; k--) std::swap(y[i * w + k], y[i * w + k - 1]); } }
static void flat(int n, int w, const double *x, double *y) { for (int k = 0; k < n * w; k++) y[k] = x[k]; }
static void blocked(int n, int w, const double *x, double *y) { for (int i = 0; i < n; i++) for (int b = 0; b < w; b += 8) for (int j = b; j < std::min(b + 8, w); j++) y[i * w + j] = x[i * w + j]; }
static void row_copy(int n, int w, const double *x, double *y) { for (int i = 0; i < n; i++) memcpy(y + i * w, x + i * w, w * sizeof *x); }
static void planes(int lo, int hi, int h, int w, const double *x, double *y) { for (int k = lo; k < hi; k++) for (int j = 0; j < h; j++) for (int i = 0; i < w; i++) y[(k * h + j) * w + i] = x[(k * h + j) * w + i]; }
static void product(int lo, int hi, int m, const double *a, const double *b, double *c) { for (int i = lo; i < hi; i++) for (int j = 0; j < m; j++) { double s = 0; for (int k = 0; k < m; k++) s += a[i * m + k] * b[k * m + j]; c[i * m + j] = s; } }
static void product_ikj(int lo, int hi, int m, const double *a, const double *b, double *c) { for (int i = lo; i < hi; i++) for (int k = 0; k < m; k++) for (int j = 0; j < m; j++) c[i * m + j] += a[i * m + k] * b[k * m + j]; }
static void sum(int n, const double *x, double *s) { for (int i = 0; i < n; i++) s[0] += x[i]; }
static void sum_local(int n, const double *x, double *s) { double t = 0; for (int i = 0; i < n; i++) t += x[i] * x[i]; *s += t; }
static void sum_old(int n, const double *x, double *s) { double t = *s; for (int i = 0; i < n; i++) t += x[i]; *s = t; }
static void sum_if(int n, const double *x, double *s) { double t = 0; for (int i = 0; i < n; i++) if (x[i] > 0) t += x[i]; else t -= 1; *s += t; }
static void sum_inner(int n, int w, const double *x, double *s) { double t = 0; for (int i = 0; i < n; i++) for (int j = 0; j < w; j++) t += x[i * w + j]; *s += t; }
static void sum_std(int n, const double *x, double *s) { *s += std::accumulate(x, x + n, 0.0); }
static void count(int n, const double *x, long *k) { long c = 0; for (int i = 0; i < n; i++) c += x[i] > 0.5; *k += c; }
static void dot(int n, const double *x, const double *y, double *s) { double t = 0; for (int i = 0; i < n; i++) t += x[i] * y[i]; *s += t; }
static void histogram(int n, const int *v, int *h) { for (int i = 0; i < n; i++) h[v[i] & 15]++; }
static void most(int n, const double *x, double *s) { for (int i = 0; i < n; i++) if (x[i] > *s) *s = x[i]; }
static void most_local(int n, const double *x, double *s) { double m = -DBL_MAX; for (int i = 0; i < n; i++) if (x[i] > m) m = x[i]; if (m > *s) *s = m; }
static void most_old(int n, const double *x, double *s) { double m = *s; for (int i = 0; i < n; i++) m = fmax(m, x[i]); *s = m; }
static void most_std(int n, const double *x, double *s) { double m = *s; for (int i = 0; i < n; i++) m = std::max(m, x[i]); *s = m; }
static void most_std_end(int n, const double *x, double *s) { double m = -DBL_MAX; for (int i = 0; i < n; i++) m = std::max(m, x[i]); *s = std::max(*s, m); }
static void most_int(int n, const int *v, int *k) { int m = v[0]; for (int i = 0; i < n; i++) if (v[i] > m) m = v[i]; if (m > *k) *k = m; }
static void least_at(int lo, int hi, const double *x, best *b) { for (int i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->at = i; } }
static void least_local(int lo, int hi, const double *x, best *b) { double m = b->value; int k = b->at; for (int i = lo; i < hi; i++) if (x[i] < m) { m = x[i]; k = i; } b->value = m; b->at = k; }
static void ends_alike(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) exit(2); y[i] = x[i]; } }
static void either(int n, const double *x, double *y) { for (int i = 0; i < n; i++) if (x[i] > 3) y[i] = x[i]; else y[i] = 3; }
static void if_room(int n, const double *x, double *y) { double *t = (double *)malloc(64); if (!t) return; for (int i = 0; i < n; i++) { t[0] = x[i]; y[i] = t[0]; } free(t); }
static void within(int lo, int hi, int m, const double *x, double *y) { if (lo < 0 || hi > m) abort(); for (int i = lo; i < hi; i++) y[i] = x[i]; }
static void not_negative(int n, const double *x, double *y) { if (n < 0) throw 1; if (n <= 0) __builtin_unreachable(); for (int i = 0; i < n; i++) y[i] = x[i]; }
static void all_positive(int n, const double *x, int *k) { for (int i = 0; i < n; i++) if (!(x[i] > 0)) *k = 0; }
static void all_local(int n, const double *x, int *k) { int all = 1; for (int i = 0; i < n; i++) all = all && x[i] > 0; *k = *k && all; }
static void sum_scaled(int n, double h, const double *x, double *s) { double t = 0; for (int i = 0; i < n; i++) t += 0.5 * (x[i] + x[i + 1]); *s += h * t; }
static void sum_divided(int n, int m, const double *x, double *s) { double t = 0; for (int i = 0; i < n; i++) t += x[i]; *s -= -t / m; }
static void sum_difference(int n, const double *x, double *s) { double p = 0, q = 0; for (int i = 0; i < n; i++) if (x[i] > 5) p += x[i]; else q += x[i]; *s += p - q; }
static void sum_narrow(int n, const double *x, double *s) { float t = 0; for (int i = 0; i < n; i++) t += x[i]; *s += t; }
static void sum_of_steps(int n, int m, const double *x, double *s) { double a = 0; for (int k = 0; k < m; k++) { double t = 0; for (int i = 0; i < n; i++) t += x[i] * k; a += t * 2; } *s += a; }
static void count_int(int n, const double *x, long *k) { int c = 0; for (int i = 0; i < n; i++) c += x[i] > 0.5; *k += c; }
static void count_real(int n, const double *x, double *s) { long c = 0; for (int i = 0; i < n; i++) c += x[i] > 0.5; *s += c; }
static void bins(int n, const int *v, int *h) { int l[16] = {0}; for (int i = 0; i < n; i++) l[v[i] & 15]++; for (int k = 0; k < 16; k++) h[k] += l[k]; }
static void forces(int lo, int hi, int m, const double *x, double *f) { for (int i = lo; i < hi; i++) for (int j = i + 1; j < m; j++) { double d = x[i] - x[j]; f[i] += d; f[j] -= d; } }
static void most_if(int n, const double *x, double *s) { double m = -DBL_MAX; for (int i = 0; i < n; i++) { double f = x[i] * 2; if (x[i] != 3 && f > m) m = f; } if (m > *s) *s = m; }
static void scratch(int n, const double *x, double *y) { double *t = (double *)malloc(n * sizeof *t); for (int i = 0; i < n; i++) t[i] = x[i] * 2; for (int i = 0; i < n; i++) y[i] = t[i] + 1; free(t); }
static void scratch_bounds(int lo, int hi, const double *x, double *y) { double *t = (double *)malloc((hi - lo) * sizeof *t); for (int i = lo; i < hi; i++) t[i - lo] = x[i] * 2; for (int i = lo; i < hi; i++) y[i] = t[i - lo] + 1; free(t); }
static void ghosts(int lo, int hi, int m, const double *x, double *y) { int b = lo < 16 ? 16 : lo, e = hi > m - 16 ? m - 16 : hi; for (int i = b; i < e; i++) y[i] = x[i - 16] + x[i + 16]; }
struct grid { int width, height; double step; };
static void width_in_struct(int lo, int hi, const grid *g, const double *x, double *y) { for (int i = lo; i < hi; i++) for (int j = 0; j < g->width; j++) y[i * g->width + j] = x[i * g->width + j] * g->step; }
static int width;
static void width_in_variable(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) for (int j = 0; j < width; j++) y[i * width + j] = x[i * width + j]; }
static void both(int n, const double *x, double *least, double *most) { for (int i = 0; i < n; i++) { *least = fmin(*least, x[i]); *most = fmax(*most, x[i]); } }
struct two_arrays { double values[1000], sums[4]; };
static void member_sum(int n, const double *v, double *s) { for (int i = 0; i < n; i++) s[2] += v[i]; }

// ---- Not proven ----
static void widened(int n, const int *v, long *k) { int c = 0; for (int i = 0; i < n; i++) c += v[i]; *k += c; }
static void wrapped(int n, const int *v, long *k) { unsigned c = 0; for (int i = 0; i < n; i++) c += v[i] & 15; *k += c; }
static void total_in_loop(int n, const double *x, double *s) { double a = 0; for (int i = 0; i < n; i++) a += x[i]; for (int i = 0; i < n; i++) *s += a; }
static void total_and_more(int n, const double *x, double *s) { double a = 0, b = 0; for (int i = 0; i < n; i++) a += x[i]; for (int i = 0; i < n; i++) b += a + x[i]; *s += b; }
static void scratch_set(int n, const double *x, double *y) { double *t = (double *)malloc(n * sizeof *t); for (int i = 0; i < n; i++) t[i] = x[i] * 2; t[0] = 7; for (int i = 0; i < n; i++) y[i] = t[i]; free(t); }
static void scratch_before(int n, const double *x, double *y) { double *t = (double *)calloc(n + 1, sizeof *t); for (int i = 0; i < n; i++) t[i + 1] = x[i]; for (int i = 0; i < n; i++) y[i] = t[i]; free(t); }
static void medians(int n, int w, const double *x, double *y) { for (int i = 0; i < n; i++) { std::vector<double> t(x + i * w, x + (i + 1) * w); std::nth_element(t.begin(), t.begin() + w / 2, t.end()); y[i * w] = t[w / 2]; } }
static void ring(int n, const double *x, double *y) { double b[4] = {0, 0, 0, 0}; for (int i = 0; i < n; i++) { y[i] = b[(int)x[i] & 3]; b[(int)(x[i] + 1) & 3] = x[i]; } }
static void greatest(int n, const double *x, double *y) { double m = *std::max_element(x, x + n); for (int i = 0; i < n; i++) y[i] = x[i] / m; }
static void sorted(int n, double *y) { std::sort(y, y + n); }
static int order(const void *a, const void *b) { return *(const double *)a < *(const double *)b; }
static void qsorted(int n, double *y) { qsort(y, n, sizeof *y, order); }
static void rotated(int n, const double *x, double *y) { std::rotate_copy(x, x + n / 2, x + n, y); }
static void by_data(int n, const double *x, double *y) { for (int i = 0; i < n; i++) if (x[i] > 3) y[i] = x[i]; }
static void filtered(int n, const double *x, double *y) { std::copy_if(x, x + n, y, [](double v) { return v > 0; }); }
static void shifted(int n, const double *x, double *y) { y[0] = x[0]; memmove(y + 1, x, (n - 1) * sizeof *y); }
struct shape { virtual double area(double v) { return v; } virtual ~shape() {} };
static void by_virtual(int n, shape *f, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = f->area(x[i]); }
static void by_function(int n, const double *x, double *y) { int k = 0; std::function<double(double)> f = [&](double v) { return v * k++; }; for (int i = 0; i < n; i++) y[i] = f(x[i]); }
static void by_pointer_to(int n, double (*f)(double), const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = f(x[i]); }
static void vector_lives(int n, const double *x, double *y) { std::vector<double> seen; for (int i = 0; i < n; i++) { if (x[i] > 3) seen.push_back(x[i]); y[i] = seen.empty() ? 0 : seen.back(); } }
static void string_lives(int n, const double *x, double *y) { std::string t; for (int i = 0; i < n; i++) { if (x[i] > 3) t += 'a'; y[i] = t.size(); } }
static void tokens(int n, const double *x, double *y) { char text[] = "1 2 3", *rest; for (int i = 0; i < n; i++) { char *t = strtok_r(i ? nullptr : text, " ", &rest); y[i] = x[i] + (t != nullptr); } }
static void states(int n, const double *x, double *y) { int state = 0; for (int i = 0; i < n; i++) switch (state) { case 0: y[i] = 0; if (x[i] > 3) state = 1; break; default: y[i] = 1; if (x[i] < 1) state = 0; } }
static void jumps(int n, const double *x, double *y) { int i = 0; low: for (; i < n; i++) { if (x[i] > 3) goto high; y[i] = 0; } return; high: for (; i < n; i++) { if (x[i] < 1) goto low; y[i] = 1; } }
static void until(int n, const double *x, double *y) { for (int i = 0; i < n && x[i] >= 0; i++) y[i] = x[i]; }
static void with_break(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) break; y[i] = x[i]; } }
static void with_return(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) return; y[i] = x[i]; } }
static void assembly(int n, const double *x, double *y) { static int k; for (int i = 0; i < n; i++) { __asm__("incl %0" : "+m"(k)); y[i] = x[i]; } }
static void error_number(int n, const double *x, double *y) { errno = 0; for (int i = 0; i < n; i++) y[i] = sqrt(x[i]) + errno; }
static void last_seen(int lo, int hi, const double *x, double *y) { double last = 0; for (int i = lo; i < hi; i++) { if (x[i] > 3) last = x[i]; y[i] = last; } }
static void guarded_chain(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) if (i > 0 && x[i] > 3) y[i] = y[i - 1] + 1; }
static void scattered(int lo, int hi, const int *at, const double *x, double *y) { for (int i = lo; i < hi; i++) y[at[i]] = x[i]; }
static void compacted(int n, const double *x, double *y) { int k = 0; for (int i = 0; i < n; i++) { y[i] = 0; if (x[i] > 0) y[k++] = x[i]; } }
static void in_fours(int n, const double *x, double *y) { int i = 0; for (; i + 3 < n; i += 4) y[i] = y[i + 1] = y[i + 2] = y[i + 3] = x[i]; for (; i < n; i++) y[i] = x[i]; }
static void sum_until(int n, const double *x, double *s) { for (int i = 0; i < n && x[i] >= 0; i++) *s += x[i]; }
static void median(int n, const double *x, double *s) { int c[64] = {0}, m = 0, k = 0; for (int i = 0; i < n; i++) c[(int)x[i] & 63]++; while (m < 63 && (k += c[m]) < n / 2) m++; if (m > *s) *s = m; }
static void most_first(int n, const double *x, double *s) { double m = x[0]; for (int i = 0; i < n; i++) if (x[i] > m) m = x[i]; if (m > *s) *s = m; }
static void most_macro(int n, const double *x, double *s) { double m = -DBL_MAX; for (int i = 0; i < n; i++) m = m > x[i] ? m : x[i]; if (m > *s) *s = m; }
static void earliest(int lo, int hi, const double *x, best *b) { for (int i = lo; i < hi; i++) if (x[i] < b->value || (x[i] == b->value && i < b->at)) { b->value = x[i]; b->at = i; } }
static void ends_by_data(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) exit((int)-x[i]); y[i] = x[i]; } }
static void ends_by_kind(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) exit(2); if (x[i] > 9) _exit(3); y[i] = x[i]; } }
static void ends_with_text(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) errx((int)-x[i], "bad"); y[i] = x[i]; } }
static void ends_or_aborts(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) exit(2); if (x[i] > 9) abort(); y[i] = x[i]; } }
static void ends_or_throws(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) exit(2); if (x[i] > 9) throw 3; y[i] = x[i]; } }
static void fatal_error(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { if (x[i] < 0) fatal(1); y[i] = x[i]; } }
static void needs_pages(int n, const double *x, double *y) { if (n % 64) exit(1); for (int i = 0; i < n; i++) y[i] = x[i]; }
static void ends_late(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = x[i]; if (n % 64) exit(1); }
static void returns_at_once(int n, const double *x, double *y) { if (n % 64) return; for (int i = 0; i < n; i++) y[i] = x[i]; }
static void promises_pages(unsigned n, const double *x, double *y) { if (n % 64) __builtin_unreachable(); for (unsigned i = 0; i < n; i++) y[i] = x[i]; }
static void promises_lines(int n, const double *x, double *y) { x = (const double *)__builtin_assume_aligned(x, 64); for (int i = 0; i < n; i++) y[i] = x[i]; }
static void last_least(int lo, int hi, const double *x, best *b) { for (int i = lo; i < hi; i++) if (x[i] <= b->value) { b->value = x[i]; b->at = i; } }
static void least_from_end(int lo, int hi, const double *x, best *b) { for (int i = hi - 1; i >= lo; i--) if (x[i] < b->value) { b->value = x[i]; b->at = i; } }
static void rises(int n, const double *x, int *k) { double old = -DBL_MAX; for (int i = 0; i < n; i++) { if (x[i] < old) *k = 0; old = x[i]; } }
double elsewhere(double v);
static void not_seen(int n, const double *x, double *y) { for (int i = 0; i < n; i++) y[i] = elsewhere(x[i]); }
void is_elsewhere(int n, const double *x, double *y);
static void input(int n, int file, double *y) { for (int i = 0; i < n; i++) if (read(file, &y[i], 8) != 8) y[i] = 0; }
// Numbers that differ for great indices and lengths alone.
static void shifted_length(unsigned lo, unsigned hi, const double *x, double *y) { for (unsigned i = lo; i < hi; i++) y[i] = x[i] + (lo >> 12); }
static void far_choice(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[i] + (i - lo > 1000 ? i - lo : 1000); }
static void far_product(int lo, int hi, int m, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[i] + std::max(lo, m * 4096); }
static void one_bit(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[i] + (lo & 1024); }
static void at_most(int n, const double *x, double *y) { for (int i = 0; i < std::min(n, 4096); i++) y[i] = x[i]; }
static void far_chain(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[i] + (i > 1000 ? y[i - 1000] : 0); }
static void masked(int lo, int hi, const double *x, double *y) { for (unsigned i = lo; i < (unsigned)hi; i++) y[i & 0xffff] = x[i]; }
static void clamped(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i > 1000 ? 1000 : i] = x[i]; }
static double *global;
static void chain_in_global(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) { y[i] = x[i]; if (i) global[i] = global[i - 1] + 1; } }
static void chain_in_struct(int lo, int hi, const double *x, double *y, const owner *o) { for (int i = lo; i < hi; i++) { y[i] = x[i]; if (i) o->p[i] = o->p[i - 1] + 1; } }
static void cleared_ahead(int n, int k, double *y, double *z) { memset(y, 0, n * sizeof *y); for (int i = 0; i < n; i++) z[i] = y[i + k]; }
static void copied_ahead(int n, int k, const double *x, double *y, double *z) { memcpy(y, x, n * sizeof *y); for (int i = 0; i < n; i++) z[i] = y[i + k]; }
static void far_limit(int lo, int hi, long m, double *y) { for (int i = lo; i < hi; i++) y[i] = y[std::min((long)i, m * 1000)]; }
static void far_inner(int lo, int hi, long m, double *y) { for (long i = lo; i < hi; i++) for (long j = 0; j < 4; j++) y[i] += y[i + j * m * 1000]; }
static void far_store(int lo, int hi, long m, const double *x, double *y) { for (long i = lo; i < hi; i++) for (long j = 0; j < 2; j++) y[i + j * m * 1024] = x[i]; }
static void piles_up(int lo, int hi, long m, const double *x, double *y) { for (long i = lo; i < hi; i++) y[std::min(i, m * 512)] = x[i]; }
static void narrower(int n, const int *v, double *y) { for (int i = 0; i < n; i++) if (v[i] > 0) y[i] = v[i]; }
static void one_array(int lo, int hi, const int *v, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[v[i]]; }
static void copies_at_most(int n, const double *x, double *y) { memcpy(y, x, std::min(n, 4096) * sizeof *y); }
// Pairs of the range, and accumulations that only look like the operator's.
static void pairs(int n, const double *x, double *y) { for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < n; j++) y[i] += x[i] * x[j]; } }
static void unsigned_least(int n, const int *v, unsigned *k) { for (int i = 0; i < n; i++) if (v[i] < (int)*k) *k = v[i]; }
static void before(int n, const int *v, int *k) { int base = k[0]; for (int i = 0; i < n; i++) k[0] = base + v[i]; }
static void masked_most(int n, const int *v, int *k) { int t = v[0]; for (int i = 0; i < n; i++) if (v[i] % 3 == 0 && v[i] > t) t = v[i]; if (t > k[0]) k[0] = t; }
static void distance(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = y + 4096 == x ? 0 : x[i]; }
static void own_address(int lo, int hi, const double *x, double *y) { for (int i = lo; i < hi; i++) y[i] = x[i] + ((size_t)(y + i) % 64 == 0); }

// Nothing calls this, so its launch has no code either.
static void unused_callee(int n, const double *x, double *y) { for (int i = 1; i < n; i++) y[i] = x[i]; }
[[maybe_unused]] static void unused_caller(int n, const double *x, double *y) { LENGTH unused_callee(n, x, y); }

void proven(int n, int w, double *x, double *y, double *s, int *v, int *k, long *c, vec *p, vec *q, best *b, double *z, two_arrays *two)
{
    const grid g = {w, n, 0.5};
    coefficients f = {1, 2, 3, 4};
    LENGTH axpy(n, 2, x, y);
    LENGTH by_pointer(n, x, y);
    LENGTH by_end(n, x, y);
    LENGTH backwards(n, x, y);
    LENGTH unsigned_index(n, x, y);
    LENGTH long_index(n, x, y);
    LENGTH unsigned_32(n, x, y);
    BOUNDS index_value(0, n, x, y);
    LENGTH guard(n, x, y);
    LENGTH with_continue(n, x, y);
    LENGTH inner_break(n, x, y);
    LENGTH newton(n, x, y);
    HALO stencil(0, n, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i-1:3]) update(y[i])
    interior(0, n, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i-1:3]) update(y[i])
    interior_max(0, n, n, x, y);
    LENGTH small_array(n, x, y);
    LENGTH outer_array(n, x, y);
    LENGTH outer_memset(n, x, y);
    LENGTH table(n, x, y);
    LENGTH constants(n, x, y);
    LENGTH by_value(n, f, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i], (&f)[0]) write(y[i])
    by_address(n, &f, x, y);
    LENGTH lambda(n, x, y);
    LENGTH mapped(n, x, y, square());
    LENGTH vector_inside(n, x, y);
    LENGTH array_inside(n, x, y);
    LENGTH allocated(n, x, y);
    LENGTH work_room(n, w, x, y);
    LENGTH complex_parts(n, x, y);
    LENGTH math(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(p[i]) write(q[i])
    structs(n, p, q);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(p[i]) write(y[i])
    members(n, p, y);
    LENGTH simd(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) update(y[i])
    two_loops(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(y[i])
    time_steps(n, 10, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) write(y[i])
    filled(n, y);
    LENGTH copied(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) update(y[i])
    cleared(n, x, y);
    UPDATE copied_own(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) update(y[i])
    in_place(0, n, y, y);
    LENGTH std_copied(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) write(y[i])
    std_filled(n, y);
    LENGTH std_transformed(n, x, y);
    LENGTH switched(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(v[i], x[0:n]) write(y[i])
    gathered(0, n, v, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(v[i:2], k, x, z) write(y[i])
    sparse(0, n, v, k, z, x, y);
    ROWS rows(n, w, x, y);
    ROWS row_pointers(n, w, x, y);
    ROWS row_scan(n, w, x, y);
    ROWS row_sort(n, w, x, y);
    ROWS flat(n, w, x, y);
    ROWS blocked(n, w, x, y);
    ROWS row_copy(n, w, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) shape(x[n][w][w], y[n][w][w]) read(x[i][:][:]) write(y[i][:][:])
    planes(0, n, w, w, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) shape(x[n][n], y[n][n], z[n][n]) read(x[i][:], y) write(z[i][:])
    product(0, n, n, x, y, z);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) shape(x[n][n], y[n][n], z[n][n]) read(x[i][:], y) update(z[i][:])
    product_ikj(0, n, n, x, y, z);
    SUM sum(n, x, s);
    SUM sum_local(n, x, s);
    SUM sum_old(n, x, s);
    SUM sum_if(n, x, s);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) shape(x[n][w]) read(x[i][:]) reduce(+: s[0])
    sum_inner(n, w, x, s);
    SUM sum_std(n, x, s);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(x[i]) reduce(+: c[0])
    count(n, x, c);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(x[i], y[i]) reduce(+: s[0])
    dot(n, x, y, s);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(+: k[0:16])
    histogram(n, v, k);
    MAXIMUM most(n, x, s);
    MAXIMUM most_local(n, x, s);
    MAXIMUM most_old(n, x, s);
    MAXIMUM most_std(n, x, s);
    MAXIMUM most_std_end(n, x, s);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(max: k[0])
    most_int(n, v, k);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: b[0])
    least_at(0, n, x, b);
    LENGTH ends_alike(n, x, y);
    LENGTH either(n, x, y);
    LENGTH if_room(n, x, y);
    BOUNDS within(0, n, n, x, y);
    LENGTH not_negative(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: b[0])
    least_local(0, n, x, b);
    AND all_positive(n, x, k);
    AND all_local(n, x, k);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(x[i:2]) reduce(+: s[0])
    sum_scaled(n, 0.5, x, s);
    SUM sum_divided(n, n, x, s);
    SUM sum_difference(n, x, s);
    SUM sum_narrow(n, x, s);
    SUM sum_of_steps(n, 3, x, s);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(x[i]) reduce(+: c[0])
    count_int(n, x, c);
    SUM count_real(n, x, s);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(+: k[0:16])
    bins(n, v, k);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) read(x[0:n]) reduce(+: y[0:n])
    forces(0, n, n, x, y);
    MAXIMUM most_if(n, x, s);
    LENGTH scratch(n, x, y);
    BOUNDS scratch_bounds(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i-16:33]) update(y[i])
    ghosts(0, n, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) read((&g)[0], x[i * w:w]) write(y[i * w:w])
    width_in_struct(0, n, &g, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) read(x[i * width:width]) write(y[i * width:width])
    width_in_variable(0, n, x, y);
#pragma kmm parallel(i = 0:1000) chunk(90) rebase(n: i) read(two->values[i]) reduce(+: two->sums[2])
    member_sum(1000, two->values, two->sums);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(min: s[0]) reduce(max: s[1])
    both(n, x, s, s + 1);
}

void unproven(int n, double *x, double *y, double *s, int *v, int *k, best *b, shape *f, double (*g)(double), owner *o, unsigned *least, long *c)
{
    LENGTH ring(n, x, y);
    LENGTH greatest(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(y[i])
    sorted(n, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(y[i])
    qsorted(n, y);
    LENGTH rotated(n, x, y);
    KEPT filtered(n, x, y);
    LENGTH by_data(n, x, y);
    LENGTH shifted(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i], f[0:1]) write(y[i])
    by_virtual(n, f, x, y);
    LENGTH by_function(n, x, y);
    LENGTH by_pointer_to(n, g, x, y);
    LENGTH vector_lives(n, x, y);
    LENGTH string_lives(n, x, y);
    LENGTH tokens(n, x, y);
    LENGTH states(n, x, y);
    LENGTH jumps(n, x, y);
    LENGTH until(n, x, y);
    LENGTH with_break(n, x, y);
    LENGTH with_return(n, x, y);
    LENGTH assembly(n, x, y);
    LENGTH error_number(n, x, y);
    BOUNDS last_seen(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) update(y[i])
    guarded_chain(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(v[i], x[i]) update(y[i])
    scattered(0, n, v, x, y);
    LENGTH compacted(n, x, y);
    LENGTH in_fours(n, x, y);
    SUM sum_until(n, x, s);
    MAXIMUM median(n, x, s);
    MAXIMUM most_first(n, x, s);
    MAXIMUM most_macro(n, x, s);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: b[0])
    last_least(0, n, x, b);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: b[0])
    least_from_end(0, n, x, b);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: b[0])
    earliest(0, n, x, b);
    LENGTH ends_by_data(n, x, y);
    LENGTH ends_by_kind(n, x, y);
    LENGTH ends_with_text(n, x, y);
    LENGTH ends_or_aborts(n, x, y);
    LENGTH ends_or_throws(n, x, y);
    LENGTH fatal_error(n, x, y);
    LENGTH needs_pages(n, x, y);
    LENGTH ends_late(n, x, y);
    LENGTH returns_at_once(n, x, y);
    LENGTH promises_pages(n, x, y);
    LENGTH promises_lines(n, x, y);
    AND rises(n, x, k);
    LENGTH not_seen(n, x, y);
    LENGTH is_elsewhere(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(y[i])
    input(n, 0, y);
    BOUNDS shifted_length(0, n, x, y);
    BOUNDS far_choice(0, n, x, y);
    BOUNDS far_product(0, n, n, x, y);
    BOUNDS one_bit(0, n, x, y);
    LENGTH at_most(n, x, y);
    UPDATE far_chain(0, n, x, y);
    BOUNDS masked(0, n, x, y);
    BOUNDS clamped(0, n, x, y);
    BOUNDS chain_in_global(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i], o[0:1]) write(y[i])
    chain_in_struct(0, n, x, y, o);
    LENGTH copies_at_most(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(x[i]) write(y[i])
    pairs(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(min: least[0])
    unsigned_least(n, v, least);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(+: k[0])
    before(n, v, k);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(max: k[0])
    masked_most(n, v, k);
    BOUNDS distance(0, n, x, y);
    BOUNDS own_address(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) write(x[i]) read(x[i + v[0]]) write(y[i])
    cleared_ahead(n, v[0], x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) write(y[i]) read(y[i + v[0]]) write(s[i])
    copied_ahead(n, v[0], x, y, s);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(v[i], y[0:n]) update(y[i])
    one_array(0, n, v, y, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(y[0:n]) update(y[i])
    far_limit(0, n, v[0], y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(y[0:n]) update(y[i])
    far_inner(0, n, v[0], y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) update(y[i], y[i + v[0] * 1024])
    far_store(0, n, v[0], x, y);
    BOUNDS piles_up(0, n, v[0], x, y);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(v[i]) update(y[k[0] * i:k[0]])
    narrower(n, v, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(+: c[0])
    widened(n, v, c);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) read(v[i]) reduce(+: c[0])
    wrapped(n, v, c);
    SUM total_in_loop(n, x, s);
    SUM total_and_more(n, x, s);
    LENGTH scratch_set(n, x, y);
    LENGTH scratch_before(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(10) rebase(n: i) shape(x[n][4], y[n][4]) read(x[i][:]) write(y[i][:])
    medians(n, 4, x, y);
}

// The order is that of the launches.
// CHECK: warning: it is not proven that chunks of 'ring' give what one call gives, since it may find in local memory what another iteration has left there
// CHECK: warning: it is not proven that chunks of 'greatest' give what one call gives, since it has a loop whose iterations do not divide as the range does
// CHECK: warning: it is not proven that chunks of 'sorted' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'qsorted' give what one call gives, since it calls 'qsort', whose code is not seen
// CHECK: warning: it is not proven that chunks of 'rotated' give what one call gives, since it stores outside of a loop over the range, so once in each chunk
// CHECK: warning: it is not proven that chunks of 'filtered' give what one call gives, since it stores at an index or through a pointer that is data
// CHECK: warning: 'y[i]' is only written here, so its old values are not brought, but data decides whether 'by_data' stores to it; say update(y[i]) [-Wkmm-update]
// CHECK: warning: it is not proven that chunks of 'shifted' give what one call gives, since it stores at a place that is not known to be the same in a chunk
// CHECK: warning: it is not proven that chunks of 'by_virtual' give what one call gives, since it calls a function through a pointer or a virtual function
// CHECK: warning: it is not proven that chunks of 'by_function' give what one call gives, since it calls a function through a pointer or a virtual function
// CHECK: warning: it is not proven that chunks of 'by_pointer_to' give what one call gives, since it calls a function through a pointer or a virtual function
// CHECK: warning: it is not proven that chunks of 'vector_lives' give what one call gives, since it carries a value from one iteration of its loop to the next
// CHECK: warning: it is not proven that chunks of 'string_lives' give what one call gives, since it frees memory that it has not allocated
// CHECK: warning: it is not proven that chunks of 'tokens' give what one call gives, since it calls 'strtok_r', whose code is not seen
// CHECK: warning: it is not proven that chunks of 'states' give what one call gives, since it carries a value from one iteration of its loop to the next
// CHECK: warning: it is not proven that chunks of 'jumps' give what one call gives, since it has a loop over the range that data may end early, which other chunks would have to know
// CHECK: warning: it is not proven that chunks of 'until' give what one call gives, since it has a loop over the range that data may end early, which other chunks would have to know
// CHECK: warning: it is not proven that chunks of 'with_break' give what one call gives, since it has a loop over the range that data may end early, which other chunks would have to know
// CHECK: warning: it is not proven that chunks of 'with_return' give what one call gives, since it has a loop over the range that data may end early, which other chunks would have to know
// CHECK: warning: it is not proven that chunks of 'assembly' give what one call gives, since it runs inline assembly
// CHECK: warning: it is not proven that chunks of 'error_number' give what one call gives, since it calls '__errno_location', whose code is not seen
// CHECK: warning: it is not proven that chunks of 'last_seen' give what one call gives, since it carries a value from one iteration of its loop to the next
// CHECK: warning: it is not proven that chunks of 'guarded_chain' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'scattered' give what one call gives, since it stores at an index or through a pointer that is data
// CHECK: warning: it is not proven that chunks of 'compacted' give what one call gives, since it stores at an index or through a pointer that is data
// CHECK: warning: it is not proven that chunks of 'in_fours' give what one call gives, since it has a loop whose iterations do not divide as the range does
// CHECK: warning: it is not proven that chunks of 'sum_until' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'median' give what one call gives, since it uses behind a loop over the range what that loop leaves in local memory
// CHECK: warning: it is not proven that chunks of 'most_first' give what one call gives, since it begins with an element that may be a NaN, as which it stays
// CHECK: warning: it is not proven that chunks of 'most_macro' give what one call gives, since it forgets what it has combined where the next value is a NaN
// CHECK: warning: it is not proven that chunks of 'last_least' give what one call gives, since it stores to a reduction's target what is not combined by the operator
// CHECK: warning: it is not proven that chunks of 'least_from_end' give what one call gives, since it stores to a reduction's target what is not known to be the first of the least or greatest values
// CHECK: warning: it is not proven that chunks of 'earliest' give what one call gives, since it keeps the smaller index of equal values, also where the target already has that value
// CHECK: warning: it is not proven that chunks of 'ends_by_data' give what one call gives, since it may end the program with a status that depends on which chunk comes first
// CHECK: warning: it is not proven that chunks of 'ends_by_kind' give what one call gives, since it may end the program with a status that depends on which chunk comes first
// CHECK: warning: it is not proven that chunks of 'ends_with_text' give what one call gives, since it may end the program with a status that depends on which chunk comes first
// CHECK: warning: it is not proven that chunks of 'ends_or_aborts' give what one call gives, since it may end the program with a status that depends on which chunk comes first
// CHECK: warning: it is not proven that chunks of 'ends_or_throws' give what one call gives, since it may end the program with a status that depends on which chunk comes first
// CHECK: warning: it is not proven that chunks of 'fatal_error' give what one call gives, since it calls 'fatal', whose code is not seen
// CHECK: warning: it is not proven that chunks of 'needs_pages' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'ends_late' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'returns_at_once' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'promises_pages' give what one call gives, since it promises something of its length or pointers, which need not hold in chunks
// CHECK: warning: it is not proven that chunks of 'promises_lines' give what one call gives, since it promises something of its length or pointers, which need not hold in chunks
// CHECK: warning: it is not proven that chunks of 'rises' give what one call gives, since it stores to a reduction's target what is not combined by the operator
// CHECK: warning: it is not proven that chunks of 'not_seen' give what one call gives, since it calls 'elsewhere(double)', whose code is not seen
// CHECK: warning: it is not proven that chunks of 'is_elsewhere' give what one call gives, since it has no code in this file, and a definition in a header would be seen
// CHECK: warning: it is not proven that chunks of 'input' give what one call gives, since it calls 'read', whose code is not seen
// CHECK: warning: it is not proven that chunks of 'shifted_length' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'far_choice' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'far_product' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'one_bit' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'at_most' give what one call gives, since it has a loop whose iterations do not divide as the range does
// CHECK: warning: it is not proven that chunks of 'far_chain' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'masked' give what one call gives, since it stores to a place in several iterations
// CHECK: warning: it is not proven that chunks of 'clamped' give what one call gives, since it stores to a place in several iterations
// CHECK: warning: it is not proven that chunks of 'chain_in_global' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'chain_in_struct' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'copies_at_most' give what one call gives, since it stores outside of a loop over the range, so once in each chunk
// CHECK: warning: it is not proven that chunks of 'pairs' give what one call gives, since it has a loop over the range inside of another one
// CHECK: warning: it is not proven that chunks of 'unsigned_least' give what one call gives, since it stores to a reduction's target what is not combined by the operator
// CHECK: warning: it is not proven that chunks of 'before' give what one call gives, since it combines with the target's value of before a loop
// CHECK: warning: it is not proven that chunks of 'masked_most' give what one call gives, since it uses a number or an address that is another one in each chunk
// CHECK: warning: it is not proven that chunks of 'distance' give what one call gives, since it compares addresses that are not known to be of one array
// CHECK: warning: it is not proven that chunks of 'own_address' give what one call gives, since it uses the address of an array as a number
// CHECK: warning: it is not proven that chunks of 'cleared_ahead' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'copied_ahead' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'one_array' give what one call gives, since it reads at an index that is data where it also stores
// CHECK: warning: it is not proven that chunks of 'far_limit' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'far_inner' give what one call gives, since it reads what another iteration stores
// CHECK: warning: it is not proven that chunks of 'far_store' give what one call gives, since it stores to a place in several iterations
// CHECK: warning: it is not proven that chunks of 'piles_up' give what one call gives, since it stores to a place in several iterations
// CHECK: warning: it is not proven that chunks of 'narrower' give what one call gives, since it stores at a place that is not known to be the same in a chunk
// CHECK: warning: it is not proven that chunks of 'widened' give what one call gives, since it converts what it has combined so far
// CHECK: warning: it is not proven that chunks of 'wrapped' give what one call gives, since it converts what it has combined so far
// CHECK: warning: it is not proven that chunks of 'total_in_loop' give what one call gives, since it combines a partial result with another one
// CHECK: warning: it is not proven that chunks of 'total_and_more' give what one call gives, since it combines a partial result with another one
// CHECK: warning: it is not proven that chunks of 'scratch_set' give what one call gives, since it carries a value from one iteration of its loop to the next
// CHECK: warning: it is not proven that chunks of 'scratch_before' give what one call gives, since it carries a value from one iteration of its loop to the next
// CHECK: warning: it is not proven that chunks of 'medians' give what one call gives, since it stores at an index or through a pointer that is data
