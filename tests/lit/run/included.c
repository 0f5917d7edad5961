// Headers without an include guard that are included several times, also within functions: with
// pragmas, with macros that write them, and with both in headers of their own.
// RUN: %cc -w -I %S/Inputs %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc %san -w -O1 -I %S/Inputs %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
#include <stdio.h>
static int x[1000];
static void add(int n, int k, int *a) { for (int i = 0; i < n; i++) a[i] += k; }
static void subtract(int n, int k, int *a) { for (int i = 0; i < n; i++) a[i] -= 7 * k; }
#define EACH(a) _Pragma("kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])")
enum {
#define ENTRY(f, k) number_##f,
#include "entries.def"
#undef ENTRY
    COUNT
};
#define NAME by_one
#define K 1
#include "per_value.h"
#undef NAME
#undef K
#define NAME by_two
#define K 2
#include "per_value.h"
int main(void)
{
    printf("%d %d\n", by_one(x), x[0]);
    printf("%d %d\n", by_two(x), x[0]);
#include "statements.h"
#define ENTRY(f, k) EACH(x) f(1000, k + __LINE__, x);
#include "entries.def"
#undef ENTRY
    printf("%d\n", x[3]);
#define ENTRY(f, k) EACH(x) f(1000, k * number_##f, x); printf("%s %d\n", #f, x[3]);
#include "entries.def"
#undef ENTRY
#define ENTRY(f, k) + k
    int sum = 0
#include "entries.def"
        ;
    printf("%d %d %d\n", __LINE__, COUNT, sum);
}
