// Macros that write pragmas, by all that decides what a macro is: #if, #undef, -D, several
// definitions, X-macros, # and ##, arguments that are macros, variable arguments, __LINE__.
// RUN: %cc -O1 -w -I %S/Inputs %s -o %t.erased "-Dgiven(p)=count(p)" -DWIDTH=3 && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -w -I %S/Inputs %s -o %t "-Dgiven(p)=count(p)" -DWIDTH=3
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: %kmmcc --emit-source -include %S/Inputs/waits.h -DWAIT_TWICE='_Pragma("kmm wait") WAIT_ONCE' %S/Inputs/waiting.c | FileCheck --check-prefix=GIVEN %S/Inputs/waiting.c
// RUN: %kmmcc --emit-source %S/Inputs/waiting.c | FileCheck --check-prefix=GIVEN %S/Inputs/waiting.c
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_JOIN=0 KMM_STATS=1 %t 2>&1 | FileCheck %s
// All 28 launches have chunks.
// CHECK: kmm: host:1{{ +}}28{{ +}}28 
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { N = 4000, v_2 = 2, v_WHICH = 50 };
static int x[N], y[N];

static void inc(int n, int k, int *a)
{
    for (int i = 0; i < n; i++)
        a[i] += k;
}

static void wide(int n, int *a)
{
    inc(n, 1000, a);
}

static void narrow(int n, int *a)
{
    inc(n, 1, a);
}

static void count(int *a)
{
    a[0] = 9;
}

static void show(const char *what)
{
    printf("%s %d %d %d %d\n", what, x[0], x[N - 1], y[0], y[N - 1]);
}

#define TEXT(...) #__VA_ARGS__
#define STRING(...) TEXT(__VA_ARGS__)
#define CAT(a, b) a##b
#define CAT_2(a, b) CAT(a, b)
#define PRAGMA(...) _Pragma(TEXT(__VA_ARGS__))
#define EACH(a) PRAGMA(kmm parallel(i = 0:N) chunk(N / 4) rebase(n: i) update(a[i]))

// ---- Which definition holds ----

static void later(int *a, int k)
{
    a[0] = k;
}

static void before(void)
{
    later(x, 5); /* no macro yet */
}
#define later(a, k) EACH(a) inc(N, k, a)

#if WIDTH > 3
#define PART(a) EACH(a) wide
#else
#define PART(a) EACH(a) narrow
#endif
#define BY_PART(a) PART(a)(N, a)

#ifdef NEVER
#define either(a) EACH(a) wide(N, a)
#else
#define either(a) (a)[0] = 77
#endif

#if 0
#define count(a) EACH(a) wide(N, a)
#endif

#ifndef given
#define given(a) EACH(a) wide(N, a)
#endif

#define LIST X(x, 1) X(y, 2)
#define K 3
#define BY_K(a) EACH(a) inc(N, K, a)
#define NAMED EACH(x) inc(N, 3, x)

static void definitions(void)
{
    before();
    later(x, 7);
    show("later");
#undef later
    later(x, 8);
    show("undefined");
    BY_PART(x);
    show("#if");
    either(x);
    count(y);
    given(y);
    show("#else");
#define X(a, k) EACH(a) inc(N, k, a);
    LIST
#undef X
#define X(a, k) printf("%d\n", (a)[0]);
    LIST
#undef X
#define X(a, k) (a)[0] = 10 * k;
    LIST
#undef X
    show("lists");
    BY_K(x);
#undef K
#define K 40
    BY_K(x);
    NAMED;
#undef NAMED
#define NAMED x[1] = 7
    NAMED;
    show("redefined");
}

// ---- Arguments ----

#define LIMIT 123456789
#define WHICH 2
#define LENGTH(a, k) EACH(a) inc(N, sizeof STRING(k), a)
#define LENGTH_AS_IT_IS(a, k) EACH(a) inc(N, sizeof TEXT(k), a)
#define NUMBERED(a, w) EACH(a) inc(N, CAT_2(v_, w), a)
#define NUMBERED_AS_IT_IS(a, w) EACH(a) inc(N, CAT(v_, w), a)
#define FORMAT(a, format, ...) do { EACH(a) narrow(N, a); printf(format "\n", ##__VA_ARGS__); } while (0)
#define REST(a, ...) EACH(a) inc(N __VA_OPT__(, ) __VA_ARGS__, a)
#define RUN_wide(...) EACH(x) wide(__VA_ARGS__)
#define RUN_narrow(...) EACH(x) narrow(__VA_ARGS__)
#define RUN(how, ...) CAT(RUN_, how)(__VA_ARGS__)
#define CALL(what, ...) what(__VA_ARGS__)
#define IS(...) __VA_ARGS__
#define TWICE(...) __VA_ARGS__ __VA_ARGS__
#define TWO(a, b) do { EACH(a) narrow(N, a); EACH(b) narrow(N, b); } while (0)
#define WITH_LINE(a, k) EACH(a) inc(N, k + __LINE__ % 10000, a)
#define MOST(a) EACH(a) inc(N, INT_MAX / 100000000, a)

static void arguments(void)
{
    LENGTH(x, LIMIT);
    LENGTH_AS_IT_IS(x, LIMIT);
    NUMBERED(x, WHICH);
    NUMBERED_AS_IT_IS(y, WHICH);
    show("# and ##");
    FORMAT(x, "none");
    FORMAT(x, "%d", 1);
    REST(x, 4);
    RUN(wide, N, x);
    RUN(narrow, N, x);
    CALL(RUN, narrow, N, x);
    IS(show("before"); BY_K(x); show("behind");)
    TWICE(BY_K(x);)
    TWO(x, y);
    MOST(x);
    if (x[0])
        BY_K(x);
    else
        BY_K(y);
    show("variable");
    WITH_LINE(x, 1);
    show("line");
    WITH_LINE(x,
              IS(1 +
                 __LINE__)
    ); show("lines");
    printf("%d\n", __LINE__);
}

// ---- Counters ----

#define UNIQUE(a) EACH(a) inc(N, __COUNTER__, a)

int main(void)
{
    definitions();
    arguments();
    printf("%d\n", __COUNTER__);
    UNIQUE(x);
    UNIQUE(x);
    printf("%d\n", __COUNTER__);
    show("counted");
    return 0;
}
