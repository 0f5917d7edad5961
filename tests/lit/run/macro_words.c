// RUN: %kmmcc %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: %kmmcc -x c++ -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// Macros of the program with names that kmm's headers, or parameters of the called function, have.
#define size 9
#define count 8
#include <stdio.h>
static void add(int n, int *x, const int *base, int limit)
{
    for (int i = 0; i < n; i++)
        x[i] += base[0] < limit;
}
static int x[60000];
#define begin 7
#define end 6
#define lower 5
#define base 4
#define limit 3
#define name 2
#define keep 1
int main(void)
{
    int y[1] = {count}, *z = y;
#pragma kmm data map(tofrom: x)
    {
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i]) read(z[0])
        add(60000, x, z, size);
    }
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i]) read(z[0])
    add(60000, x, z, size + begin + end + lower + base + limit + name + keep);
    long s = 0;
    for (int i = 0; i < 60000; i++)
        s += x[i];
    // CHECK: 120000
    printf("%ld\n", s);
}
