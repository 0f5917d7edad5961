// __LINE__ and __builtin_LINE() in the arguments of launches, on lines of their own, and in clauses.
// RUN: %cc -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc %san -w -O1 %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_CHECK=access %t | diff %t.expected -
#include <stdio.h>
#define HERE __LINE__
#define BUILT_IN __builtin_LINE()
#define ALSO(k) (HERE + (k))
#define EACH(a) _Pragma("kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])")
static int x[1000];
static void f(int n, int k, int j, int *x) { for (int i = 0; i < n; i++) x[i] += k + 1000 * j; }
static int len(int l) { return l; }
int main(void)
{
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    f(1000, HERE, BUILT_IN, x);
    printf("%d\n", x[0]);
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    f(1000, __LINE__, __builtin_LINE(), x);
    printf("%d\n", x[0]);
    #pragma kmm parallel(i = 0:1000) chunk(77) \
        rebase(n: i) update(x[i])
    f(1000,
      __LINE__,
      len(
      HERE) + ALSO(
        7) +
      __LINE__, x);
    printf("%d\n", x[0]);
    #pragma kmm parallel(i = 0:__LINE__ * 10) \
         chunk(__LINE__ + 60) rebase(n: i) update(x[i])
    f(__LINE__ * 10 - 20, 1, 2, x); printf("%d %d %d\n", __LINE__, x[170], x[180]);
    if (x[0]) _Pragma("kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])") f(1000, __LINE__,
        __LINE__, x); else printf("%d\n", __LINE__);
    printf("%d %d\n", __LINE__, x[0]);
    EACH(x)
        (f)(1000, __builtin_LINE(),
            BUILT_IN, x);
    printf("%d %d\n", __LINE__, x[0]);
    EA\
C\
H(x) f(1000, BUILT_IN, __LINE__, x);
    printf("%d %d\n", __LINE__, x[0]);
}
