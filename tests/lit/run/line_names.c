// RUN: %kmmcc -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// #line with a name in which quotes and backslashes are escaped.
#include <stdio.h>
static void fill(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 3;
}
int main(void)
{
    static int x[60000];
#line 100 "other \"name\\.c"
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) write(x[i])
    fill(60000, x);
    // CHECK: 3 other "name\.c:103
    printf("%d %s:%d\n", x[7], __FILE__, __LINE__);
}
