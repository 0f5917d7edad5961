// Pointers that plain functions only compare: the end of an array, and a limit inside of it, are the same for each chunk; a distance stays
// what it is.
// RUN: %kmmcc -fno-kmm %san %s -o %t.plain && %t.plain > %t.expected
// RUN: %kmmcc -O1 -Werror -Wno-kmm-unproven %san %s -o %t
// RUN: env KMM_DEVICES=host %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff - %t.expected
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t | diff - %t.expected
// RUN: %kmmcc --emit-source %s | FileCheck %s
#include <stdio.h>

enum { N = 40000, C = 3000 };
static int both[2 * N];

static void print(const char *name)
{
    unsigned sum = 0;
    for (int i = 0; i < 2 * N; i++)
        sum = sum * 31 + (unsigned)both[i];
    printf("%s %u\n", name, sum);
}

static int is_inside(const int *p, const int *e)
{
    return p < e;
}

static void to_end(int n, int *b, int *e)
{
    int k = 0;
    for (int *p = b; p < e && k < n; p++, k++)
        *p += 2;
}

static void to_limit(int *b, int n, const int *limit)
{
    const int *end = limit;
    for (int i = 0; i < n; i++)
        if (end > b + i)
            b[i]++;
}

static void by_helper(int *b, int n, const int *limit)
{
    for (int i = 0; i < n; i++)
        if (is_inside(b + i, limit))
            b[i] *= 3;
}

static void but_one(int *b, int n, const int *hole)
{
    for (int i = 0; i < n; i++)
        if (&b[i] != hole)
            b[i] += 7;
}

static void add_length(int *b, int n, const int *e)
{
    for (int i = 0; i < n; i++)
        b[i] += (int)(e - b);
}

static void with_bounds(int lo, int hi, int *b, const int *e)
{
    for (int i = lo; i < hi && b + i < e; i++)
        b[i] -= 5;
}

static void run(int *x)
{
    // CHECK: to_end((int)kmm_chunk_length(kmm__chunk, 0), kmm__args->kmm__b + kmm_chunk_distance(kmm__chunk, 0), kmm__args->kmm__e);
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(x[i])
    to_end(N, x, x + N);
    print("end");
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(x[i])
    to_limit(x, N, x + 2 * C + 500);
    print("limit");
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(x[i])
    by_helper(x, N, x + N - 9);
    print("helper");
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(x[i])
    but_one(x, N, &x[4 * C + 1]);
    print("one element");
    // CHECK: add_length({{.*}}, kmm__args->kmm__e + kmm_chunk_distance(kmm__chunk, 0));
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(x[i])
    add_length(x, N, x + N);
    print("distance");
    #pragma kmm parallel(i = 0:N) chunk(C) rebase(lo: begin(i), hi: end(i)) update(x[i])
    with_bounds(0, N, x, x + N);
    print("bounds");
}

int main(void)
{
    int *x = both, *y = both + N;
    for (int i = 0; i < 2 * N; i++)
        both[i] = i % 89;
    run(x);
    #pragma kmm data map(tofrom: x[0:N]) map(tofrom: y[0:N])
    {
        #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(y[i])
        to_end(N, y, y + N);
        #pragma kmm parallel(i = 0:N) chunk(C) rebase(n: i) update(x[i])
        to_end(N, x, x + N);
    }
    print("neighbours");
    return 0;
}
