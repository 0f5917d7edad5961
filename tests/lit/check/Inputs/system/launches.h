#pragma once
static void add_one(int n, int *a) { for (int i = 0; i < n; i++) a[i]++; }
static inline void launches(int *x)
{
    #pragma kmm parallel(i = 0:1000) rebase(n: i) update(x[i])
    add_one(1000, x);
}
