// What a chunk throws is thrown again at its own launch, where that waits for its results.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %t | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// RUN: env KMM_CHECK=result KMM_DEVICES=host:3,mem=1M %t > %t.out 2>&1; FileCheck --check-prefix=COMPARED %s < %t.out
// RUN: %not --crash env KMM_CHECK=result %t chunks 2>&1 | FileCheck --check-prefix=CHUNKS %s
// RUN: %not --crash env KMM_CHECK=result %t whole 2>&1 | FileCheck --check-prefix=WHOLE %s
// CHECK: function 70001
// CHECK-NEXT: data 20
// KMM_CHECK=result compares no arrays of such a launch, but whether its chunks throw as the call does.
// COMPARED: kmm: note: {{.*}}throws_at_launch.cpp:[[#@LINE+28]]: f: KMM_CHECK=result compares only type and value of this launch
// COMPARED-NOT: error
// COMPARED: function 70001
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

static void only(int n, const int *a, bool in_chunks)
{
    if ((n < N) == in_chunks)
        throw a[0];
}

int main(int argc, char **argv)
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
    if (argc == 1)
        return 0;
    // CHUNKS: throws_at_launch.cpp:[[#@LINE+2]]: only: its chunks throw an exception, and the launch as a whole does not
    // WHOLE: throws_at_launch.cpp:[[#@LINE+1]]: only: the launch as a whole throws an exception, and its chunks do not
    #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) read(x[i])
    only(N, x, *argv[1] == 'c');
}
