// A pointer that a call passes is the item's base however it is written: a + 5, &a[5] and (a + 2) + 3.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased | %count 0
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host KMM_THREADS=4 %t 2>&1 | %count 0
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | %count 0
// RUN: env KMM_DEVICES=host KMM_CHECK=access %t 2>&1 | %count 0
#include <stdio.h>
enum { N = 4000, K = 500 };
static int a[3 * N], rows[4][N];

static void add(int n, int *y, const int *k)
{
    for (int i = 0; i < n; i++)
        y[i] += *k;
}

static void copy(int n, int *y, const int *x)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}

static void expect(const char *what, int begin, int step, int value)
{
    int bad = 0;
    for (int i = 0; i < N; i++)
        bad += a[begin + i] != step * i + value;
    if (bad)
        printf("%s: %d\n", what, bad);
}

int main(void)
{
    const int m = 2 * N;
    int *p = a;
    for (int i = 0; i < N; i++)
        a[i] = i;
    a[N + K] = 7;
    #pragma kmm parallel(i = 0:N) chunk(K) rebase(n: i) update(a[i]) read((a + N)[K])
    add(N, &a[0], a + N + K);
    expect("a number behind the array", 0, 1, 7);
    #pragma kmm parallel(i = 0:N) chunk(K) rebase(n: i) update((&a[0])[i]) read(a[N + K])
    add(N, a, (a + K) + N);
    expect("the other way around", 0, 1, 14);
    #pragma kmm parallel(i = 0:N) chunk(K) rebase(n: i) write((a + m)[i]) read(a[i])
    copy(N, &a[m], a);
    expect("a variable", m, 1, 14);
    #pragma kmm parallel(i = 0:N) chunk(K) rebase(n: i) update((p + m + 5 - 5)[i]) read(p[m - 1])
    add(N, &p[m], &p[m] - 1);
    expect("a difference", m, 1, 14);
    #pragma kmm parallel(i = 0:N) chunk(K) rebase(n: i) write(rows[1][i]) read(a[i])
    copy(N, &rows[1][0], a);
    #pragma kmm parallel(i = 0:N) chunk(K) rebase(n: i) read(rows[1][i]) write(rows[2][i])
    copy(N, rows[2], (rows + 1)[0]);
    for (int i = 0; i < N; i++)
        a[i] = rows[2][i];
    expect("rows", 0, 1, 14);
    return 0;
}
