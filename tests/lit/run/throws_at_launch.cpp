// What a chunk throws is thrown again at its own launch, where that waits for its results.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %t | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// CHECK: function 70001
// CHECK-NEXT: data 20
#include <cstdio>

enum { N = 90000 };
static int x[N], y[N];

static void f(int n, int *a, int at)
{
    for (int i = 0; i < n; i++) {
        if (a[i] == at)
            throw at;
        a[i]++;
    }
}

int main()
{
    for (int i = 0; i < N; i++)
        x[i] = y[i] = i;
    try {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
        f(N, x, 70001);
        std::printf("not here\n");
    } catch (int at) {
        std::printf("function %d\n", at);
    }
    try {
        #pragma kmm data map(tofrom: y)
        {
            #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(y[i])
            f(N, y, 20);
        }
    } catch (int at) {
        std::printf("data %d\n", at);
    }
}
