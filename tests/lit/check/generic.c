// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// A _Generic of which it is not known what it calls.
static void add(int n, float *a) { for (int i = 0; i < n; i++) a[i]++; }
static void sub(int n, float *a) { for (int i = 0; i < n; i++) a[i]--; }
static void neg(int n, int *a) { for (int i = 0; i < n; i++) a[i] = -a[i]; }
void launch(int n, float *x, int *y)
{
    #pragma kmm parallel(i = 0:n) chunk(7000) rebase(n: i) update(x[i])
    // CHECK: :[[#@LINE+1]]:5: error: _Generic has several functions of the type that it selects here, so which one is called is not known; call it by its name
    _Generic((x), float *: add, int *: sub)(n, x);
    #pragma kmm parallel(i = 0:n) chunk(7000) rebase(n: i) update(x[i])
    // CHECK: :[[#@LINE+1]]:28: error: which of the calls in _Generic happens is not known here; let it select the function, as in _Generic((x), float *: f, double *: g)(n, x)
    _Generic((x), float *: add(n, x), int *: neg(n, y));
}
static int counted;
static int count_int(int n) { return n + counted++; }
static float count_float(float n) { return n + counted++; }
#define count(n) _Generic((n), int: count_int, float: count_float)(n)
void in_clauses(int n, float *x)
{
    // CHECK: :[[#@LINE+1]]:41: error: _Generic is not written in clauses, but a macro in one may expand to it
    #pragma kmm parallel(i = 0:n) chunk(_Generic((x), float *: 10, default: 20)) rebase(n: i) update(x[i])
    add(n, x);
    // CHECK: :[[#@LINE+1]]:41: error: macro 'count(n)' may have side effects, and a clause has none; compute the value before the pragma
    #pragma kmm parallel(i = 0:n) chunk(count(n)) rebase(n: i) update(x[i])
    add(n, x);
}
