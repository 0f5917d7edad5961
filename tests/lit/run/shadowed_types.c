// RUN: %kmmcc %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// Parameters whose types the calling function hides by others of the same names.
#include <stdio.h>
enum mode { ONE = 1, MANY = 300 };
typedef int number;
typedef struct pair {
    int a, b;
} pair_t;
static void add(int n, pair_t *x, enum mode m, number k, struct pair p)
{
    for (int i = 0; i < n; i++)
        x[i].a += m + k + p.b;
}
static pair_t x[50000];
int main(void)
{
    enum mode m = MANY;
    pair_t p = {4, 5}, *q = x;
    {
        enum mode { SMALL } s = SMALL;
        typedef unsigned char number;
        number k = 2;
        struct pair {
            char c;
        } c = {1};
        typedef double pair_t;
        pair_t d = 400.9;
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update(q[i])
        add(50000, q, m, d, p);
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update(q[i])
        add(50000, q, (double)m, k + s + c.c, p);
#pragma kmm data map(tofrom: x)
        {
#pragma kmm task update(q[0:10])
            q[7].b = q[7].a;
        }
    }
    // CHECK: 1013 1013
    printf("%d %d\n", x[7].a, x[7].b);
}
