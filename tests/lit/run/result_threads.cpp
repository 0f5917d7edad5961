// RUN: %kmmcc %san -w -O1 -pthread %s -o %t
// RUN: env KMM_CHECK=result KMM_DEVICES=host %t 2>&1 | FileCheck %s
// RUN: env KMM_CHECK=result KMM_DEVICES=host:3,mem=1M %t 2>&1 | FileCheck %s
// KMM_CHECK=result: launches of one chunk and tasks of another thread change the same sum, and wait while a launch is compared.
// CHECK-NOT: kmm:
// CHECK: right
#include <cstdio>
#include <thread>
enum { N = 40000, FEW = 64, TIMES = 40 };
static int x[N], y[FEW];
static long sum;
static void add(int n, long *s, const int *a) { long t = 0; for (int i = 0; i < n; i++) t += a[i]; *s += t; }
static void few()
{
    for (int k = 0; k < TIMES; k++) {
#pragma kmm parallel(i = 0:FEW) chunk(FEW) rebase(n: i) read(y[i]) reduce(+: (&sum)[0])
        add(FEW, &sum, y);
        long *s = &sum;
#pragma kmm task update(s[0])
        { s[0] += 3; }
    }
}
int main()
{
    long one = 0;
    for (int i = 0; i < N; i++)
        one += x[i] = i % 7;
    for (int i = 0; i < FEW; i++)
        y[i] = 1;
    std::thread other(few);
    for (int k = 0; k < TIMES; k++) {
#pragma kmm parallel(i = 0:N) chunk(10000) rebase(n: i) read(x[i]) reduce(+: (&sum)[0])
        add(N, &sum, x);
    }
    other.join();
    std::puts(sum == TIMES * (one + FEW + 3) ? "right" : "wrong");
}
