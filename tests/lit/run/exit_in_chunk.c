// A chunk that calls exit ends the program with its status, on the CPU and on pretend devices.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: timeout 60 %t; test $? = 7
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %t; test $? = 7
// RUN: env KMM_DEVICES=host:2 KMM_CHECK=access timeout 60 %t; test $? = 7
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %t task; test $? = 8
// RUN: %kmmcc -O1 %san -fkmm-check %s -o %t.checked
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %t.checked; test $? = 7
#include <stdio.h>
#include <stdlib.h>

enum { N = 60000 };
static int x[N];

static void find(int n, int *x, int status)
{
    for (int i = 0; i < n; i++) {
        x[i] += 2;
        if (x[i] == 100)
            exit(status);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    x[44444] = 98;
    if (argc > 1) {
        #pragma kmm task update(x[0:N])
        find(N, x, 8);
    }
    #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
    find(N, x, 7);
    printf("not reached\n");
    return 0;
}
