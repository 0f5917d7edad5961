// A task may name parts of host memory that no `data` region maps, wherever the variable itself points.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %t 2>&1 | FileCheck %s --implicit-check-not=kmm
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | FileCheck %s --implicit-check-not=kmm
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_CHECK=access %t 2>&1 | FileCheck %s --implicit-check-not=kmm
// RUN: env KMM_DEVICES=host:2 %t apart 2>&1 | FileCheck %s --check-prefix=APART --implicit-check-not=kmm
#include <stdio.h>

enum { N = 200000 };
static int x[N], y[N];

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < N; i++)
        x[i] = i;
    for (int k = 0; k < 3; k++) {
        #pragma kmm task update(x[5:1])
        {
            x[5] += 1;
        }
    }
    #pragma kmm task update(x[5:1]) read(x[100000:20], y[7:0]) write(y[N - 1:1])
    {
        x[5] += x[100010];
        y[N - 1] = x[5];
    }
    int *last = x + N; // one behind the array
    #pragma kmm task update(last[-1:1])
    {
        last[-1] += 1;
    }
    // CHECK: 100018 100018 200000
    printf("%d %d %d\n", x[5], y[N - 1], x[N - 1]);
    fflush(stdout);
    if (argc == 1)
        return 0;
    #pragma kmm data map(tofrom: x[10:10], x[30:10])
    {
        #pragma kmm task update(x[10:10]) read(x[30:10])
        {
            x[10] += x[30];
        }
    }
    // APART: 40
    printf("%d\n", x[10]);
    return 0;
}
