// RUN: %not %kmmcc -O1 -fopenmp-simd -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: %kmmcc -O1 -fno-kmm-compare -c %s -o %t.o
// REQUIRES: ir
// Reductions of plain functions: right ones, which get no message, and wrong ones.
#include <math.h>
#include <float.h>
#include <stdbool.h>
#define F static void
F sum(int n, const float *x, float *s) { for (int i = 0; i < n; i++) s[0] += x[i]; }
F bins_kept(int n, const int *v, int *h) { int l[4] = {0}; for (int i = 0; i < n; i++) l[v[i] & 3] = v[i]; for (int k = 0; k < 4; k++) h[k] += l[k]; }
F bins_from_one(int n, const int *v, int *h) { int l[4]; for (int k = 0; k < 4; k++) l[k] = 1; for (int i = 0; i < n; i++) l[v[i] & 3]++; for (int k = 0; k < 4; k++) h[k] += l[k]; }
F in_twos(int n, const int *x, int *s) { int a = 0, b = 0, i; for (i = 0; i + 1 < n; i += 2) { a += x[i]; b += x[i + 1]; } if (i < n) a += x[i]; *s += a + b; }
F sum_local(int n, const float *x, float *s) { float t = 0; for (int i = 0; i < n; i++) t += x[i]; *s += t; }
F sum_from(int n, const float *x, float *s) { float t = *s; for (int i = 0; i < n; i++) t = t + x[i] * x[i]; *s = t; }
F sum_first(int n, const float *x, float *s) { float t = x[0]; for (int i = 1; i < n; i++) t += x[i]; *s += t; }
F difference(int n, const float *x, float *s) { float t = 0; for (int i = 0; i < n; i++) t -= x[i]; *s -= t; }
F scaled(int n, float h, const float *x, float *s) { double t = 0; for (int i = 0; i < n; i++) t += x[i]; *s += h * t / 2; }
F dot(int n, const float *x, const float *y, double *s) { double t = 0; for (int i = 0; i < n; i++) t = fma(x[i], y[i], t); *s += t; }
F unrolled(int n, const float *x, float *s) { float a = 0, b = 0, c = 0, d = 0; int i = 0; for (; i + 3 < n; i += 4) { a += x[i]; b += x[i+1]; c += x[i+2]; d += x[i+3]; } for (; i < n; i++) a += x[i]; *s += (a + b) + (c + d); }
F count(int n, const float *x, float *s) { int c = 0; for (int i = 0; i < n; i++) if (x[i] > 0 && x[i] < 100) c++; *s += c; }
F count_in(int n, const float *x, int *s) { for (int i = 0; i < n; i++) if (x[i] > 0 || x[i] < -100) ++*s; }
F count_bool(int n, const float *x, int *s) { for (int i = 0; i < n; i++) *s += x[i] > 0; }
F lengths(int n, const float *x, long *s) { *s += n; }
F lengths2(int n, const float *x, double *s) { double t = 0; for (int i = 0; i < n; i++) t += x[i]; s[0] += t; s[1] += n; }
F down(int n, const float *x, float *s) { while (n-- > 0) *s += *x++; }
F pointer(int n, const float *x, float *s) { float t = 0; for (const float *p = x, *e = x + n; p < e; ++p) t += *p; *s += t; }
F product(int n, const float *x, float *s) { float t = 1; for (int i = 0; i < n; i++) t *= x[i]; *s *= t; }
F quotient(int n, const float *x, float *s) { for (int i = 0; i < n; i++) *s /= x[i]; }
F histogram(int n, const int *x, int *h) { for (int i = 0; i < n; i++) h[x[i] & 7]++; }
F histogram2(int n, const int *x, const float *w, float *h) { for (int i = 0; i < n; i++) h[x[i]] = h[x[i]] + w[i]; }
F rows(int n, int w, const float *a, float *s) { for (int r = 0; r < n; r++) for (int k = 0; k < w; k++) s[k] += a[r * w + k] * k; }
F rows2(int n, int w, const float *a, float *s) { for (int k = 0; k < w; k++) { float t = 0; for (int r = 0; r < n; r++) t += a[r * w + k]; s[k] += t; } }
F norm_rows(int n, int w, const float *a, float *s) { for (int r = 0; r < n; r++) { float t = 0; for (int k = 0; k < w; k++) t += a[r * w + k] * a[r * w + k]; *s += sqrtf(t); } }
F max_rows(int n, int w, const float *a, float *s) { for (int r = 0; r < n; r++) { float t = 0; for (int k = 0; k < w; k++) t += fabsf(a[r * w + k]); if (t > *s) *s = t; } }
F sum_of_max(int n, int w, const float *a, float *s) { for (int r = 0; r < n; r++) { float t = a[r * w]; for (int k = 1; k < w; k++) if (a[r * w + k] > t) t = a[r * w + k]; *s += t; } }
F compensated(int n, const float *x, float *s) { float t = 0, c = 0; for (int i = 0; i < n; i++) { float y = x[i] - c, u = t + y; c = (u - t) - y; t = u; } *s += t; }
F nonzero(int n, const float *x, float *s) { if (n <= 0) return; float t = 0; for (int i = 0; i < n; i++) t += x[i]; if (t != 0) *s += t; }
F call_sum(int n, const float *x, float *s) { for (int i = 0; i < n; i++) *s += sinf(x[i]); }
F skip(int n, const float *x, float *s) { for (int i = 0; i < n; i++) { if (isnan(x[i])) continue; if (x[i] > 3) *s += x[i]; else *s += 2 * x[i]; } }
F xors(int n, const unsigned *x, unsigned *s) { unsigned t = 0; for (int i = 0; i < n; i++) t ^= x[i] << 3; *s ^= t; }
F ands(int n, const unsigned *x, unsigned *s) { unsigned t = ~0u; for (int i = 0; i < n; i++) t &= x[i]; *s &= t; }
F ors(int n, const unsigned *x, unsigned *s) { for (int i = 0; i < n; i++) *s |= 1u << (x[i] & 31); }
F all_and(int n, const int *x, int *s) { for (int i = 0; i < n; i++) *s = *s && x[i] > 0; }
F all_break(int n, const int *x, int *s) { int ok = 1; for (int i = 0; i < n; i++) if (x[i] < 0) { ok = 0; break; } *s = *s && ok; }
F any_if(int n, const int *x, int *s) { for (int i = 0; i < n; i++) if (x[i] < 0) *s = 1; }
F any_bool(int n, const int *x, bool *s) { for (int i = 0; i < n; i++) *s |= x[i] < 0; }
F any_local(int n, const int *x, bool *s) { bool t = false; for (int i = 0; i < n; i++) t = t || x[i] < 0; *s = *s || t; }
/* extremes */
F if_max(int n, const float *x, float *m) { for (int i = 0; i < n; i++) if (x[i] > *m) *m = x[i]; }
F if_max2(int n, const float *x, float *m) { for (int i = 0; i < n; i++) { float v = fabsf(x[i]); if (*m < v) *m = v; } }
F ter_max(int n, const float *x, float *m) { for (int i = 0; i < n; i++) *m = *m > x[i] ? *m : x[i]; }
F f_max(int n, const float *x, float *m) { for (int i = 0; i < n; i++) *m = fmaxf(*m, x[i]); }
F loc_max(int n, const float *x, float *m) { float t = -FLT_MAX; for (int i = 0; i < n; i++) if (x[i] > t) t = x[i]; if (t > *m) *m = t; }
F loc_max2(int n, const float *x, float *m) { float t = x[0]; for (int i = 1; i < n; i++) t = t < x[i] ? x[i] : t; *m = *m < t ? t : *m; }
F loc_max3(int n, const float *x, float *m) { float t = *m; for (int i = 0; i < n; i++) if (t < x[i]) t = x[i]; *m = t; }
F and_max(int n, const float *x, float *m) { for (int i = 0; i < n; i++) if (x[i] < 100 && x[i] > *m) *m = x[i]; }
F and_max2(int n, const float *x, float *m) { float t = -1e30f; for (int i = 0; i < n; i++) if (x[i] < 100 && x[i] > t) t = x[i]; *m = fmaxf(t, *m); }
F int_max(int n, const int *x, int *m) { for (int i = 0; i < n; i++) { if (x[i] <= *m) continue; *m = x[i]; } }
F fabs_max(int n, const double *x, double *m) { double t = 0; for (int i = 0; i < n; i++) t = fmax(t, fabs(x[i])); *m = fmax(*m, t); }
F clamp_max(int n, const int *x, int *m) { int t = 0; for (int i = 0; i < n; i++) t = x[i] > t ? x[i] : t; if (*m < t) *m = t; }
F four_max(int n, const int *x, int *m) { int a = x[0], b = x[0]; int i = 0; for (; i + 1 < n; i += 2) { if (x[i] > a) a = x[i]; if (x[i + 1] > b) b = x[i + 1]; } for (; i < n; i++) if (x[i] > a) a = x[i]; if (b > a) a = b; if (a > *m) *m = a; }
F square_max(int n, const float *x, float *m) { for (int i = 0; i < n; i++) if (x[i] * x[i] > *m) *m = x[i] * x[i]; }
F bounds_sum(int lo, int hi, const float *x, double *s) { for (int i = lo; i < hi; i++) s[0] += x[i] * i; }
F clipped(int lo, int hi, int n, const float *x, float *s) { for (int i = lo; i < hi && i < n - 1; i++) *s += 0.5f * (x[i] + x[i + 1]); }
F pairs(int n, const float *x, float *s) { for (int i = 0; i < n; i++) *s += x[i] * x[i + 1]; }
F again(int n, const float *x, float *s) { float t = x[0]; for (int i = 0; i < n; i++) t += x[i]; *s += t - x[0]; }
F first_more(int n, const float *x, float *s) { if (x[0] != 0) *s += x[0] * 1e-3f; for (int i = 0; i < n; i++) *s += x[i]; }
F first_twice(int n, const float *x, float *s) { float t = 0; for (int i = 0; i < n; i++) t += x[i]; t += x[0]; *s += t; }
F weighted(int n, const float *x, const float *w, float *s) { float t = 0; for (int i = 0; i < n; i++) t += x[i] * w[0]; *s += t * w[1]; }
struct best { float v; int i; };
F amin(int lo, int hi, const float *x, struct best *b) { for (int i = lo; i < hi; i++) if (x[i] < b->v) { b->v = x[i]; b->i = i; } }
F amin2(int lo, int hi, const float *x, struct best *b) { struct best t = {INFINITY, 0}; for (int i = lo; i < hi; i++) if (x[i] < t.v) { t.v = x[i]; t.i = i; } if (t.v < b->v) *b = t; }
F small(int n, const short *x, short *s) { for (int i = 0; i < n; i++) *s += x[i]; }
F mixed(int n, const float *x, double *s) { for (int i = 0; i < n; i++) { double v = x[i]; if (v < 0) v = -v; *s += v; } }
F simd(int n, const float *x, float *s) { float t = 0;
#pragma omp simd reduction(+: t)
  for (int i = 0; i < n; i++) t += x[i]; *s += t; }
F two(int n, const float *x, float *lo, float *hi) { for (int i = 0; i < n; i++) { if (x[i] < *lo) *lo = x[i]; else if (x[i] > *hi) *hi = x[i]; } }
F absorb(int n, const int *x, int *s) { for (int i = 0; i < n; i++) if (!x[i]) *s = 0; }
F parity_unequal(int n, const int *x, bool *s) { for (int i = 0; i < n; i++) *s = *s != (x[i] < 0); }
F parity_not(int n, const int *x, int *s) { for (int i = 0; i < n; i++) *s = !*s != !x[i]; }
static double by_halves(int n, const double *x) { if (n > 8) return by_halves(n / 2, x) + by_halves(n - n / 2, x + n / 2); double t = 0; for (int i = 0; i < n; i++) t += x[i]; return t; }
F halves(int n, const double *x, double *s) { *s += by_halves(n, x); }
F products(int n, const double _Complex *x, double _Complex *s) { for (int i = 0; i < n; i++) *s *= x[i]; }
F squares(int n, const long double *x, long double *y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i]; }
F parity(int n, const int *x, bool *s) { for (int i = 0; i < n; i++) *s ^= x[i] < 0; }
/* local arrays of accumulators */
F bins(int n, const int *x, int *h) { int l[8] = {0}; for (int i = 0; i < n; i++) l[x[i] & 7]++; for (int k = 0; k < 8; k++) h[k] += l[k]; }
F bins2(int n, const int *x, int *h) { int l[2][8]; for (int k = 0; k < 8; k++) l[0][k] = l[1][k] = 0; for (int i = 0; i < n; i++) l[x[i] & 1][x[i] & 7] -= x[i]; for (int k = 0; k < 8; k++) if (l[0][k]) h[k] += 2 * l[0][k] + l[1][k]; }
F bins3(int n, const int *x, int *h) { for (int i = 0; i < n; i++) { int l[8] = {0}; for (int j = 0; j < 8; j++) l[x[i] >> j & 7]++; for (int k = 0; k < 8; k++) h[k] += l[k]; } }
_Noreturn void fail(void);
F aborts(int n, const int *x, long *s) { for (int i = 0; i < n; i++) { if (x[i] > 100) fail(); *s += x[i]; } }
/* wrong ones */
F bin_index(int n, const int *x, int *h) { int l[8] = {0}; for (int i = 0; i < n; i++) l[i & 7] += x[i]; for (int k = 0; k < 8; k++) h[k] += l[k]; }
F bin_square(int n, const int *x, int *h) { int l[8] = {0}; for (int i = 0; i < n; i++) l[x[i] & 7]++; for (int k = 0; k < 8; k++) h[k] += l[k] * l[k]; }
F bin_prefix(int n, const int *x, int *h) { int l[8] = {0}; for (int i = 0; i < n; i++) { l[x[i] & 7]++; h[3] += l[3]; } }
F bin_begins(int n, const int *x, int *h) { int l[8] = {1}; for (int i = 0; i < n; i++) l[x[i] & 7]++; for (int k = 0; k < 8; k++) h[k] += l[k]; }
F bin_limit(int n, const int *x, int *h) { int l[8] = {0}; for (int i = 0; i < n; i++) if (l[x[i] & 7] < 9) l[x[i] & 7]++; for (int k = 0; k < 8; k++) h[k] += l[k]; }
F bin_anew(int n, const int *x, int *h) { int l[8] = {0}; for (int i = 0; i < n; i++) { l[x[i] & 7]++; if (x[i] == 3) for (int k = 0; k < 8; k++) l[k] = 0; } for (int k = 0; k < 8; k++) h[k] += l[k]; }
F bin_break(int n, const int *x, int *h) { int l[8] = {0}; for (int i = 0; i < n; i++) { if (x[i] > 99) break; l[x[i] & 7]++; } for (int k = 0; k < 8; k++) h[k] += l[k]; }
F own_index(int n, const int *x, long *s) { for (int i = 0; i < n; i++) s[0] += (long)x[i] * i; }
F own_count(int n, const int *x, int *s) { int c = 0, j = 0; for (int i = 0; i < n; i++) { if (j % 3 == 0) c += x[i]; j++; } *s += c; }
F own_max(int n, const int *x, int *s) { for (int i = 0; i < n; i++) if (x[i] < 0 && s[0] < i) s[0] = i; }
F own_argmin(int n, const float *x, struct best *b) { for (int i = 0; i < n; i++) if (x[i] < b->v) { b->v = x[i]; b->i = i; } }
F own_bin(int n, const int *x, int *h) { for (int i = 0; i < n; i++) h[i % 7] += x[i]; }
F edges(int n, const float *x, float *s) { for (int i = 0; i < n; i++) s[0] += i == 0 || i == n - 1 ? x[i] / 2 : x[i]; }
F mean(int n, const float *x, float *s) { for (int i = 0; i < n; i++) s[0] += x[i] / n; }
F above(int n, const int *x, int *s) { for (int i = 0; i < n; i++) if (x[i] > n / 10) s[0]++; }
F signs(int n, const int *x, int *s) { int g = 1; for (int i = 0; i < n; i++) { s[0] += g * x[i]; g = -g; } }
F changes(int n, const int *x, int *s) { int last = -1; for (int i = 0; i < n; i++) { if (x[i] != last) s[0]++; last = x[i]; } }
F longest(int n, const int *x, int *s) { int r = 0; for (int i = 0; i < n; i++) { r = x[i] > 0 ? r + 1 : 0; if (r > *s) *s = r; } }
F max_added(int n, const int *x, int *s) { int t = 0; for (int i = 0; i < n; i++) t = x[i] > t ? x[i] : t; *s += t; }
F calls(int n, const int *x, int *s) { s[0]++; for (int i = 0; i < n; i++) s[0] += x[i]; }
F bias(int n, const int *x, int *s) { int t = 100; for (int i = 0; i < n; i++) t += x[i]; *s += t; }
F begins(int n, const int *x, int *s) { *s = 0; for (int i = 0; i < n; i++) *s += x[i]; }
F begins_max(int n, const int *x, int *s) { *s = x[0]; for (int i = 1; i < n; i++) if (x[i] > *s) *s = x[i]; }
F horner(int n, const unsigned *x, unsigned *s) { for (int i = 0; i < n; i++) s[0] = s[0] * 31 + x[i]; }
F modulo(int n, const int *x, int *s) { for (int i = 0; i < n; i++) s[0] = (s[0] + x[i]) % 1009; }
F saturates(int n, const int *x, int *s) { for (int i = 0; i < n; i++) { s[0] += x[i]; if (s[0] > 5000) s[0] = 5000; } }
F root(int n, const double *x, double *s) { for (int i = 0; i < n; i++) *s += x[i] * x[i]; *s = sqrt(*s); }
F twice(int n, const double *x, double *s) { for (int i = 0; i < n; i++) *s += x[i]; *s *= 2; }
F turned(int n, const int *x, int *s) { for (int i = 0; i < n; i++) *s = x[i] - *s; }
F found(int n, const int *x, int *s) { for (int i = 0; i < n; i++) if (x[i] == 7) *s = x[i]; }
F divides(int n, const int *x, int *s) { for (int i = 0; i < n; i++) *s /= x[i] | 1; }
F less(int n, const int *x, int *s) { int t = 1 << 30; for (int i = 0; i < n; i++) t = x[i] < t ? x[i] : t; if (t < *s) *s = t; }
F prefix(int n, const int *x, int *y, int *s) { for (int i = 0; i < n; i++) { s[0] += x[i]; y[i] = s[0]; } }
F ticket(int n, int *y, int *s) { for (int i = 0; i < n; i++) y[i] = (*s)++; }
F trapezoid(int n, const float *x, float *s) { float t = 0; for (int i = 0; i < n - 1; i++) t += 0.5f * (x[i] + x[i + 1]); *s += t; }
F steepest(int n, const double *x, double *m) { double t = 0; for (int i = 1; i < n; i++) t = fmax(t, fabs(x[i] - x[i - 1])); *m = fmax(*m, t); }
float other(float a, float b);
F unseen(int n, const float *x, float *s) { for (int i = 0; i < n; i++) *s = other(*s, x[i]); }
F limited(int n, const int *x, int *s) { for (int i = 0; i < n; i++) if (*s < 100) *s += x[i]; }
void all(int n, int w, float *x, float *y, int *xi, unsigned *xu, float *s, double *d, int *si, unsigned *su, bool *sb, struct best *b, short *xs, short *ss, float *s2, long *sl, int *yi)
{
#define P(...) _Pragma(#__VA_ARGS__)
#define R(op, T, X, call) P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(X[i]) reduce(op: T[0])) call
R(+, s, x, sum(n, x, s)); R(+, s, x, sum_local(n, x, s)); R(+, s, x, sum_from(n, x, s)); R(+, s, x, sum_first(n, x, s)); R(+, s, x, difference(n, x, s));
R(+, s, x, scaled(n, 2, x, s)); R(+, s, x, unrolled(n, x, s)); R(+, s, x, count(n, x, s)); R(+, si, x, count_in(n, x, si)); R(+, si, x, count_bool(n, x, si));
// What a call stores before it throws or ends the program, it would not have stored yet, or no more, beside other chunks.
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'aborts' combines 'sl[0]' by + alone
R(+, sl, x, lengths(n, x, sl)); R(+, sl, xi, aborts(n, xi, sl));
#define B(f) P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(xi[i]) reduce(+: si[0:8])) f(n, xi, si)
B(bins); B(bins2); B(bins3);
P(kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) chunk(n / 4) read(x[i:2]) reduce(+: s[0])) clipped(0, n, n, x, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i:2]) reduce(+: s[0])) pairs(n, x, s);
// An element that is combined once in each call, such as a chunk's first one.
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'again' combines 's[0]' by + alone
R(+, s, x, again(n, x, s));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'first_more' combines 's[0]' by + alone
R(+, s, x, first_more(n, x, s));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'first_twice' combines 's[0]' by + alone
R(+, s, x, first_twice(n, x, s));
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i], y[0:2]) reduce(+: s[0])) weighted(n, x, y, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i]) reduce(+: d[0:2])) lengths2(n, x, d);
R(+, s, x, down(n, x, s)); R(+, s, x, pointer(n, x, s)); R(*, s, x, product(n, x, s)); R(*, s, x, quotient(n, x, s));
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(xi[i]) reduce(+: si[0:8])) histogram(n, xi, si);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(xi[i], x[i]) reduce(+: s[0:8])) histogram2(n, xi, x, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i * w:w]) reduce(+: s[0:w])) rows(n, w, x, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i * w:w]) reduce(+: s[0:w])) rows2(n, w, x, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i * w:w]) reduce(+: s[0])) norm_rows(n, w, x, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i * w:w]) reduce(max: s[0])) max_rows(n, w, x, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i * w:w]) reduce(+: s[0])) sum_of_max(n, w, x, s);
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i], y[i]) reduce(+: d[0])) dot(n, x, y, d);
R(+, s, x, compensated(n, x, s)); R(+, s, x, nonzero(n, x, s)); R(+, s, x, call_sum(n, x, s)); R(+, s, x, skip(n, x, s));
R(^, su, xu, xors(n, xu, su)); R(&, su, xu, ands(n, xu, su)); R(|, su, xu, ors(n, xu, su));
R(&&, si, xi, all_and(n, xi, si)); R(&&, si, xi, all_break(n, xi, si)); R(||, si, xi, any_if(n, xi, si)); R(||, sb, xi, any_bool(n, xi, sb)); R(||, sb, xi, any_local(n, xi, sb));
R(|, sb, xi, any_bool(n, xi, sb)); R(^, sb, xi, parity(n, xi, sb)); R(^, sb, xi, parity_unequal(n, xi, sb)); R(|, si, xi, any_if(n, xi, si)); R(&, si, xi, absorb(n, xi, si));
R(max, s, x, if_max(n, x, s)); R(max, s, x, if_max2(n, x, s)); R(max, s, x, ter_max(n, x, s)); R(max, s, x, f_max(n, x, s)); R(max, s, x, loc_max(n, x, s)); R(max, s, x, loc_max2(n, x, s)); R(max, s, x, loc_max3(n, x, s)); R(max, s, x, and_max(n, x, s)); R(max, s, x, and_max2(n, x, s));
R(max, si, xi, int_max(n, xi, si)); R(max, si, xi, clamp_max(n, xi, si)); R(max, si, xi, four_max(n, xi, si)); R(max, s, x, square_max(n, x, s)); { double *e = d + 1000; R(max, d, e, fabs_max(n, e, d)); }
P(kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) chunk(n / 4) read(x[i]) reduce(+: d[0])) bounds_sum(0, n, x, d);
P(kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) chunk(n / 4) read(x[i]) reduce(argmin: b[0])) amin(0, n, x, b);
P(kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) chunk(n / 4) read(x[i]) reduce(argmin: b[0])) amin2(0, n, x, b);
R(+, ss, xs, small(n, xs, ss)); R(+, d, x, mixed(n, x, d)); R(+, s, x, simd(n, x, s));
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i]) reduce(min: s[0]) reduce(max: s2[0])) two(n, x, s, s2);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'bin_index' combines what it computes from its own index
B(bin_index);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'bin_square' combines what its loop carries from one iteration to the next otherwise than by the operator
B(bin_square);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'bin_prefix' combines
B(bin_prefix);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'bin_begins' combines
B(bin_begins);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'bin_limit' combines
B(bin_limit);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'bin_anew' combines
B(bin_anew);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'bin_break' combines
B(bin_break);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'own_index' combines what it computes from its own index, which begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
R(+, sl, xi, own_index(n, xi, sl));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'own_count' combines what it computes from its own index, which begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(xi[i]) reduce(+: si[0])) own_count(n, xi, si);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'own_max' combines what it computes from its own index, which begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
R(max, si, xi, own_max(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'own_argmin' combines what it computes from its own index, which begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(x[i]) reduce(argmin: b[0])) own_argmin(n, x, b);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'own_bin' combines what it computes from its own index, which begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(xi[i]) reduce(+: si[0:7])) own_bin(n, xi, si);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'edges' does not read the same elements in chunks as in one call
R(+, s, x, edges(n, x, s));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'mean' combines what it computes from its length, which is another one in chunks
R(+, s, x, mean(n, x, s));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'above' combines what it computes from its length, which is another one in chunks
R(+, si, xi, above(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'signs' combines what its loop carries from one iteration to the next otherwise than by the operator, and that begins anew in each chunk
R(+, si, xi, signs(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'changes' combines what its loop carries from one iteration to the next otherwise than by the operator, and that begins anew in each chunk
R(+, si, xi, changes(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'longest' combines what its loop carries from one iteration to the next otherwise than by the operator, and that begins anew in each chunk
R(max, si, xi, longest(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'max_added' combines what its loop carries from one iteration to the next otherwise than by the operator, and that begins anew in each chunk
R(+, si, xi, max_added(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'calls' combines a number once in each call, and each chunk is a call
R(+, si, xi, calls(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'bias' combines a number once in each call, and each chunk is a call
R(+, si, xi, bias(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by + here, but what 'begins' stores is not its old value combined by + with others
R(+, si, xi, begins(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by max here, but what 'begins_max' stores is not its old value combined by max with others
R(max, si, xi, begins_max(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'su[0]' is reduced by + here, but what 'horner' stores is not its old value combined by + with others
R(+, su, xu, horner(n, xu, su));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by + here, but what 'modulo' stores is not its old value combined by + with others
R(+, si, xi, modulo(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by + here, but what 'saturates' stores is not its old value combined by + with others
R(+, si, xi, saturates(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by + here, but what 'turned' stores is not its old value combined by + with others
R(+, si, xi, turned(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by + here, but what 'found' stores is not its old value combined by + with others
R(+, si, xi, found(n, xi, si));
{ double v = 0, *e = d + 1000;
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: '(&v)[0]' is reduced by + here, but what 'root' stores is not its old value combined by + with others
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(e[i]) reduce(+: (&v)[0])) root(n, e, &v);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: '(&v)[0]' is reduced here by another operator than that of 'twice'
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(e[i]) reduce(+: (&v)[0])) twice(n, e, &v);
}
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by * here, but what 'divides' stores is not its old value combined by * with others
R(*, si, xi, divides(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced by max here, but what 'less' stores is not its old value combined by max with others
R(max, si, xi, less(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced here, but 'prefix' also reads it: a chunk has a copy of its own
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(xi[i]) write(yi[i]) reduce(+: si[0])) prefix(n, xi, yi, si);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'si[0]' is reduced here, but 'ticket' also reads it: a chunk has a copy of its own
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) write(yi[i]) reduce(+: si[0])) ticket(n, yi, si);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'bins_kept' combines 'si[0:4]' by + alone; KMM_CHECK=result compares the result with that of one call [-Wkmm-reduce]
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(xi[i]) reduce(+: si[0:4])) bins_kept(n, xi, si);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'bins_from_one' combines 'si[0:4]' by + alone; KMM_CHECK=result compares the result with that of one call [-Wkmm-reduce]
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(xi[i]) reduce(+: si[0:4])) bins_from_one(n, xi, si);
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'in_twos' combines 'si[0]' by + alone; KMM_CHECK=result compares the result with that of one call [-Wkmm-reduce]
R(+, si, xi, in_twos(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'unseen' combines 's[0]' by + alone; KMM_CHECK=result compares the result with that of one call [-Wkmm-reduce]
R(+, s, x, unseen(n, x, s));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'limited' combines 'si[0]' by + alone; KMM_CHECK=result compares the result with that of one call [-Wkmm-reduce]
R(+, si, xi, limited(n, xi, si));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'trapezoid' reads x[{{[0-9]+}}] less often in chunks than in one call, so that what it reduces lacks pairs across the edges of chunks; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
R(+, s, x, trapezoid(n, x, s));
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: error: 'steepest' reads e[{{[0-9]+}}] less often in chunks than in one call
{ double v = 0, *e = d + 1000; P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(e[i]) reduce(max: (&v)[0])) steepest(n, e, &v); }
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'parity_not' combines 'si[0]' by ^ alone
R(^, si, xi, parity_not(n, xi, si));
{ double v = 0, *e = d + 1000;
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'halves' combines '(&v)[0]' by + alone
P(kmm parallel(i = 0:n) rebase(n: i) chunk(611) read(e[i]) reduce(+: (&v)[0])) halves(n, e, &v);
}
{ static double _Complex c[1000], p; static long double a[1000], b[1000]; int m = 1000;
// CHECK: reduced.c:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'products' combines '(&p)[0]' by * alone
P(kmm parallel(i = 0:m) rebase(n: i) chunk(100) read(c[i]) reduce(*: (&p)[0])) products(m, c, &p);
P(kmm parallel(i = 0:m) rebase(n: i) chunk(100) read(a[i]) write(b[i])) squares(m, a, b);
}
}
