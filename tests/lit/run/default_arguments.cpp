// RUN: %kmmcc %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// RUN: %not %kmmcc -fno-kmm-compare -DBAD -c %s -o %t.o 2>&1 | FileCheck --check-prefix=BAD %s
// Calls of plain functions that leave arguments out.
#include <cstdio>
enum mode { UP = 1, DOWN = -1 };
static int next()
{
    static int last = 0;
    return ++last;
}
static void add(int n, float *y, float by = 1.5f, mode m = UP, int times = sizeof(int) - 2)
{
    for (int i = 0; i < n; i++)
        y[i] += by * m * times;
}
static void count(float *y, int n = 60000, int by = next())
{
    for (int i = 0; i < n; i++)
        y[i] += by;
}
static float y[60000];
int main()
{
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(y[i])
    add(60000, y);
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(y[i])
    add(60000, y, 2, DOWN);
#ifdef BAD
    // BAD: [[#@LINE+2]]:{{.*}}error: argument 3 is a default that is no constant; write it out
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(y[i])
    count(y, 60000);
    // BAD: [[#@LINE+2]]:{{.*}}error: argument 2 is a default, which rebase changes; write it out
#pragma kmm parallel(i = 0:60000) chunk(9000) rebase(n: i) update(y[i])
    count(y);
#endif
    count(y);
    // CHECK: {{^}}0 0{{$}}
    std::printf("%g %g\n", y[0], y[59999]);
}
