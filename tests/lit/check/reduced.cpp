// RUN: %not %kmmcc -std=c++17 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// REQUIRES: ir
// Reductions of plain functions by algorithms of C++: right ones get no message.
#include <algorithm>
#include <numeric>
#include <cmath>
#include <complex>
#include <limits>
static void acc(int n, const float *x, double *s) { *s += std::accumulate(x, x + n, 0.0); }
static void red(int n, const float *x, double *s) { *s += std::reduce(x, x + n, 0.0); }
static void accmul(int n, const double *x, double *s) { *s = std::accumulate(x, x + n, *s, std::multiplies<double>()); }
static void acclam(int n, const double *x, double *s) { *s = std::accumulate(x, x + n, *s, [](double a, double b) { return a + b * b; }); }
static void inner(int n, const double *x, const double *y, double *s) { *s += std::inner_product(x, x + n, y, 0.0); }
static void mx(int n, const float *x, float *s) { for (int i = 0; i < n; i++) *s = std::max(*s, x[i]); }
static void mx2(int n, const float *x, float *s) { float t = std::numeric_limits<float>::lowest(); for (int i = 0; i < n; i++) t = std::max(t, std::abs(x[i])); *s = std::max(*s, t); }
static void mn(int n, const float *x, float *s) { *s = std::min(*s, *std::min_element(x, x + n)); }
static void mn2(int n, const int *x, int *s) { int t = std::numeric_limits<int>::max(); std::for_each(x, x + n, [&](int v) { t = std::min(v, t); }); *s = std::min(t, *s); }
static void cnt(int n, const int *x, long *s) { *s += std::count_if(x, x + n, [](int v) { return v > 3; }); }
static void cnt2(int n, const int *x, long *s) { *s += std::count(x, x + n, 7); }
static void trans(int n, const double *x, double *s) { *s += std::transform_reduce(x, x + n, 0.0, std::plus<>(), [](double v) { return std::sqrt(v); }); }
static void any(int n, const int *x, bool *s) { *s = *s || std::any_of(x, x + n, [](int v) { return v < 0; }); }
template <class T> static T total(const T *b, const T *e) { T t{}; for (; b != e; ++b) t += *b; return t; }
static void tmpl(int n, const double *x, double *s) { *s += total(x, x + n); }
struct Sum { double v = 0; void add(double x) { v += x; } };
static void obj(int n, const double *x, double *s) { Sum t; for (int i = 0; i < n; i++) t.add(x[i]); *s += t.v; }
static void throws(int n, const int *x, long *s) { for (int i = 0; i < n; i++) { if (x[i] > 100) throw 5; *s += x[i]; } }
static void mm(int n, const double *x, double *s, double *u) { auto p = std::minmax_element(x, x + n); *s = std::min(*s, *p.first); *u = std::max(*u, *p.second); }
typedef std::complex<double> number;
static void numbers(int n, const number *x, number *s) { number t = 0; for (int i = 0; i < n; i++) t += x[i]; *s += t; }
static void decays(int n, const number *x, number *s) { number t = 0; for (int i = 0; i < n; i++) t = t * 0.5 + x[i]; *s += t; }
void complex(int n, number *x, number *s)
{
    #pragma kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i]) reduce(+: s[0])
    numbers(n, x, s);
    // CHECK: reduced.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: 'decays' combines what its loop carries
    #pragma kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(x[i]) reduce(+: s[0])
    decays(n, x, s);
}
void all(int n, float *x, double *xd, int *xi, double *d, float *s, int *si, long *sl, bool *sb, double *d2)
{
#define P(...) _Pragma(#__VA_ARGS__)
#define R(op, T, X, call) P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(X[i]) reduce(op: T[0])) call
R(+, d, x, acc(n, x, d)); R(+, d, x, red(n, x, d)); R(*, d, xd, accmul(n, xd, d)); R(+, d, xd, acclam(n, xd, d));
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(xd[i], d2[i]) reduce(+: d[0])) inner(n, xd, d2, d);
R(max, s, x, mx(n, x, s)); R(max, s, x, mx2(n, x, s)); R(min, s, x, mn(n, x, s)); R(min, si, xi, mn2(n, xi, si));
R(+, sl, xi, cnt(n, xi, sl)); R(+, sl, xi, cnt2(n, xi, sl)); R(+, d, xd, trans(n, xd, d)); R(||, sb, xi, any(n, xi, sb)); R(+, d, xd, tmpl(n, xd, d)); R(+, d, xd, obj(n, xd, d));
// CHECK: reduced.cpp:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'throws' combines 'sl[0]' by + alone
R(+, sl, xi, throws(n, xi, sl));
P(kmm parallel(i = 0:n) rebase(n: i) chunk(n / 4) read(xd[i]) reduce(min: d[0]) reduce(max: d2[0])) mm(n, xd, d, d2);
// CHECK: reduced.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: 'd[0]' is reduced here by another operator than that of 'acc'; say reduce(+: d[0])
R(max, d, x, acc(n, x, d));
// CHECK: reduced.cpp:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by min here, but what 'mx' stores
R(min, s, x, mx(n, x, s));
}
