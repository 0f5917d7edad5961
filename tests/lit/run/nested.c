// RUN: %kmmcc %san -O1 -fno-kmm-compare %s -o %t
// RUN: env KMM_DEVICES=host timeout 60 %not --crash %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %not --crash %t 2>&1 | FileCheck %s
// RUN: env KMM_CHECK=result KMM_DEVICES=host timeout 60 %not --crash %t 2>&1 | FileCheck %s
// RUN: env KMM_CHECK=access KMM_DEVICES=host timeout 60 %not --crash %t 2>&1 | FileCheck %s
// RUN: env KMM_CHECK=result KMM_DEVICES=host timeout 60 %not --crash %t nowait 2>&1 | FileCheck %s --check-prefix=NOWAIT
// A launch inside of a chunk is refused before it waits for anything.
#include <stdio.h>
enum { N = 90000 };
static int a[N];
static void inner(int n, int *x) { for (int i = 0; i < n; i++) x[i] += 2; }
static void outer(int n, int *x, int waits)
{
    if (waits) {
// CHECK: kmm: error: {{.*}}nested.c:[[#@LINE+1]]: inner: it is launched inside a chunk, which would wait for it and may hold what it needs; call the function without the pragma there
#pragma kmm parallel(i = 0:n) chunk(n / 3) rebase(n: i) update(x[i])
        inner(n, x);
    } else {
// NOWAIT: kmm: error: {{.*}}nested.c:[[#@LINE+1]]: inner: it is launched inside a chunk
#pragma kmm parallel(i = 0:n) chunk(n / 3) rebase(n: i) update(x[i]) nowait
        inner(n, x);
    }
    for (int i = 0; i < n; i++)
        x[i] *= 2;
}
int main(int count, char **text)
{
    (void)text;
    int n = N, waits = count == 1, *x = a;
#pragma kmm parallel(i = 0:n) chunk(n / 4) rebase(n: i) update(x[i])
    outer(n, x, waits);
    printf("%d\n", a[N - 1]);
    return 0;
}
