// What `update from` has copied back the host may store to, also while launches before it read it.
// RUN: %kmmcc %san -w %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:1,mem=512K KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// CHECK: right
#include <stdio.h>
#include <stdlib.h>

static void fill(int n, unsigned v, unsigned *x)
{
    for (int i = 0; i < n; i++)
        x[i] = v;
}

static void slow(int n, const unsigned *x, unsigned *y)
{
    for (int i = 0; i < n; i++) {
        unsigned t = x[i];
        for (int k = 0; k < 200; k++)
            t = t * 33 + k;
        y[i] += t;
    }
}

int main(void)
{
    int n = 100000;
    unsigned *x = calloc(n, 4), *y = calloc(n, 4), *expected = calloc(n, 4);
    fill(n, 3, x);
    for (int s = 0; s < 4; s++)
        slow(n, x, expected);
#pragma kmm data map(tofrom: x[0:n], y[0:n])
    {
#pragma kmm parallel(i = 0:n) chunk(n / 40) rebase(n: i) write(x[i])
        fill(n, 3, x);
        for (int s = 0; s < 4; s++) {
#pragma kmm parallel(i = 0:n) chunk(n / 40) rebase(n: i) read(x[i]) update(y[i])
            slow(n, x, y);
        }
#pragma kmm update from(x[0:n])
        for (int i = 0; i < n; i++)
            x[i] = 7;
#pragma kmm update to(x[0:n])
    }
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += y[i] != expected[i] || x[i] != 7;
    puts(wrong ? "wrong" : "right");
    return 0;
}
