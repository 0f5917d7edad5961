// What the host does to mapped memory: right programs are silent, and wrong ones name the line. Sanitizers have calls of their own.
// RUN: %if !san %{ %kmmcc -fkmm-check -w -g %s -o %t -lpthread %}
// RUN: %if !san %{ %t right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t wrong 2>&1 | FileCheck --check-prefixes=WRONG,SEEN %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_ON_ERROR=continue %not %t wrong 2>&1 | FileCheck --check-prefixes=WRONG,SEEN,SPACES %s %}
// RUN: %if !san %{ %not --crash %t frees 2>&1 | FileCheck --check-prefix=FREES %s %}
// RUN: %if !san %{ %not --crash %t grows 2>&1 | FileCheck --check-prefix=FREES %s %}
// RUN: %if !san %{ %not --crash %t early 2>&1 | FileCheck --check-prefix=EARLY %s %}
// Without the option, stores are seen that change a value that the host has.
// RUN: %kmmcc -w -g %s -o %t.plain -lpthread
// RUN: env KMM_CHECK=access %t.plain right 2>&1 | FileCheck --check-prefix=RIGHT %s
// RUN: env KMM_CHECK=access KMM_ON_ERROR=continue %not %t.plain wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: env KMM_CHECK=access,result KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_ON_ERROR=continue %not %t.plain wrong 2>&1 | FileCheck --check-prefix=WRONG %s
// RIGHT-NOT: kmm:
// RIGHT: done 5 8 12294 25 9
// FREES: kmm: error: check_host.c:[[#]]: the host frees memory that is mapped; end the `data` region before
// EARLY: kmm: error: check_host.c:[[#]]: the host frees memory that a launch with nowait uses; say `#pragma kmm wait` before
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { N = 4096 };
static int x[N], y[N], spare[N], ends[2];
static void up(int n, int *a) { for (int i = 0; i < n; i++) a[i] += 3; }
static void copy(int n, const int *a, int *b) { for (int i = 0; i < n; i++) b[i] = a[i] + 1; }
static void even(int lo, int hi, int *a) { for (int i = lo; i < hi; i++) a[2 * i] += 1; }
static void up_all(int *a) {
    #pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) update(a[i])
    up(N, a);
}
static void copy_all(int *a, int *b) {
    #pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) read(a[i]) write(b[i])
    copy(N, a, b);
}
static void up_even(int *a) {
    #pragma kmm parallel(i = 0:N / 2) chunk(512) rebase(lo: begin(i), hi: end(i)) update(a[2 * i])
    even(0, N / 2, a);
}
static int descends(const void *a, const void *b) { return *(int *)b - *(int *)a; }
static void *poke(void *a) { ((int *)a)[7] = 25; return NULL; }
static void by_thread(int *a) { pthread_t t; pthread_create(&t, NULL, poke, a); pthread_join(t, NULL); }
static void from_pipe(int *a, int count) {
    if (write(ends[1], spare, count * sizeof(int)) < 0 || read(ends[0], a, count * sizeof(int)) < 0) abort();
}
static int right(void) {
    volatile int out = 0;
    int *own = (int *)malloc((N + 5) * sizeof(int)) + 3; /* shares pages with other memory */
    memset(own - 3, 0, (N + 5) * sizeof(int));
    #pragma kmm data map(tofrom: x)
    {
        up_all(x);
        #pragma kmm update from(x[10:2])
        x[10] = x[11]++;
        #pragma kmm update to(x[10:2])
        up_all(x);
        #pragma kmm update from(x)
        qsort(x, N, sizeof(int), descends);
        by_thread(x);
        from_pipe(x + 20, 3);
        #pragma kmm update to(x)
        up_even(x);
        #pragma kmm update from(x)
        up_even(x);
        out += x[7]; /* no launch has stored to odd elements since */
        #pragma kmm task update(x[0:N])
        {
            by_thread(x);
            x[9] = x[8];
        }
        #pragma kmm data map(tofrom: x)
        {
            up_all(x);
            #pragma kmm wait
            for (int i = 0; i < N; i++) x[i] = 3 * i;
            #pragma kmm update to(x)
        }
        up_all(x);
    }
    #pragma kmm data map(tofrom: own[0:N]) map(to: y)
    {
        copy_all(y, own);
        own[-1] = 9;
        own[N] = own[-1];
        #pragma kmm update from(own[5:1])
        own[5] += 4;
        #pragma kmm update to(own[5:1])
        up_all(own);
        out += y[3] - y[3];
        int *other = realloc(malloc(1000), 100000);
        free(other);
    }
    copy_all(x, spare);
    #pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) read(x[i]) write(y[i]) nowait
    copy(N, x, y);
    out += x[3] - x[3];
    #pragma kmm wait
    y[0] = 5;
    printf("done %d %d %d %d %d\n", y[0], own[5], spare[N - 1] + y[0], out, own[-1]);
    return 0;
}
static int wrong(void) {
    volatile int out = 0;
    // WRONG: kmm: error: {{.*}}check_host.c:[[#]]: up: argument a[i]: {{(check_host.c:[0-9]+: )?}}the host stores to byte 40 of the memory while it is mapped, and the launch uses it; say `#pragma kmm update to(...)` before the launch
    #pragma kmm data map(tofrom: x)
    {
        up_all(x);
        #pragma kmm update from(x[10:1])
        x[10] = 50;
        up_all(x);
    }
    // WRONG: kmm: error: {{.*}}check_host.c:[[#]]: copy: argument a[i]: {{(check_host.c:[0-9]+: )?}}the host stores to byte 12 of the memory while it is mapped, and the launch uses it
    #pragma kmm data map(to: y)
    {
        y[3] = 4;
        copy_all(y, x);
    }
    // WRONG: kmm: error: {{.*}}check_host.c:[[#]]: the host stores to byte 20 of the memory while it is mapped; say `#pragma kmm update to(...)` behind it
    #pragma kmm data map(tofrom: x)
    {
        up_all(x);
        #pragma kmm update from(x)
        x[3] = x[5] = 77;
        #pragma kmm update to(x[3:1])
    }
    // WRONG: kmm: error: {{.*}}check_host.c:[[#]]: up: argument a[i]: {{(check_host.c:[0-9]+: )?}}the host stores to byte 28 of the memory while it is mapped, and the launch uses it
    // WRONG: kmm: error: {{.*}}check_host.c:[[#]]: up: argument a[i]: {{(check_host.c:[0-9]+: )?}}the host stores to byte 80 of the memory while it is mapped, and the launch uses it
    // WRONG: kmm: error: {{.*}}check_host.c:[[#]]: task: argument x[0:N]: {{(check_host.c:[0-9]+: )?}}the host stores to byte 0 of the memory while it is mapped, and the launch uses it
    #pragma kmm data map(tofrom: x)
    {
        up_all(x);
        #pragma kmm update from(x)
        by_thread(x);
        up_all(x);
        #pragma kmm update from(x)
        from_pipe(x + 20, 3);
        up_all(x);
        #pragma kmm update from(x)
        x[0] = -1;
        #pragma kmm task update(x[0:N])
        x[8] = 8;
    }
    // SEEN: kmm: error: {{.*}}check_host.c:[[@LINE+6]]: the host reads byte 16 of the memory while it is mapped; say `#pragma kmm update from(...)` before
    #pragma kmm data map(tofrom: x)
    {
        up_all(x);
        #pragma kmm update from(x)
        up_all(x);
        out = x[4];
    }
    // SEEN: kmm: error: {{.*}}check_host.c:[[@LINE+4]]: the host reads byte 0 of the memory while it is mapped
    #pragma kmm data map(tofrom: x)
    {
        up_all(x);
        if (write(ends[1], x, 40) < 0 || read(ends[0], spare, 40) < 0) abort();
    }
    // SEEN: kmm: error: {{.*}}check_host.c:[[@LINE+4]]: the host stores to byte 40 of memory that a launch uses; say `#pragma kmm update from(...)` or `#pragma kmm wait` before
    #pragma kmm data map(tofrom: x) map(tofrom: y)
    {
        copy_all(x, y);
        x[10] = 5;
        #pragma kmm update to(x[10:1])
    }
    // SPACES: kmm: error: {{.*}}check_host.c:[[@LINE+6]]: update to x: byte 0 of the memory has an old value, which would replace that of a launch; say `#pragma kmm update from(...)` before the host stores to the rest, or name only what it stores to
    #pragma kmm data map(tofrom: x)
    {
        up_all(x);
        #pragma kmm wait
        x[10] = 5;
        #pragma kmm update to(x)
    }
    return 0;
}
static int frees(int grows) {
    int *own = calloc(N, sizeof(int));
    #pragma kmm data map(tofrom: own[0:N])
    {
        up_all(own);
        if (grows) own = realloc(own, 100 * N); else free(own);
    }
    return 0;
}
static int early(void) {
    int *own = calloc(N, sizeof(int));
    #pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) read(own[i]) write(y[i]) nowait
    copy(N, own, y);
    free(own);
    #pragma kmm wait
    return 0;
}
int main(int c, char **v) {
    if (c < 2 || pipe(ends)) return 2;
    for (int i = 0; i < N; i++) spare[i] = 1000 + i;
    return !strcmp(v[1], "right") ? right() : !strcmp(v[1], "wrong") ? wrong() : !strcmp(v[1], "early") ? early() : frees(v[1][0] == 'g');
}
