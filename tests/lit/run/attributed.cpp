// RUN: %kmmcc %san -std=c++20 -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// Attributes of statements before a launch.
#include <cstdio>
static int x[60000];
static void add(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i]++;
}
int main(int argc, char **)
{
    if (argc)
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i])
        [[likely]] add(60000, x);
    else
        [[unlikely]] x[5] = 7;
    switch (argc) {
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i])
    [[likely]] case 1:
        add(60000, x);
        break;
    }
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(x[i])
    [[likely]] {
        add(60000, x);
    }
    // CHECK: 3 3
    std::printf("%d %d\n", x[5], x[59999]);
}
