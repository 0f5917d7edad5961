// RUN: %kmmcc %san -O1 -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// Signs behind signs, in sections and behind macros.
// CHECK: 0 differ
#include <stdio.h>
#define OFFSET -z
enum { N = 60000 };
static int x[N + 5];
static void add(int n, int *a, int k)
{
    for (int i = 0; i < n; i++)
        a[i] += k;
}
int main(void)
{
    int z = 5, differ = 0;
    #pragma kmm parallel(i = 0:N) chunk(7001) rebase(n: i) update(x[i - OFFSET])
    add(N, x + z, 3);
    #pragma kmm parallel(i = 0:N) chunk(7001) rebase(n: i) update(x[+ +i + - -z])
    add(N, x + z, 4);
    #pragma kmm parallel(i = 0:N - -z - 5) chunk(- - 7001) rebase(n: i) update(x[5 - -i])
    add(N, x + 5, 5);
    for (int i = 0; i < N + 5; i++)
        differ += x[i] != (i < 5 ? 0 : 12);
    printf("%d differ\n", differ);
    return 0;
}
