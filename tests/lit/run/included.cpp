// Headers with pragmas that are included within extern "C", namespaces, classes and functions.
// RUN: %cxx -w -I %S/Inputs %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc %san -w -O1 -I %S/Inputs %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
#include <stdio.h>
static int x[1000];
template <class T> static void add(int n, int k, T *a) { for (int i = 0; i < n; i++) a[i] += k; }
#define NAME by_one
#define K 1
extern "C" {
#include "per_value.h"
}
#undef K
#define K 20
namespace a { namespace {
#include "per_value.h"
} }
#undef K
#define K k
struct adder {
    static const int k = 300;
#include "per_value.h"
};
int main()
{
    printf("%d\n", by_one(x));
    printf("%d\n", a::by_one(x));
    printf("%d\n", adder::by_one(x));
    int k = 4000;
    auto f = [=](int *x) {
#include "statements.h"
    };
    f(x);
#include "statements.h"
    printf("%d\n", x[3]);
}
