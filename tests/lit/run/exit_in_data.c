// exit inside of a block of `data`: its maps end before the program's own handlers run, whenever those were registered.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: %t.erased > %t.expected || %t > %t.out 2>&1 || diff %t.expected %t.out
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.out 2>&1 || diff %t.expected %t.out
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.out 2>&1 || diff %t.expected %t.out
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t; test $? = 3
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %not %t chunk 2>&1 | FileCheck --check-prefix=CHUNK %s
#include <stdio.h>
#include <stdlib.h>

enum { N = 60000 };
static int x[N], y[N];

static void print(void)
{
    long s = 0;
    for (int i = 0; i < N; i++)
        s += x[i] * 3L + y[i];
    printf("%ld\n", s);
}

static void add(int n, int *x, int k)
{
    for (int i = 0; i < n; i++)
        x[i] += k;
    if (k == 7)
        exit(3);
}

int main(int argc, char **argv)
{
    (void)argv;
    atexit(print);
    #pragma kmm data map(tofrom: y)
    {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(y[i])
        add(N, y, 5);
        atexit(print);
        // CHUNK: kmm: warning: {{.*}}exit_in_data.c:[[#@LINE+1]]: the block of `data` has not ended, because a chunk or a task called exit; its arrays are not written back
        #pragma kmm data map(tofrom: x)
        {
            #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
            add(N, x, 2);
            atexit(print);
            if (argc > 1) {
                #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
                add(N, x, 7);
                #pragma kmm wait
            }
            exit(3);
        }
    }
    return 0;
}
