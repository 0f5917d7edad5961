// RUN: %kmmcc -O1 -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=warning: --implicit-check-not=error: %s
// REQUIRES: ir
// Reductions of which it looks as if all iterations were combined, in order, by the operator. Every warning is in the list at the end.
struct best { int value, index; };
struct turned { int at, cost; };
struct named { int value; unsigned id; };

// ---- Not proven ----
static void column(int lo, int hi, const int *x, struct best *b) { for (int i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->index = i & 1023; } }
static void hashed(unsigned lo, unsigned hi, const int *x, struct best *b) { for (unsigned i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->index = (int)(i * 1000003u); } }
static void of_rows(int y0, int y1, int x0, int x1, int w, const int *p, struct best *b) { for (int y = y0; y < y1; y++) for (int x = x0; x < x1; x++) if (p[y * w + x] < b->value) { b->value = p[y * w + x]; b->index = x; } }
static void repeated(int lo, int hi, int k, const int *x, struct best *b) { for (int j = 0; j < k; j++) for (int i = lo; i < hi; i++) if (x[i] * j < b->value) { b->value = x[i] * j; b->index = i; } }
static void other_member(int lo, int hi, const int *x, struct turned *b) { for (int i = lo; i < hi; i++) if (x[i] < b->cost) { b->cost = x[i]; b->at = i; } }
static void no_roots(int lo, int hi, const int *p, const int *x, int *m) { int t = x[lo]; for (int i = lo; i < hi; i++) { if (p[i] == i) continue; if (x[i] > t) t = x[i]; } if (t > *m) *m = t; }
static void any_bits(int n, const int *x, int *k) { for (int i = 0; i < n; i++) *k |= x[i] & 6; }
static void all_bits(int n, const int *x, int *k) { for (int i = 0; i < n; i++) *k &= x[i]; }
static void bins(int n, const int *x, float *h) { for (int i = 0; i < n; i++) h[x[i] & 7] += x[i] * .5f; }
static void halves(int n, const int *x, short *h) { for (int i = 0; i < n; i++) h[0] += x[i]; }
static void one_before(int lo, int hi, const int *x, struct named *b) { for (int i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->id = (unsigned)i - 1; } }
static void ids(unsigned lo, unsigned hi, unsigned first, const int *x, struct named *b) { for (unsigned i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->id = first + i; } }
static void diagonals(int y0, int y1, int x0, int x1, int w, const int *p, struct best *b) { for (int y = y0; y < y1; y++) for (int x = x0; x < x1; x++) if (p[y * w + x] < b->value) { b->value = p[y * w + x]; b->index = x + y; } }
static void two_conditions(int lo, int hi, const int *p, const int *x, int *k) { int last = 0; for (int i = lo; i < hi; i++) { if (x[i] < last) { if (p[i]) *k = 0; } last = x[i]; } }
static void shared_else(int lo, int hi, const int *p, const int *x, int *s) { int t = 0; unsigned char closed[16] = {0}; for (int i = lo; i < hi; i++) if (x[i] > 2 && !closed[p[i] & 15]) t += x[i]; else closed[p[i] & 15] = 1; *s += t; }
static void greatest_open(int lo, int hi, const int *p, const int *x, int *m) { int t = -1; unsigned char closed[16] = {0}; for (int i = lo; i < hi; i++) if (x[i] > t && !closed[p[i] & 15]) t = x[i]; else closed[p[i] & 15] = 1; if (t > *m) *m = t; }
static void if_any(int n, const int *x, int *s) { unsigned char seen[16] = {0}; for (int i = 0; i < n; i++) seen[x[i] & 15] = 1; if (seen[7]) for (int i = 0; i < n; i++) *s += x[i]; }

// ---- Proven ----
static void rows(int lo, int hi, int w, const int *x, struct best *b) { for (int r = lo; r < hi; r++) for (int k = 0; k < w; k++) if (x[r * w + k] < b->value) { b->value = x[r * w + k]; b->index = r * w + k; } }
static void numbers(unsigned lo, unsigned hi, const int *x, struct named *b) { for (unsigned i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->id = i; } }
static void signed_numbers(int lo, int hi, const int *x, struct named *b) { for (int i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->id = i; } }
static void one_more(int lo, int hi, int from, const int *x, struct best *b) { for (int i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->index = i + from; } }
static void two_unmarked(int lo, int hi, const int *p, const int *x, int *s) { int t = 0; for (int i = lo; i < hi; i++) if (x[i] > 2 && p[i]) t += x[i]; else t -= p[i]; *s += t; }
static void least(int lo, int hi, const int *x, struct best *b) { for (int i = lo; i < hi; i++) if (x[i] < b->value) { b->value = x[i]; b->index = i; } }
static void cells(int lo, int hi, int w, const int *x, struct best *b) { for (int i = lo; i < hi; i++) for (int j = 0; j < w; j++) if (x[i * w + j] < b->value) { b->value = x[i * w + j]; b->index = i; } }
static void begins(int lo, int hi, const int *x, int *m) { int t = x[lo]; for (int i = lo; i < hi; i++) if (x[i] > t) t = x[i]; if (t > *m) *m = t; }
static void any(int n, const int *x, int *k) { for (int i = 0; i < n; i++) *k |= x[i] > 6; }
static void all(int n, const int *x, int *k) { for (int i = 0; i < n; i++) *k &= x[i] != 0; }

void launches(int n, int w, int *p, int *x, int *k, struct best *b, struct turned *t, struct named *e)
{
#define BEST _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: b[0])")
#define MAXIMUM _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i], p[i]) reduce(max: k[0])")
    BEST column(0, n, x, b);
    BEST hashed(0, (unsigned)n, x, b);
#pragma kmm parallel(x = 0:w, y = 0:n) chunk(10, 10) rebase(y0: begin(y), y1: end(y), x0: begin(x), x1: end(x)) read(p[y*w+x]) reduce(argmin: b[0])
    of_rows(0, n, 0, w, w, p, b);
    BEST repeated(0, n, 3, x, b);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: t[0])
    other_member(0, n, x, t);
    MAXIMUM no_roots(0, n, p, x, k);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(||: k[0])
    any_bits(n, x, k);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(&&: k[0])
    all_bits(n, x, k);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(+: k[0:8])
    bins(n, x, (float *)k);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(+: k[0:8])
    halves(n, x, (short *)k);
#define NAMED _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(argmin: e[0])")
#define TOTAL _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i], p[i]) reduce(+: k[0])")
    NAMED one_before(0, n, x, e);
    NAMED ids(0, (unsigned)n, (unsigned)w, x, e);
#pragma kmm parallel(x = 0:w, y = 0:n) chunk(10, 10) rebase(y0: begin(y), y1: end(y), x0: begin(x), x1: end(x)) read(p[y*w+x]) reduce(argmin: b[0])
    diagonals(0, n, 0, w, w, p, b);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i], p[i]) reduce(&&: k[0])
    two_conditions(0, n, p, x, k);
    TOTAL shared_else(0, n, p, x, k);
    MAXIMUM greatest_open(0, n, p, x, k);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(+: k[0])
    if_any(n, x, k);

#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[w*i:w]) reduce(argmin: b[0])
    rows(0, n, w, x, b);
    NAMED numbers(0, (unsigned)n, x, e);
    NAMED signed_numbers(0, n, x, e);
    BEST one_more(0, n, w, x, b);
    TOTAL two_unmarked(0, n, p, x, k);
    BEST least(0, n, x, b);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[8*i:8]) reduce(argmin: b[0])
    cells(0, n, 8, x, b);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(lo: begin(i), hi: end(i)) read(x[i]) reduce(max: k[0])
    begins(0, n, x, k);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(||: k[0])
    any(n, x, k);
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) read(x[i]) reduce(&&: k[0])
    all(n, x, k);
}
// CHECK: warning: it is not proven that chunks of 'column' give what one call gives, since it stores to a reduction's target what is not known to be the first
// CHECK: warning: it is not proven that chunks of 'hashed' give what one call gives, since it stores to a reduction's target what is not known to be the first
// CHECK: warning: it is not proven that chunks of 'of_rows' give what one call gives, since it stores to a reduction's target what is not known to be the first
// CHECK: warning: it is not proven that chunks of 'repeated' give what one call gives, since it stores to a reduction's target what is not known to be the first
// CHECK: warning: it is not proven that chunks of 'other_member' give what one call gives, since it stores to a reduction's target what is not combined by the operator
// CHECK: warning: it is not proven that chunks of 'no_roots' give what one call gives, since
// CHECK: warning: it is not proven that chunks of 'any_bits' give what one call gives, since it combines bits of numbers
// CHECK: warning: it is not proven that chunks of 'all_bits' give what one call gives, since it combines bits of numbers
// CHECK: warning: it is not proven that chunks of 'bins' give what one call gives, since it stores to a reduction's target as another type than the clause's
// CHECK: warning: it is not proven that chunks of 'halves' give what one call gives, since it stores to a reduction's target as another type than the clause's
// CHECK: warning: it is not proven that chunks of 'one_before' give what one call gives, since it stores to a reduction's target what is not known to be the first
// CHECK: warning: it is not proven that chunks of 'ids' give what one call gives, since it stores to a reduction's target what is not known to be the first
// CHECK: warning: it is not proven that chunks of 'diagonals' give what one call gives, since it stores to a reduction's target what is not known to be the first
// CHECK: warning: it is not proven that chunks of 'two_conditions' give what one call gives, since it stores to a reduction's target what is not combined
// CHECK: warning: it is not proven that 'shared_else' combines 'k[0]' by + alone
// CHECK: warning: it is not proven that 'greatest_open' combines 'k[0]' by max alone
// CHECK: warning: it is not proven that 'if_any' combines 'k[0]' by + alone
