// RUN: %kmmcc %san -fno-kmm -frounding-math %s -lm -o %t.plain && %t.plain > %t.want
// RUN: %kmmcc %san -O1 -frounding-math -Wall -Wextra -Werror -Wno-kmm-unproven %s -lm -o %t && env KMM_DEVICES=host %t > %t.one && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=access %t > %t.check && diff %t.want %t.check
// RUN: %kmmcc --emit-source %s | FileCheck %s
// Chunks of plain functions find what the program has besides their arguments as it is at the launch: variables that the
// program changes after it, and how its thread rounds.
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 300000 };
static int x[N], scale;
static struct { int by, unused[7]; } shift;
static const int table[3] = {1, 2, 3};
static float y[N];

static int shifted(int v)
{
    return v + shift.by;
}
static void scaled(int n, int *a)
{
    for (int i = 0; i < n; i++)
        a[i] = shifted(a[i]) * 3 + scale;
}
static void constant(int n, int *a)
{
    for (int i = 0; i < n; i++)
        a[i] = abs(a[i]) % 1000 + table[a[i] & 1];
}
static void thirds(int n, float *a)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i] / 3;
}
static long total;
static void count(int first, int end)
{
    usleep(2000);
    __atomic_fetch_add(&total, end - first, __ATOMIC_RELAXED);
}

int main(void)
{
    unsigned s = 0;
    #pragma kmm data map(tofrom: x)
    {
        for (int k = 0; k < 20; k++) {
            scale = k;
            shift.by = 2 * k;
            // CHECK: {{^ +}}kmm_launch_await(kmm__launch);
            // CHECK-NEXT: {{^ +}}kmm_directive_check(kmm_launch_call(
            #pragma kmm parallel(i = 0:N) chunk(7001) rebase(n: i) update(x[i])
            scaled(N, x);
            scale = 1000;
            shift.by = 7;
        }
        // CHECK-NOT: {{^ +}}kmm_launch_await
        #pragma kmm parallel(i = 0:N) chunk(7001) rebase(n: i) update(x[i])
        constant(N, x);
    }
    for (int i = 0; i < N; i++)
        s = s * 31 + (unsigned)x[i];
    printf("%u\n", s);

    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int m = 0; m < 4; m++) {
        for (int i = 0; i < N; i++)
            y[i] = (float)i;
        fesetround(modes[m]);
        #pragma kmm parallel(i = 0:N) chunk(7001) rebase(n: i) update(y[i])
        thirds(N, y);
        int mode = fegetround();
        fesetround(FE_TONEAREST);
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += (double)y[i];
        printf("%d %.17g\n", mode == modes[m], sum);
    }

    // CHECK: {{^ .*}}kmm_launch_begin("count"
    // Chunks that access no array have run, too, when the launch returns.
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(first: begin(i), end: end(i))
    count(0, 1000);
    printf("%ld\n", total);
    return 0;
}
