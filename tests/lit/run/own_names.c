// RUN: %kmmcc %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// A program may have variables and functions called kmm and kmm_args: generated code hides no name of the program. What
// begins with kmm__ is refused (check/reserved_names.c).
#include <stdio.h>
static int x[60000];
static void kmm(int n, int *x, int k)
{
    for (int i = 0; i < n; i++)
        x[i] += k;
}
static int sum(void)
{
    int s = 0;
    for (int i = 0; i < 60000; i++)
        s += x[i];
    return s;
}
static void calls(int kmm_args, int kmm_chunk)
{
// CHECK: 180000
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i])
    kmm(60000, x, kmm_args || kmm_chunk ? 1 : 3);
    printf("%d\n", sum());
}
int main(void)
{
    calls(0, 0);
    int kmm = 0, kmm_task = 0, kmm_base_0 = 0;
#pragma kmm data map(tofrom: x)
    {
#pragma kmm task update(x)
        {
            x[5] = kmm || kmm_task || kmm_base_0 ? 1 : 3;
        }
    }
    // CHECK: 3
    printf("%d\n", x[5]);
}
