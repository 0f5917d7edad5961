// RUN: %kmmcc %san -fno-kmm-compare -w -O1 %s -o %t
// RUN: env KMM_CHECK=result KMM_DEVICES=host %t > %t.out 2>&1 && FileCheck --check-prefix=RIGHT %s < %t.out
// RUN: env KMM_CHECK=result KMM_FRAME=64K KMM_JOIN=0 KMM_DEVICES=host:3,mem=1M %t > %t.out 2>&1 && FileCheck --check-prefix=RIGHT %s < %t.out
// RUN: env KMM_CHECK=access,result KMM_DEVICES=host:3,mem=1M %t > %t.out 2>&1 && FileCheck --check-prefix=RIGHT %s < %t.out
// RUN: for k in first state library begun added small; do %not --crash env KMM_CHECK=result KMM_DEVICES=host %t $k || exit 1; done 2>&1 | FileCheck %s
// RUN: %not --crash env KMM_CHECK=result KMM_FRAME=64K KMM_JOIN=0 KMM_DEVICES=host:3,mem=1M %t back 2>&1 | FileCheck --check-prefix=BACK %s
// RUN: env KMM_CHECK=result KMM_DEVICES=host %t loses 2>&1 | FileCheck --check-prefix=LOSES %s
// RUN: env KMM_CHECK=result KMM_DEVICES=host %t owned 2>&1 | FileCheck --check-prefix=OWNED %s
// RUN: %not --crash env KMM_CHECK=results KMM_DEVICES=host %t 2>&1 | FileCheck --check-prefix=WORD %s
// KMM_CHECK=result: the chunks of a launch leave what the launch leaves as a whole.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10001 };

static int x[N], y[N], z[N], w[N];
static float fx[N];

static void plus(int n, int *o, const int *a) { for (int i = 0; i < n; i++) o[i] = a[i] + 1; }
static void sum(int n, int *s, const int *a) { for (int i = 0; i < n; i++) *s += a[i]; }
static void sumf(int n, float *s, const float *a) { for (int i = 0; i < n; i++) *s += a[i]; }

static void less_first(int n, int *o, const int *a) { for (int i = 0; i < n; i++) o[i] = a[i] - a[0]; }
static int *counter(void) { static int count; return &count; }
static void count(int n, int *o) { for (int i = 0; i < n; i++) o[i] = (*counter())++; }
static void dice(int n, int *o) { for (int i = 0; i < n; i++) o[i] = rand(); }
static void total(int n, int *s, const int *a) { *s = 0; for (int i = 0; i < n; i++) *s += a[i]; }
static void weighted(int n, float *s, const float *a) { for (int i = 0; i < n; i++) *s += a[i] * i; }
static void halves(int n, signed char *s, const int *a) { for (int i = 0; i < n; i++) *s = (*s + a[i]) / 2; }
static struct own { int *at; } owned[N];
static void grows(int n, struct own *o) { for (int i = 0; i < n; i++) { o[i].at = realloc(o[i].at, 9 * sizeof(int)); o[i].at[8] = 1; } }
static void allocates(int n, struct own *o) { for (int i = 0; i < n; i++) { o[i].at = malloc(sizeof(int)); *o[i].at = 1; } }
static void frees(int n, struct own *o, int *y) { for (int i = 0; i < n; i++) { y[i] = o[i].at[8]; free(o[i].at); o[i].at = NULL; } }
static struct link { int *back; } links[N];
static void by_link(int n, int *o) { for (int i = 0; i < n; i++) *links[o[i]].back += 1; }
/* A large number takes no small ones. */
static void loses(int n, float *s, const float *a) { for (int i = 0; i < n; i++) *s += 3 + 0 * a[i]; }

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int s = 5, n = N;
    float f = 0;
    signed char c = 1;
    for (int i = 0; i < N; i++) {
        x[i] = 7 * i % 1000 + 1;
        fx[i] = 1.0f / (float)(i + 1);
    }
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(1000) read(x[i]) write(y[i])
    plus(n, y, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(1000) read(x[i]) reduce(+: (&s)[0:1])
    sum(n, &s, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(1000) read(fx[i]) reduce(+: (&f)[0:1])
    sumf(n, &f, fx);
#pragma kmm data map(to: x[0:N]) map(from: y[0:N]) map(alloc: z[0:N])
    {
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(1000) read(x[i]) write(z[i])
        plus(n, z, x);
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(1000) update(z[i])
        plus(n, z, z);
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(1000) read(z[i]) write(y[i])
        plus(n, y, z);
    }
    for (int k = 0; k < 2; k++) { // the first launch leaves the part mapped
        int *part = w + 1000;
#pragma kmm parallel(i = 0:1000) rebase(n: i) chunk(100) update(part[i]) nowait
        plus(1000, part, part);
    }
#pragma kmm wait
    // RIGHT-NOT: kmm:
    // RIGHT: y 4 1003 s 5005006 f 9.79 w 2
    // RIGHT-NOT: kmm:
    if (!*what) {
        int most = 0;
        for (int i = 0; i < N; i++)
            most = y[i] > most ? y[i] : most;
        printf("y %d %d s %d f %.2f w %d\n", y[0], most, s, (double)f, w[1999]);
    }
    if (!strcmp(what, "first")) {
        // CHECK: result.c:[[#@LINE+1]]: less_first: argument y[i]: its 11 chunks leave another result than the launch as a whole: in element 999, and in 9001 others (0x00000000 for 0x000003e1)
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) read(x[i]) write(y[i])
        less_first(n, y, x);
    }
    if (!strcmp(what, "state")) {
        // CHECK: result.c:[[#@LINE+1]]: count: argument y[i]: its 11 chunks leave another result
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) write(y[i])
        count(n, y);
    }
    if (!strcmp(what, "library")) {
        // CHECK: result.c:[[#@LINE+1]]: dice: argument y[i]: its 11 chunks leave another result
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) write(y[i])
        dice(n, y);
    }
    if (!strcmp(what, "begun")) {
        // CHECK: result.c:[[#@LINE+1]]: total: argument (&s)[0:1]: its 11 chunks leave another result than the launch as a whole: in element 0 (0x
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) read(x[i]) reduce(+: (&s)[0:1])
        total(n, &s, x);
    }
    if (!strcmp(what, "added")) {
        // CHECK: result.c:[[#@LINE+1]]: weighted: argument (&f)[0:1]: its 11 chunks leave another result
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) read(fx[i]) reduce(+: (&f)[0:1])
        weighted(n, &f, fx);
    }
    if (!strcmp(what, "small")) {
        // CHECK: result.c:[[#@LINE+1]]: halves: argument (&c)[0:1]: its 11 chunks leave another result than the launch as a whole: in element 0 (0x{{[0-9a-f][0-9a-f]}} for 0x{{[0-9a-f][0-9a-f]}})
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) read(x[i]) reduce(+: (&c)[0:1])
        halves(n, &c, x);
    }
    if (!strcmp(what, "back")) { // memory that no item names leads back to the array
        for (int i = 0; i < N; i++) {
            links[i].back = &y[i];
            y[i] = i;
        }
        // BACK: result.c:[[#@LINE+1]]: by_link: argument y[i]: its 11 chunks leave another result than the launch as a whole: in element 0
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) update(y[i])
        by_link(n, y);
    }
    if (!strcmp(what, "owned")) { // a second run would free the memory again
        // OWNED: kmm: note: {{.*}}result.c:[[#@LINE+1]]: allocates: KMM_CHECK=result does not compare this launch: its function allocates or frees memory to which the launch's arrays lead, and would do so twice
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) update(owned[i])
        allocates(n, owned);
        // OWNED: kmm: note: {{.*}}result.c:[[#@LINE+1]]: grows: KMM_CHECK=result does not compare
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) update(owned[i])
        grows(n, owned);
        // OWNED: kmm: note: {{.*}}result.c:[[#@LINE+1]]: frees: KMM_CHECK=result does not compare
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) update(owned[i]) write(y[i])
        frees(n, owned, y);
        // OWNED: {{^}}10001
        for (int i = s = 0; i < N; i++)
            s += y[i];
        printf("%d\n", s);
    }
    if (!strcmp(what, "loses")) {
        f = 1e8f;
        // LOSES: kmm: warning: {{.*}}result.c:[[#@LINE+1]]: loses: argument (&f)[0:1]: its 11 chunks leave another result than the launch as a whole: in element 0 ({{.*}}); the order of additions may explain it
#pragma kmm parallel(i = 0:n) rebase(n: i) chunk(999) read(fx[i]) reduce(+: (&f)[0:1])
        loses(n, &f, fx);
    }
    return 0;
}
// WORD: KMM_CHECK=results: no such check; there are `access` and `result`
