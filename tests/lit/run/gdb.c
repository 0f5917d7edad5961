// REQUIRES: gdb
// UNSUPPORTED: san
// RUN: %kmmcc -g -O0 %s -o %t
// RUN: env KMM_DEVICES=host KMM_THREADS=1 timeout 60 gdb -q -nx -batch -ex "set debuginfod enabled off" -ex "break add" -ex run -ex next -ex next -ex "print sum" -ex "print n" -ex up -ex "info source" %t 2>&1 | FileCheck %s
// gdb stops in chunks on the CPU, and steps by the lines of the source.
// CHECK: hit Breakpoint 1{{[.1-9]*}}, add (n=25,
// CHECK-SAME: gdb.c:[[# @LINE + 7]]
// CHECK: = 0
// CHECK: = 25
// CHECK: gdb.c
#include <stdio.h>
static void add(int n, const int *x, int *all)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    *all += sum;
}
int main(void)
{
    int x[100], n = 100, all[1] = {0};
    for (int i = 0; i < n; i++)
        x[i] = i;
    #pragma kmm parallel(i = 0:n) chunk(n / 4) rebase(n: i) read(x[i]) reduce(+: all[0])
    add(n, x, all);
    printf("%d\n", all[0]);
    return 0;
}
