// A plain function whose range is empty is called once, with the length 0, as without pragmas.
// RUN: %cc -O1 -w %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t 2>&1 | diff %t.expected -
#include <stdio.h>
#include <string.h>

enum { W = 10 };
static int x[W * W], to[W * W];

static void any(int n, const int *p, int *result)
{
    *result = 0;
    for (int i = 0; i < n; i++)
        *result |= p[i];
}

static void sum(int n, const int *p, int *result)
{
    for (int i = 0; i < n; i++)
        *result += p[i];
}

static void copy(int h, int w, const int *p, int *q, int *calls)
{
    ++*calls;
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            q[i * W + j] = p[i * W + j];
}

static void bounds(int lo, int hi, int *p, int *seen)
{
    seen[0] = lo;
    seen[1] = hi;
    for (int i = lo; i < hi; i++)
        p[i]++;
}

static void run(int n, int *from)
{
    int s = 99, t = 7, calls = 0, seen[2] = {0};
#pragma kmm parallel(i = 0:n) chunk(n) rebase(n: i) read(from[i]) update((&s)[0])
    any(n, from, &s);
#pragma kmm parallel(i = 0:n) rebase(n: i) read(from[i]) reduce(+: (&t)[0])
    sum(n, from, &t);
#pragma kmm parallel(x = 0:W, y = 0:n) chunk(W, n) rebase(h: y, w: x) \
    read(from[y * W + x]) write(to[y * W + x]) update((&calls)[0])
    copy(n, W, from, to, &calls);
#pragma kmm parallel(i = 3:n) chunk(n) rebase(lo: begin(i), hi: end(i)) update(from[i]) write(seen[0:2])
    bounds(3, 3 + n, from, seen);
    printf("%d: %d %d %d %d %d\n", n, s, t, calls, seen[0], seen[1]);
}

int main(void)
{
    memset(x, 1, sizeof x);
    run(0, x);
#pragma kmm data map(tofrom: x) map(tofrom: to)
    {
        run(0, x);
    }
    run(1, x);
    printf("%d %d\n", x[0], x[3]);
    return 0;
}
