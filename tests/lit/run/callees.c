// The function's name in parentheses, as the standard's own macros are avoided.
// RUN: %cc -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
#include <stdio.h>

static void increase(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i]++;
}

int main(void)
{
    static int x[1000];
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
    (increase)(1000, x);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
    ((increase))(1000, x);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
    (*increase)(1000, x);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
    (&increase)(1000, x);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])
    (void)(increase)(1000, x);
    printf("%d\n", x[999]);
}
