// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// RUN: %kmmcc -fno-kmm-compare -c %s -o %t.o
// REQUIRES: ir
// Plain functions that keep a state, change or know more than their arguments; and some that do not.
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#define F static void
static pthread_t known_thread;
static int counter, last[1], *there = &counter, turn;
static struct { int a, b; } pair, *of_pair = &pair;
F by_pointer(int n, int *y) { int *c = &counter; for (int i = 0; i < n; i++) y[i] += ++*c; }
static void bump(int *p) { (*p)++; }
F by_helper(int n, int *y) { for (int i = 0; i < n; i++) { bump(&counter); y[i] += 1; } }
static int *next(void) { static int k; return &k; }
F by_returned(int n, int *y) { for (int i = 0; i < n; i++) y[i] += (*next())++; }
F by_memcpy(int n, const int *x, int *y) { for (int i = 0; i < n; i++) { y[i] = x[i]; memcpy(last, &x[i], sizeof(int)); } }
F by_global(int n, int *y) { for (int i = 0; i < n; i++) { y[i] += 1; *there += 1; } }
F by_member(int n, int *y) { for (int i = 0; i < n; i++) { y[i] += 1; of_pair->b = 1; } }
void unseen(int *p);
F by_unseen(int n, int *y) { for (int i = 0; i < n; i++) y[i] += 1; unseen(&counter); }
static int block_size(int k) { return k; }
F named_lock(int n, int *y) { for (int i = 0; i < n; i++) { y[i] = block_size(i) + (int)clock(); counter++; } }
F draws(int n, int *y) { for (int i = 0; i < n; i++) y[i] += rand(); }
F draws_48(int n, double *y) { for (int i = 0; i < n; i++) y[i] += drand48(); }
F splits(int n, char *y) { for (int i = 0; i < n; i++) if (y[i]) strtok(y, " "); }
F signs(int n, double *y) { for (int i = 0; i < n; i++) { double l = lgamma(y[i]); y[i] = l * signgam; } }
F older(int n, double *y) { for (int i = 0; i < n; i++) { y[i] = 1 / y[i]; y[i] += fetestexcept(FE_DIVBYZERO) != 0; } }
F own(int n, double *y) { for (int i = 0; i < n; i++) { feclearexcept(FE_DIVBYZERO); y[i] = 1 / y[i]; y[i] += fetestexcept(FE_DIVBYZERO) != 0; } }
F clears_some(int n, double *y) { for (int i = 0; i < n; i++) { if (y[i] < 0) feclearexcept(FE_DIVBYZERO); y[i] = 1 / y[i]; y[i] += fetestexcept(FE_DIVBYZERO) != 0; } }
F clears_first(int n, double *y) { feclearexcept(FE_DIVBYZERO); for (int i = 0; i < n; i++) { y[i] = 1 / y[i]; y[i] += fetestexcept(FE_DIVBYZERO) != 0; } }
F clears_other(int n, double *y) { for (int i = 0; i < n; i++) { feclearexcept(FE_INVALID); y[i] = 1 / y[i]; y[i] += fetestexcept(FE_DIVBYZERO) != 0; } }
F clears_outside(int n, double *y) { for (int i = 0; i < n; i++) { feclearexcept(FE_ALL_EXCEPT); for (int k = 0; k < 3 && !fetestexcept(FE_DIVBYZERO); k++) y[i] = 1 / (y[i] - k); } }
F changes_environment(int n, int *y) { for (int i = 0; i < n; i++) { y[i] += 1; setenv("KEY", "1", 1); } }
F names_files(int n, char *y) { for (int i = 0; i < n; i++) y[i] = tmpnam(NULL)[5]; }
F widens(int n, char *y) { for (int i = 0; i < n; i++) { wchar_t w; y[i] = (char)mbrtowc(&w, &y[i], 1, NULL); } }
F converts(int n, char *y) { for (int i = 0; i < n; i++) y[i] = *ecvt(y[i], 3, &(int){0}, &(int){0}); }
F prints(int n, const int *x) { for (int i = 0; i < n; i++) printf("%d\n", x[i]); }
F knows_itself(int n, int *y) { for (int i = 0; i < n; i++) y[i] += pthread_equal(pthread_self(), known_thread); }
static void leaves_rounding(int n, double *y) { fesetround(FE_UPWARD); for (int i = 0; i < n; i++) y[i] /= 3; }
static void puts_back_rounding(int n, double *y) { int old = fegetround(); fesetround(FE_UPWARD); for (int i = 0; i < n; i++) y[i] /= 3; fesetround(old); }
F raises(int n, double *y) { for (int i = 0; i < n; i++) if (y[i] < 0) raise(SIGUSR1); else y[i] /= 3; }
static int table[5000], *of_table = table;
F by_table(int n, int *y) { for (int i = 0; i < n; i++) y[i] = of_table[i]; }
F draws_own(int n, unsigned seed, int *y) { for (int i = 0; i < n; i++) y[i] = rand_r(&seed); }
F previous(int n, const int *x, int *y) { int p = 0; for (int i = 0; i < n; i++) { y[i] = x[i] - p; p = x[i]; } }
F previous_of(int lo, int hi, const int *x, int *y) { int p = 0; for (int i = lo; i < hi; i++) { y[i] = x[i] - p; p = x[i]; } }
F from_lo(int lo, int hi, int *y) { for (int i = lo; i < hi; i++) y[i] = i - lo; }
F by_length(int lo, int hi, double *y) { for (int i = lo; i < hi; i++) y[i] /= hi - lo; }
F middle(int lo, int hi, int *y) { int m = (lo + hi) / 2; for (int i = lo; i < hi; i++) y[i] = i < m; }
F counted(int lo, int hi, int (*a)[120]) { int k = 0; for (int y = lo; y < hi; y++) for (int x = 0; x < 120; x++) a[y][x] = k++; }
F number(int n, uintptr_t p) { int *y = (int *)p; for (int i = 0; i < n; i++) y[i] = -1; }
F cast(int n, const int *x) { int *y = (int *)(uintptr_t)x; for (int i = 0; i < n; i++) y[i] += 1; }
/* right ones */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int total;
static atomic_flag flag = ATOMIC_FLAG_INIT;
F locked(int n, int *y) { for (int i = 0; i < n; i++) y[i] += 1; pthread_mutex_lock(&mutex); counter += n; pthread_mutex_unlock(&mutex); }
F atomically(int n, int *y) { for (int i = 0; i < n; i++) y[i] += 1; atomic_fetch_add(&total, n); }
F spins(int n, int *y) { for (int i = 0; i < n; i++) y[i] += 1; while (atomic_flag_test_and_set(&flag)) ; counter += n; atomic_flag_clear(&flag); }
F exchanges(int n, int *y) { for (int i = 0; i < n; i++) y[i] += 1; while (__sync_lock_test_and_set(&turn, 1)) ; bump(&counter); __sync_lock_release(&turn); }
F to_memory(int n, int *y) { char *b; size_t c; FILE *f = open_memstream(&b, &c); for (int i = 0; i < n; i++) fprintf(f, "%d ", y[i]); fclose(f); const char *p = b; for (int i = 0; i < n; i++) y[i] = 2 * (int)strtol(p, (char **)&p, 10); free(b); }
F complains(int n, int *y) { for (int i = 0; i < n; i++) if (y[i] < 0) fprintf(stderr, "negative\n"); else y[i]--; }
F seeded(int lo, int hi, int *y) { for (int i = lo; i < hi; i++) { unsigned seed = (unsigned)i; y[i] = rand_r(&seed); } }
F logs(int n, double *y) { for (int i = 0; i < n; i++) y[i] = lgamma(y[i]) + (getenv("KEY") != NULL); }
F widens_own(int n, char *y) { for (int i = 0; i < n; i++) { wchar_t w; mbstate_t s; memset(&s, 0, sizeof(s)); y[i] = (char)mbrtowc(&w, &y[i], 1, &s); } }
F reads(int n, const int *x, int *y) { for (int i = 0; i < n; i++) y[i] = x[i] + (int)strlen("ab") + memcmp(last, &pair, 1); }
F deltas(int n, const int *x, int *y) { int p = 0; for (int i = 0; i < n; i++) { if (i % 8 == 0) p = 0; y[i] = x[i] - p; p = x[i]; } }
F window(int lo, int hi, const int *x, int *y) { int p = lo > 0 ? x[lo - 1] : 0; for (int i = lo; i < hi; i++) { y[i] = x[i] - p; p = x[i]; } }
F known(int lo, int hi, double h, double *y) { double t = lo * h; for (int i = 0; i < hi - lo; i++) y[lo + i] = t + i * h; }
F whole(int lo, int hi, int n, double *y) { for (int i = lo; i < hi; i++) y[i] = (double)i / n + (i < n / 2); }
F steps(int n, int t, int *y) { int p = 0; for (int k = 0; k < t; k++) { int q = p; for (int i = 0; i < n; i++) y[i] += q; p = k; } }
F disjoint(int lo, int hi) { for (int i = lo; i < hi; i++) of_table[i] = 2; }
F counts_rows(int lo, int hi, int (*a)[120]) { int k = lo * 120; for (int y = lo; y < hi; y++) for (int x = 0; x < 120; x++) a[y][x] = k++; }
void all(int n, const int *x, int *y, double *d, char *c, int (*a)[120], const int *z)
{
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_pointer' changes 'counter', which all chunks share, and they run at once and in any order; make it a parameter, which rebase tells where the chunk begins or a clause names
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_pointer(n, y);
// CHECK: state.c:[[#@LINE+2]]:{{.*}} error: 'by_helper' changes 'counter'
// CHECK: note: it is changed here
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_helper(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_returned' changes 'k'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_returned(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_memcpy' changes the global variable 'last'
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    by_memcpy(n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_global' changes 'there'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_global(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_member' changes 'of_pair'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_member(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_unseen' changes the global variable 'counter'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    by_unseen(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'named_lock' changes the global variable 'counter'
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    named_lock(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'draws' uses 'rand', which has one state for the whole program, and chunks run at once and in any order; call it without the pragma, or compute the values before
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    draws(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'draws_48' uses 'drand48'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    draws_48(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'splits' uses 'strtok'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(c[i])
    splits(n, c);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'signs' uses 'signgam', which has one state
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    signs(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'older' uses 'fetestexcept', which has one state
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    older(n, d);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    own(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'clears_some' uses 'fetestexcept', which has one state
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    clears_some(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'clears_first' uses 'fetestexcept', which has one state
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    clears_first(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'clears_other' uses 'fetestexcept', which has one state
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    clears_other(n, d);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    clears_outside(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'changes_environment' uses 'setenv'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    changes_environment(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'names_files' uses 'tmpnam'
#pragma kmm parallel(i = 0:n) rebase(n: i) write(c[i])
    names_files(n, c);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'widens' uses 'mbrtowc'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(c[i])
    widens(n, c);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'converts' uses 'ecvt'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(c[i])
    converts(n, c);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'prints' prints, and chunks run at once and in any order, so lines come in another order than in one call [-Wkmm-output]
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    prints(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'knows_itself' calls 'pthread_self', which concerns the thread that calls it, and chunks run on threads of kmm [-Wkmm-thread]
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    knows_itself(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'leaves_rounding' calls 'fesetround'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    leaves_rounding(n, d);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    puts_back_rounding(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'raises' calls 'raise'
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    raises(n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_table' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    by_table(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'draws_own' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(n: i) write(y[i])
    draws_own(n, 1, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'previous' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    previous(n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'previous_of' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(x[i]) write(y[i])
    previous_of(0, n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'from_lo' stores to y[{{[0-9]+}}] what it computes from where its chunk begins or ends, and that is another value in chunks than in one call; pass the bounds of the whole range as well, as parameters that rebase does not name
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(y[i])
    from_lo(0, n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_length' stores to d[{{[0-9]+}}] what it computes from where its chunk
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) update(d[i])
    by_length(0, n, d);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'middle' stores to y[{{[0-9]+}}] what it computes from where its chunk
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(y[i])
    middle(0, n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'counted' stores what its loop carries
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(a[i][:])
    counted(0, n, a);
// CHECK: state.c:[[#@LINE+2]]:{{.*}} error: 'number' gets the address of 'y' as an integer, which does not become that of the chunk; pass it as a pointer
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    number(n, (uintptr_t)y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'z[i]' is only read here, but 'cast' stores to it
#pragma kmm parallel(i = 0:n) rebase(n: i) read(z[i])
    cast(n, z);
// CHECK-NOT: error:
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    locked(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    atomically(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    spins(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'exchanges' adds to 'counter' once in each call, and each chunk is a call; add it after the launch [-Wkmm-calls]
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    exchanges(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    complains(n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    to_memory(n, y);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(y[i])
    seeded(0, n, y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(d[i])
    logs(n, d);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(c[i])
    widens_own(n, c);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) write(y[i])
    reads(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    deltas(n, x, y);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(x[i - 1:2]) write(y[i])
    window(0, n, x, y);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(d[i])
    known(0, n, 0.5, d);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(d[i])
    whole(0, n, n, d);
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    steps(n, 4, y);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i))
    disjoint(0, n);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(a[i][:])
    counts_rows(0, n, a);
}
// What a pointer in memory of a parameter, or in a struct, leads to: all chunks share it, at one place and at an index that counts from 0.
struct table { long *count; struct table *inner; const int *known; };
static void add(struct table *t) { ++*t->count; }
static void leads_on(int n, struct table *t, int *x) { for (int i = 0; i < n; i++) { add(t); x[i] = t->known[0]; } }
static void by_inner(int n, const struct table *t, int *x) { for (int i = 0; i < n; i++) { t->inner->count[i] = i; x[i] = i & 1; } }
static void by_step(int n, const struct table *t, int *x) { long *p = t->count; for (int i = 0; i < n; i++) { *p++ = 1; x[i] = 1; } }
static void by_value(int n, struct table t, int *x) { for (int i = 0; i < n; i++) { t.count[3] += x[i]; x[i] = 1; } }
static void by_two(int n, long *const *const t, int *x) { for (int i = 0; i < n; i++) { ++**t; x[i] = 1; } }
static void of_own(int n, const struct table *t, int *x) { long own = t->known[0]; struct table l = {&own, 0, 0}; for (int i = 0; i < n; i++) { ++*l.count; x[i] = 1; } }
static void in_bounds(int lo, int hi, const struct table *t, int *x) { for (int i = lo; i < hi; i++) { t->count[i] = 1; t->inner->count[i + 1] = 2; x[i] = 1; } }
static void values_in_bounds(int lo, int hi, struct table t, int *x) { for (int i = lo; i < hi; i++) { t.count[i] = 1; x[i] = 1; } }
void lead(int n, int *x, struct table *t, long *const *p)
{
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'leads_on' changes what 't' leads to, which all chunks share, and they run at once and in any order; pass that pointer itself, with a clause that names what it leads to
#pragma kmm parallel(i = 0:n) rebase(n: i) write(x[i]) read(t[0:1])
    leads_on(n, t, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_inner' changes what 't' leads to
#pragma kmm parallel(i = 0:n) rebase(n: i) write(x[i]) read(t[0:1])
    by_inner(n, t, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_step' changes what 't' leads to
#pragma kmm parallel(i = 0:n) rebase(n: i) write(x[i]) read(t[0:1])
    by_step(n, t, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_value' changes what 'count' leads to
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i])
    by_value(n, *t, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'by_two' changes what 't' leads to
#pragma kmm parallel(i = 0:n) rebase(n: i) write(x[i]) read(p[0:1])
    by_two(n, p, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) write(x[i]) read(t[0:1])
    of_own(n, t, x);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(x[i]) read(t[0:1])
    in_bounds(0, n, t, x);
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) write(x[i])
    values_in_bounds(0, n, *t, x);
}
// What goes into memory that all calls share, atomically, under a lock, or at a place that an atomic sum gives out.
static int slots[5000], kept, best, best_at, rows[8], tail;
static long sum, bytes;
static volatile int seen;
static atomic_int given, least, all_seen, shards[8], at_index[5000], parts[64];
static atomic_uint version;
static struct { atomic_int least; int other; } of_atomic;
static int ready;
#define LOCK pthread_mutex_lock(&mutex)
#define UNLOCK pthread_mutex_unlock(&mutex)
F index_in_slot(int n, const int *x) { for (int i = 0; i < n; i++) if (x[i] > 3) { int k = atomic_fetch_add(&given, 1); if (k < 5000) slots[k] = i; } }
F index_in_lock(int n, const int *x) { LOCK; for (int i = 0; i < n; i++) if (x[i] > 3) kept = i; UNLOCK; }
F index_decides(int n, const int *x) { for (int i = 0; i < n; i++) { LOCK; if (i == 7) kept = x[i]; UNLOCK; } }
F index_volatile(int n, const int *x) { for (int i = 0; i < n; i++) if (x[i] > 3) seen = i; }
F index_atomic(int n, const int *x) { for (int i = 0; i < n; i++) if (x[i] > 3) atomic_store(&all_seen, i); }
F index_summed(int n, const int *x) { for (int i = 0; i < n; i++) atomic_fetch_add(&total, i * x[i]); }
F index_of_atomic(int n, const int *x) { for (int i = 0; i < n; i++) atomic_fetch_add(&at_index[i], x[i]); }
F length_in_version(int n, const int *x) { unsigned v = atomic_load(&version); do while (v & 1) v = atomic_load(&version); while (!atomic_compare_exchange_weak(&version, &v, v + 1)); kept = n; for (int i = 0; i < n; i++) sum += x[i]; atomic_store(&version, v + 2); }
F length_once(int n, int *y) { LOCK; if (!ready) { kept = n; ready = 1; } UNLOCK; for (int i = 0; i < n; i++) y[i] = kept; }
F length_squared(int n, const int *x) { LOCK; sum += (long)n * n; UNLOCK; }
F whole_sum(int n, const int *x) { long s = 0; for (int i = 0; i < n; i++) s += x[i]; LOCK; sum = s; UNLOCK; }
F order_of_slots(int lo, int hi, const int *x) { for (int i = lo; i < hi; i++) if (x[i] > 3) { int k = atomic_fetch_add(&given, 1); if (k < 5000) slots[k] = i; } }
F order_of_numbers(int n, int *y) { for (int i = 0; i < n; i++) y[i] = 2 * atomic_fetch_add(&given, 1); }
F calls_in_lock(int n, int *y) { LOCK; tail += 1; UNLOCK; for (int i = 0; i < n; i++) y[i] += 1; }
F calls_atomic(int n, int *y) { all_seen++; for (int i = 0; i < n; i++) y[i] += 1; }
/* right ones */
F sums(int n, const int *x) { long s = 0; for (int i = 0; i < n; i++) s += x[i]; LOCK; sum += s; bytes += n * (long)sizeof(int); UNLOCK; atomic_fetch_add(&total, n); }
F sums_of_bounds(int lo, int hi, const int *x) { LOCK; sum += hi - lo; UNLOCK; for (int i = lo; i < hi; i++) atomic_fetch_add(&total, i * x[i]); }
F extremes(int n, const int *x) { int b = -1; for (int i = 0; i < n; i++) b = x[i] > b ? x[i] : b; LOCK; if (b > best) best = b; UNLOCK; }
F extreme_of_exchange(int n, const int *x) { for (int i = 0; i < n; i++) { int o = atomic_load(&least); while (x[i] < o && !atomic_compare_exchange_weak(&least, &o, x[i])) ; } }
F where(int lo, int hi, const int *x) { for (int i = lo; i < hi; i++) { LOCK; if (x[i] > best || (x[i] == best && i < best_at)) { best = x[i]; best_at = i; } UNLOCK; } }
F histogram(int n, const int *x) { int h[8] = {0}; for (int i = 0; i < n; i++) h[x[i] & 7]++; LOCK; for (int k = 0; k < 8; k++) rows[k] += h[k]; UNLOCK; }
F sharded(int n, const int *x) { for (int i = 0; i < n; i++) atomic_fetch_add(&shards[i % 8], x[i]); }
F collects(int n, const int *x) { LOCK; for (int i = 0; i < n; i++) slots[tail++] = x[i]; UNLOCK; }
F flags(int n, const int *x) { for (int i = 0; i < n; i++) if (x[i] == 3) { atomic_store(&all_seen, 1); seen = 1; } }
F works_in_room(int n, int *y) { int at = atomic_fetch_add(&given, n); if (at + n > 5000) return; for (int i = 0; i < n; i++) slots[at + i] = i * y[i]; for (int i = 0; i < n; i++) y[i] = slots[at + i] != 0; }
F works_in_lock(int n, int *y) { LOCK; kept = n; for (int i = 0; i < kept; i++) y[i] += 1; UNLOCK; }
F adds_in_place(int n, const int *x) { int mine = atomic_fetch_add(&given, 1) & 63; for (int i = 0; i < n; i++) parts[mine] += x[i]; }
static int apart = 1;
#pragma omp threadprivate(apart)
F without_openmp(int n, int *y) { for (int i = 0; i < n; i++) y[i] += apart; }
F by_led(int n, const struct table *t, int *y) { for (int i = 0; i < n; i++) { y[i] = t->known[0]; y[i] += t->known[1]; } }
F counts_some(int n, const int *x) { for (int i = 0; i < n; i++) { if (x[i] > 3) all_seen++; if (x[i] > 4) shards[x[i] & 7]++; else of_atomic.least |= x[i]; } }
void share(int n, const int *x, int *y, const struct table *t)
{
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_in_slot' changes 'slots', which all chunks share, by what it computes from its own index, which begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the pragma
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    index_in_slot(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_in_lock' changes 'kept', which all chunks share, by what it computes from its own index
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    index_in_lock(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_decides' changes 'kept', which all chunks share, by what it computes from its own index
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    index_decides(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_volatile' changes 'seen', which all chunks share, by what it computes from its own index
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    index_volatile(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_atomic' changes 'all_seen', which all chunks share, by what it computes from its own index
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    index_atomic(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_summed' changes 'total', which all chunks share, by what it computes from its own index
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    index_summed(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_of_atomic' changes the element of 'at_index' at its own index, which begins anew in each chunk; make it a parameter that a clause names, or tell it the bounds, as in rebase(lo: begin(i), hi: end(i))
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    index_of_atomic(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'length_in_version' changes 'kept', which all chunks share, by what it computes from its length, which is another one in chunks; pass it a second time, as a parameter that rebase does not name
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    length_in_version(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'length_once' changes 'kept', which all chunks share, by what it computes from its length
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(y[i])
    length_once(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'length_squared' changes 'sum', which all chunks share, by what it computes from its length
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    length_squared(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'whole_sum' stores to 'sum', which all chunks share, what a loop over all of its range computes, and a chunk has a part of that range; combine it with the old value, or call it without the pragma
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    whole_sum(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'order_of_slots' stores to places of 'slots' that an atomic sum gives out, and chunks run at once and in any order, so each run has its values in another order [-Wkmm-order]
#pragma kmm parallel(i = 0:n) chunk(64) rebase(lo: begin(i), hi: end(i)) read(x[i])
    order_of_slots(0, n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'order_of_numbers' stores numbers that an atomic sum gives out, and chunks run at once and in any order, so each run has other ones [-Wkmm-order]
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) write(y[i])
    order_of_numbers(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'calls_in_lock' adds to 'tail' once in each call, and each chunk is a call; add it after the launch [-Wkmm-calls]
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(y[i])
    calls_in_lock(n, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'calls_atomic' adds to 'all_seen' once in each call
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(y[i])
    calls_atomic(n, y);
// CHECK-NOT: {{error|warning}}:
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    sums(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(lo: begin(i), hi: end(i)) read(x[i])
    sums_of_bounds(0, n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    extremes(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    extreme_of_exchange(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(lo: begin(i), hi: end(i)) read(x[i])
    where(0, n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    histogram(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    sharded(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    collects(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    flags(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(y[i])
    works_in_room(n, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(y[i])
    works_in_lock(n, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    adds_in_place(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i])
    counts_some(n, x);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(t[0:1]) write(y[i])
    by_led(n, t, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) update(y[i])
    without_openmp(n, y);
}
// Output: to streams that are not seen to be the call's own, and by names of functions.
F either(int n, int quiet, const int *x) { char b[99]; FILE *f = quiet ? fmemopen(b, 99, "w") : stdout; for (int i = 0; i < n; i++) fprintf(f, "%d", x[i]); }
F later(int n, const int *x) { char b[99]; FILE *f = fmemopen(b, 99, "w"); f = stdout; for (int i = 0; i < n; i++) fprintf(f, "%d", x[i]); }
F by_descriptor(int n, const int *x) { for (int i = 0; i < n; i++) write(1, &x[i], sizeof(int)); }
F by_name(int n, const int *x) { int (*p)(const char *) = puts; for (int i = 0; i < n; i++) p(x[i] ? "1" : "0"); }
static void put(FILE *f, int v) { fprintf(f, "%d", v); }
static void put_once(FILE *f, int v) { fprintf(f, "%d", v); }
F by_helper_to(int n, const int *x) { for (int i = 0; i < n; i++) put_once(stdout, x[i]); }
F to_own(int n, int quiet, const int *x) { char b[99]; FILE *f = NULL; f = quiet ? fmemopen(b, 99, "w") : tmpfile(); for (int i = 0; i < n; i++) put(f, x[i]); write(2, b, 1); fclose(f); }
F to_errors(int n, const int *x) { FILE *f = stderr; for (int i = 0; i < n; i++) put(f, x[i]); }
void outputs(int n, const int *x)
{
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'either' prints
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    either(n, 1, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'later' prints
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    later(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'by_descriptor' prints
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_descriptor(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'by_name' prints
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_name(n, x);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} warning: 'by_helper_to' prints
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    by_helper_to(n, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    to_own(n, 1, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i])
    to_errors(n, x);
}
// Its own index decides what is stored, or goes through a local array.
F first_differs(int n, const int *x, int *y) { for (int i = 0; i < n; i++) { if (i == 0) y[i] = 1; else y[i] = x[i]; } }
F rest_decides(int n, const int *x, int *y) { for (int i = 0; i < n; i++) { int v = x[i]; if (i % 7 > 3) v = -v; y[i] = v; } }
F pointer_decides(int n, const int *x, int *y) { for (const int *p = x, *e = x + n; p != e; p++) *y++ = *p ^ (p == x); }
F index_in_array(int n, const int *x, int *y) { int t[999]; for (int i = 0; i < n; i++) t[i] = i ^ x[i]; for (int i = 0; i < n; i++) y[i] = t[i]; }
F prefix_in_array(int n, const int *x, int *y) { int t[n]; t[0] = x[0]; for (int i = 1; i < n; i++) t[i] = t[i - 1] + x[i]; for (int i = 0; i < n; i++) y[i] = t[i]; }
F prefix_in_memory(int n, const int *x, int *y) { int *t = calloc(2, sizeof(int)); for (int i = 0; i < n; i++) { t[x[i] & 1] += x[i]; y[i] = t[1]; } free(t); }
/* right ones */
F rest_of_chunk(int n, const int *x, int *y) { for (int i = 0; i < n; i++) { int v = x[i]; if (i % 8 > 3) v = -v; y[i] = v; } }
F known_decides(int lo, int hi, const int *x, int *y) { for (int i = lo; i < hi; i++) { if (i == 0) y[i] = 1; else y[i] = x[i]; } }
F rest_known(int lo, int hi, const int *x, int *y) { for (int i = lo; i < hi; i++) { y[i] = i % 7; if (i % 7 > 3) y[i] = x[i]; } }
F array_of_each(int n, const int *x, int *y) { int t[8]; for (int i = 0; i < n; i++) { t[0] = x[i]; for (int k = 1; k < 8; k++) t[k] = t[k - 1] * 3 + k; y[i] = t[7]; } }
F copied(int n, const int *x, int *y) { int *t = malloc(n * sizeof(int)); for (int i = 0; i < n; i++) t[i] = 2 * x[i]; for (int i = 0; i < n; i++) y[i] = t[i] + 1; free(t); }
F sorted_each(int n, const int *x, int *y) { for (int i = 0; i < n; i++) { int t[4]; for (int k = 0; k < 4; k++) t[k] = x[i] >> k; for (int k = 1; k < 4; k++) for (int j = k; j > 0 && t[j] < t[j - 1]; j--) { int v = t[j]; t[j] = t[j - 1]; t[j - 1] = v; } y[i] = t[1]; } }
void decides(int n, const int *x, int *y)
{
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'first_differs' stores what its loop carries
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    first_differs(n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'rest_decides' stores what its loop carries
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    rest_decides(n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'pointer_decides' stores what its loop carries
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    pointer_decides(n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'index_in_array' stores what its loop carries
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    index_in_array(n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'prefix_in_array' stores what its loop carries
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    prefix_in_array(n, x, y);
// CHECK: state.c:[[#@LINE+1]]:{{.*}} error: 'prefix_in_memory' stores what its loop carries
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    prefix_in_memory(n, x, y);
// CHECK-NOT: {{error|warning}}:
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    rest_of_chunk(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(lo: begin(i), hi: end(i)) read(x[i]) write(y[i])
    known_decides(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(lo: begin(i), hi: end(i)) read(x[i]) write(y[i])
    rest_known(0, n, x, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    array_of_each(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    copied(n, x, y);
#pragma kmm parallel(i = 0:n) chunk(64) rebase(n: i) read(x[i]) write(y[i])
    sorted_each(n, x, y);
}
