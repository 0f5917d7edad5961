// Arguments whose own expression tells how much they lead to: a variable, an array, a compound literal; with no clause, or with one that
// gives no length.
// RUN: %kmmcc -fno-kmm %san %s -o %t.plain && %t.plain > %t.expected
// RUN: %kmmcc -O1 -Wno-kmm-whole -Werror %san %s -o %t
// RUN: env KMM_DEVICES=host %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff - %t.expected
// RUN: %kmmcc -O1 -c %s -o %t.o 2>&1 | FileCheck %s
// What is one variable is not said to be a whole array.
// CHECK-NOT: warning: no clause says what is read of '&
#include <stdio.h>

enum { N = 40000, C = 3000 };
struct pair {
    int n, m;
};
static int y[N];

static void print(const char *name)
{
    unsigned sum = 0;
    for (int i = 0; i < N; i++)
        sum = sum * 31 + (unsigned)y[i];
    printf("%s %u\n", name, sum);
}

static void fixed(int n, int *a, const int *t, struct pair v)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i] * t[1] + v.n + t[2];
}

static void bounds(int lo, int hi, int *a, const int *t, const struct pair *v)
{
    for (int i = lo; i < hi; i++)
        a[i] += t[i % 3] + v->m;
}

static void copy(int lo, int hi, int *a, const int *t)
{
    for (int i = lo; i < hi; i++)
        a[i] += t[i];
}

static void one(int n, int *a, const int *p)
{
    for (int i = 0; i < n; i++)
        a[i] += *p;
}

static void rows(int lo, int hi, int *a, const int (*t)[4])
{
    for (int i = lo; i < hi; i++)
        a[i] += t[i % 3][i % 4];
}

static void row(int n, int *a, const int (*t)[4])
{
    for (int i = 0; i < n; i++)
        a[i] += t[0][1];
}

int main(void)
{
    static const int table[N] = {5, 6}, square[3][4] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    const int line[4] = {1, 2, 3, 4};
    for (int i = 0; i < N; i++)
        y[i] = i % 89;
    for (int k = 0; k < 3; k++)
        #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(y[i]) nowait
        fixed(N, y, (int[]){1, k, 3}, (struct pair){.n = k + 7});
    #pragma kmm wait
    print("compound literals");
    for (int k = 0; k < 3; k++) {
        struct pair v = {3, k};
        int t[4] = {5, 6, k};
        #pragma kmm parallel(i = 0:N) chunk(C) rebase(lo: begin(i), hi: end(i)) update(y[i])
        bounds(0, N, y, (int[]){1, k, 3}, &(struct pair){.n = k + 7, .m = 8});
        #pragma kmm parallel(i = 0:N) chunk(C) rebase(lo: begin(i), hi: end(i)) update(y[i])
        bounds(0, N, y, t, &v);
        v.m = t[1] = -99;
        #pragma kmm parallel(i = 0:N) chunk(C) rebase(lo: begin(i), hi: end(i)) update(y[i]) read(t, (&v)[:])
        bounds(0, N, y, t, &v);
        #pragma kmm parallel(i = 0:N) chunk(C) rebase(lo: begin(i), hi: end(i)) update(y[i]) read(t[:])
        bounds(0, N, y, t, &v);
    }
    print("local variables");
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(lo: begin(i), hi: end(i)) update(y[i])
    copy(0, N, y, table);
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(lo: begin(i), hi: end(i)) update(y[i])
    rows(0, N, y, square);
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(y[i])
    row(N, y, &line);
    print("tables");
    #pragma kmm data map(tofrom: y)
    {
        for (int k = 0; k < 20; k++) {
            int v = k;
            #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(y[i])
            one(N, y, &v);
            v = -1;
            #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(y[i])
            one(N, y, &(int){k});
        }
    }
    print("in a data region");
    return 0;
}
