// The lines that calls have as default arguments, in the arguments of launches.
// RUN: %cxx -std=c++20 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc %san -w -O1 -std=c++20 %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
// RUN: %not %kmmcc -std=c++20 -c -DREFUSED %s -o %t.o 2>&1 | FileCheck %s
#include <stdio.h>
#include <source_location>
static int x[1000];
static void f(int n, int k, int *x) { for (int i = 0; i < n; i++) x[i] += k; }
static int here(int l = __builtin_LINE()) { return l; }
static int there(std::source_location l = std::source_location::current()) { return l.line(); }
static const char *fn(std::source_location l = std::source_location::current()) { return l.function_name(); }
static const char *fi(const char *f = __builtin_FUNCTION()) { return f; }
static void g(int n, int k, int *x) { for (int i = 0; i < n; i++) x[i] += k; }
static void d(int n, int *x, int k = __builtin_LINE()) { for (int i = 0; i < n; i++) x[i] += k; }
#define CALL here()
static int column(std::source_location l = std::source_location::current()) { return l.column(); }
template <int L> static void t(int n, int k, int *x) { for (int i = 0; i < n; i++) x[i] += k * L; }
static int len(const char *s) { int k = 0; while (s[k]) k++; return k; }
template <class T> void in_template(T *p)
{
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(p[i])
    f(1000,
      here() + 1000 *
      there(), p);
    printf("%d %s\n", p[0], fi());
}
int main(void)
{
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    f(1000, __LINE__, x);
    printf("%d\n", x[0]);
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    f(1000, here(), x);
    printf("%d\n", x[0]);
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    f(1000, CALL, x);
    printf("%d\n", x[0]);
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    g(1000, len(fn()), x);
    printf("%d %s\n", x[0], fn());
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    f(1000,
      here() +
      there(
      ), x);
    printf("%d\n", x[0]);
    in_template(x);
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    f(1000, column() +
       100 * column(), x);
    printf("%d\n", x[0]);
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    t<
      __LINE__ + (int)sizeof(x)>(1000, 1, x);
    printf("%d\n", x[0]);
#ifdef REFUSED
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    // CHECK: :[[#@LINE+1]]:5: error: argument 3 is a default that is no constant; write it out
    d(1000, x);
    printf("%d\n", x[0]);
#endif
}
