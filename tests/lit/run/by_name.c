// RUN: %kmmcc %san -fno-kmm %s -o %t.plain && %t.plain > %t.want
// RUN: %kmmcc %san -O1 -Wno-kmm-unproven %s -o %t && env KMM_DEVICES=host %t > %t.one 2>&1 && diff %t.want %t.one
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t > %t.three 2>&1 && diff %t.want %t.three
// RUN: env KMM_DEVICES=host:2,mem=8M KMM_FRAME=64K KMM_JOIN=0 KMM_CHECK=result %t > %t.check && diff %t.want %t.check
// RUN: %t.plain reduced > %t.want && env KMM_DEVICES=host %t reduced > %t.one 2>&1 && diff %t.want %t.one
// RUN: env KMM_DEVICES=host %not --crash %t target 2>&1 | FileCheck --check-prefix=TARGET %s
// RUN: env KMM_DEVICES=host %not --crash %t table 2>&1 | FileCheck --check-prefix=TABLE %s
// RUN: env KMM_DEVICES=host %not --crash %t chain 2>&1 | FileCheck --check-prefix=CHAIN %s
// RUN: env KMM_DEVICES=host %t beside 2>&1 | FileCheck --check-prefix=BESIDE %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %not --crash %t task 2>&1 | FileCheck --check-prefix=TASK %s
// RUN: %kmmcc --emit-source %s | FileCheck --check-prefix=SOURCE %s
// A plain function reads without an argument what a launch before computes under another name, or what its own launch computes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 30000 };
static int x[N], y[N], table[2 * N], far[N + 1], *to_table = table, *before, bins[64], bound, scale = 2, own;
static struct { int pad, t[N]; int *at; } set;
extern int elsewhere[];
struct statistics { long sum; };
struct view { const int *end; const struct statistics *st; const int *prev; };

static void fill(int n, const int *a, int *t) { for (int i = 0; i < n; i++) { int s = 0; for (int k = 0; k < 50; k++) s += a[i] + k; t[i] = s; } }
static void sum(int n, const int *a, long *s) { for (int i = 0; i < n; i++) *s += a[i]; }
static void from_table(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = table[a[i]] * scale; }
static void from_set(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = set.t[a[i]]; }
static void by_scale(int n, int *b) { for (int i = 0; i < n; i++) b[i] = table[0] * scale; }
static int fetched(int k) { return elsewhere[k]; }
static void from_elsewhere(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = fetched(a[i]); }
static void from_pointer(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = to_table[a[i]]; }
static void from_pointer_in(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = set.at[a[i]]; }
static void backwards(int lo, int hi, int *b, const struct view *v) { for (int i = lo; i < hi; i++) b[i] = v->end[-1 - i]; }
static void mean(int n, const int *a, int *b, const struct view *v) { for (int i = 0; i < n; i++) b[i] = a[i] > v->st->sum / N; }
int elsewhere[N];

static void make(const int *a, int *t)
{
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(a[i]) write(t[i]) nowait
    fill(N, a, t);
}
static void show(const char *what)
{
    long s = 0;
#pragma kmm wait
    for (int i = 0; i < N; i++)
        s += y[i] * (long)(i % 7 + 1);
    printf("%s %ld\n", what, s);
    memset(table, 0, sizeof table);
    memset(set.t, 0, sizeof set.t);
    memset(elsewhere, 0, sizeof elsewhere);
}

// Launches without waiting.
static void unwaited(void)
{
    // SOURCE: static const kmm_variable_t kmm__variables_[[#@LINE+5]][] = {
    // SOURCE-NEXT: {"table", &table, 240000, 0}};
    make(x, table);
    // SOURCE-LABEL: make(x, table);
    // SOURCE: kmm_launch_variables(kmm__launch, kmm__variables_[[#@LINE+1]], 1);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(y[i])
    from_table(N, x, y);
    show("table");
    make(x, &table[10]);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(y[i]) nowait
    from_table(N, x, y);
    show("part of the table");
    make(x, set.t);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(y[i])
    from_set(N, x, y);
    show("member");
    make(x, elsewhere);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(y[i])
    from_elsewhere(N, x, y);
    show("extern");
    make(x, table);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(y[i])
    from_pointer(N, x, y);
    show("pointer");
    make(x, table);
    set.at = table;
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(y[i])
    from_pointer_in(N, x, y);
    show("pointer in a struct");
}
// Data regions.
static void mapped(int *t)
{
#pragma kmm data map(to: x) map(from: y) map(tofrom: t[0:N])
    {
        for (int k = 0; k < 2; k++) {
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(t[i])
            fill(N, x, t);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(y[i])
            from_table(N, x, y);
        }
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(t[i])
        fill(N, x, t);
        struct view v = {.end = t + N};
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(lo: begin(i), hi: end(i)) read((&v)[0]) update(y[i])
        backwards(0, N, y, &v);
    }
    show("region");
}
// A pointer in memory to what the launch before reduces. Where arrays have other addresses on a device, such a pointer is refused.
static void reduced(void)
{
    struct statistics st = {0};
    struct view v = {.st = &st};
#pragma kmm data map(to: x) map(from: y) map(tofrom: (&st)[0:1])
    {
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) reduce(+: (&st.sum)[0:1])
        sum(N, x, &st.sum);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i], (&v)[0]) write(y[i])
        mean(N, x, y, &v);
    }
    show("reduced");
}

static void best(int n, const int *a, int *m, long *c) { for (int i = 0; i < n; i++) { if (a[i] < bound + 10) *c += 1; if (a[i] < *m) *m = a[i]; } }
static void prune(int *m, long *c)
{
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) reduce(min: m[0]) reduce(+: c[0])
    // TARGET: kmm: error: {{.*}}by_name.c:[[#@LINE-1]]: best: argument m[0]: the function also reads this memory by the name 'bound', where a chunk does not find what one call would
    best(N, x, m, c);
}
static void count(int n, const int *a, int *h, long *c) { for (int i = 0; i < n; i++) { if (bins[a[i] & 63] < 10) *c += 1; h[a[i] & 63]++; } }
static void rare(int *h, long *c)
{
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) reduce(+: h[0:64]) reduce(+: c[0])
    // TABLE: kmm: error: {{.*}}by_name.c:[[#@LINE-1]]: count: argument h[0:64]: the function also reads this memory by the name 'bins'
    count(N, x, h, c);
}
static void chain(int lo, int hi, int *b) { for (int i = lo; i < hi; i++) b[i] = table[i > 0 ? i - 1 : 0] + 1; }
static void chained(int *b)
{
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(lo: begin(i), hi: end(i)) update(b[i])
    // CHAIN: kmm: error: {{.*}}by_name.c:[[#@LINE-1]]: chain: argument b[i]: the function also reads this memory by the name 'table'
    chain(0, N, b);
}
static void after(int lo, int hi, int *b) { for (int i = lo; i < hi; i++) b[i] = before[i] + 1; }
static void steady(int lo, int hi, int *b, const struct view *v) { for (int i = lo; i < hi; i++) b[i] = v->prev[i] + 1; }
// Pointers to the element before what is written; `own` has its address taken nowhere, so libkmm does not get it.
static void beside(int *b)
{
    struct view v = {.prev = far};
    before = far;
    // BESIDE: kmm: warning: {{.*}}by_name.c:[[#@LINE+1]]: after: argument b[i]: the function may also read this memory by way of 'before', and chunks run in any order, so results may differ from those of one call [crossed]
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(lo: begin(i), hi: end(i)) write(b[i])
    after(0, N, b);
    // BESIDE: kmm: warning: {{.*}}by_name.c:[[#@LINE+1]]: steady: argument b[i]: {{.*}} by way of '(&v)[0]', {{.*}} [crossed]
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(lo: begin(i), hi: end(i)) read((&v)[0]) write(b[i])
    steady(0, N, b, &v);
    before = b; // the same elements
    // BESIDE-NOT: [crossed]
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(lo: begin(i), hi: end(i)) update(b[i])
    after(0, N, b);
}
// A task must not wait. In a region, the newest value stays on a device.
static int z[N];
static void in_helper(void)
{
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) write(z[i])
    // TASK: kmm: error: {{.*}}by_name.c:[[#@LINE-1]]: by_scale: inside a task it reads memory at 0x{{[0-9a-f]+}} without an argument, whose value a launch may still compute
    by_scale(N, z);
}
static void in_task(int *t)
{
#pragma kmm data map(to: x) map(from: z) map(tofrom: t[0:N])
    {
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) read(x[i]) write(t[i])
        fill(N, x, t);
#pragma kmm task
        in_helper();
#pragma kmm wait
    }
}

// SOURCE-LABEL: unread(
// SOURCE-NOT: kmm_variable{{_}}t
static void unread(int n, int *b) { for (int i = 0; i < n; i++) b[i] += own; }

int main(int argc, char **argv)
{
    long c = 0;
    const char *which = argc > 1 ? argv[1] : "";
    for (int i = 0; i < N; i++)
        x[i] = i * 31 % 1000;
    own = argc;
    if (!strcmp(which, "reduced"))
        reduced();
    if (!strcmp(which, "target"))
        prune(&bound, &c);
    if (!strcmp(which, "table"))
        rare(bins, &c);
    if (!strcmp(which, "chain"))
        chained(table);
    if (!strcmp(which, "beside"))
        beside(far + 1);
    if (!strcmp(which, "task"))
        in_task(table);
    if (*which)
        return 0;
    unwaited();
    mapped(table);
#pragma kmm parallel(i = 0:N) chunk(5000) rebase(n: i) update(y[i])
    unread(N, y);
    show("own");
    return 0;
}
