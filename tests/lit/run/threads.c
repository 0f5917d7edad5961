// Threads whose launches map the same host memory for themselves: what one has written is there when it returns, and
// the memory stays mapped until the other has returned too.
// RUN: %cc -O1 -pthread -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 -pthread %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
// RUN: env KMM_NODES=1 run_nodes -n 3 -d 200 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:1,mem=64M %t | diff %t.expected -
#include <pthread.h>
#include <stdio.h>

enum { ROWS = 6, N = 1000, TIMES = 20 };
static float a[ROWS][N];

static void add(int n, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] += 1;
}

static void *work(void *arg)
{
    int row = *(int *)arg, n = N;
    for (int k = 0; k < TIMES; k++) {
        float before = a[row][N - 1];
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(a[row][i])
        add(n, a[row]);
        if (a[row][N - 1] != before + 1)
            printf("row %d: it is not there when the launch returns\n", row);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[ROWS];
    int row[ROWS], wrong = 0;
    for (int k = 0; k < ROWS; k++) {
        row[k] = k;
        pthread_create(&thread[k], NULL, work, &row[k]);
    }
    for (int k = 0; k < ROWS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < ROWS; k++)
        for (int i = 0; i < N; i++)
            wrong += a[k][i] != TIMES;
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
