// RUN: %kmmcc %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// Bases and sizes that containers of the C++ library give.
#include <array>
#include <cstdio>
#include <vector>
static void add(int n, int *x, int k)
{
    for (int i = 0; i < n; i++)
        x[i] += k;
}
static std::array<int, 50000> a;
int main()
{
    std::vector<int> v(50000);
    auto &r = v;
#pragma kmm parallel(i = 0:v.size()) chunk(7000) rebase(n: i) update((v.data())[i])
    add((int)v.size(), v.data(), 2);
#pragma kmm parallel(i = 0:a.size()) chunk(7000) rebase(n: i) update((a.begin())[i])
    add(50000, a.begin(), 3);
#pragma kmm parallel(i = 0:49990) chunk(7000) rebase(n: i) update((r.data() + 10)[i])
    add(49990, r.data() + 10, 3);
#pragma kmm parallel(i = 0:50000) chunk(7000) rebase(n: i) update((&v.front())[i])
    add(50000, &v.front(), 4);
    // CHECK: 6 9 3
    std::printf("%d %d %d\n", v[0], v[49999], a[777]);
}
