// A type of the program's that is called size_t where a directive stands.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %t | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// CHECK: 60000
#include <stdio.h>

enum { N = 60000 };
static int x[N];

static void f(int n, int *a)
{
    for (int i = 0; i < n; i++)
        a[i]++;
}

int main(void)
{
    int *p = x;
    long sum = 0;
    {
        typedef unsigned char size_t;
        size_t one = 1;
        #pragma kmm data map(tofrom: p[0:N * one])
        {
            #pragma kmm parallel(i = 0:N) chunk(7000) rebase(n: i) update(p[i])
            f(N, p);
            #pragma kmm update from(p[0:N * one])
            for (int i = 0; i < N; i++)
                sum += p[i];
        }
    }
    printf("%ld\n", sum);
    return 0;
}
