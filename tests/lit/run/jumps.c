// longjmp out of blocks of `data`: the maps end as the jump arrives, and the result is that of the erased program. Where the setjmp is in a file that kmmcc has not rewritten, it is an error.
// RUN: %cc -O2 -Wno-unknown-pragmas %s %S/Inputs/guard.c -o %t.erased -lpthread && %t.erased > %t.expected
// RUN: %kmmcc -O2 %san -Wall -Wextra -Werror %s %S/Inputs/guard.c -o %t -lpthread
// RUN: %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | diff %t.expected -
// RUN: env KMM_DEVICES=host:2 KMM_CHECK=access %t 2>&1 | diff %t.expected -
// RUN: %not --crash %t unseen 2>&1 | FileCheck --check-prefix=UNSEEN %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K %not --crash %t unseen 2>&1 | FileCheck --check-prefix=UNSEEN %s
// RUN: env KMM_ON_ERROR=continue %not %t unseen 2>&1 | FileCheck --check-prefix=UNSEEN %s
// RUN: env KMM_DEVICES=host:2 %not %t last 2>&1 | FileCheck --check-prefix=UNSEEN %s
// RUN: env KMM_DEVICES=host:2 %not %t thread 2>&1 | FileCheck --check-prefix=THREAD %s
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60000 };
static int x[N], y[N];
static jmp_buf there;
static sigjmp_buf stack[4];

int guarded(void (*f)(void));
void give_up(void);

static void add(int n, int *x, int k)
{
    for (int i = 0; i < n; i++)
        x[i] += k;
}

static long sum(const int *x)
{
    long s = 0;
    for (int i = 0; i < N; i++)
        s += x[i];
    return s;
}

static void leave(int k)
{
    #pragma kmm data map(tofrom: x) map(tofrom: y[0:N])
    {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
        add(N, x, k);
        if (k > 2)
            siglongjmp(stack[1], k);
    }
}

/* Leaves a block of its own function, and those of another. */
static void leave_some(void)
{
    if (!setjmp(there)) {
        #pragma kmm data map(tofrom: x)
        {
            #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
            add(N, x, 2);
            longjmp(there, 1);
        }
    }
    printf("%ld\n", sum(x));
    volatile int count = 0;
    int value = sigsetjmp(stack[1], 0);
    if (count++ < 4)
        leave(count);
    printf("%d %d %ld\n", count, value, sum(x));
}

/* A jump inside of the block does not leave it. */
static void stay(void)
{
    volatile int count = 0;
    #pragma kmm data map(tofrom: y)
    {
        if (setjmp(there) < 3) {
            #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(y[i])
            add(N, y, ++count);
            longjmp(there, count);
        }
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(y[i])
        add(N, y, 1);
    }
    printf("%d %ld\n", count, sum(y));
}

static void leave_unseen(void)
{
    // UNSEEN: kmm: error: {{.*}}jumps.c:[[#@LINE+1]]: the block of `data` was left by a jump{{.*}}come back only now
    #pragma kmm data map(tofrom: x)
    {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
        add(N, x, 2);
        give_up();
    }
}

static void *end_inside(void *unused)
{
    // THREAD: kmm: error: {{.*}}jumps.c:[[#@LINE+1]]: the block of `data` was left by a jump, or its thread ended inside of it
    #pragma kmm data map(tofrom: x)
    {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
        add(N, x, 2);
        pthread_exit(unused);
    }
    return unused;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_inside, NULL);
        pthread_join(thread, NULL);
        // THREAD: 120000
        printf("%ld\n", sum(x));
        return 0;
    }
    if (*what)
        guarded(leave_unseen);
    if (!strcmp(what, "last"))
        return 0;
    for (int k = 0; k < 3; k++) {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
        add(N, x, 1);
        leave_some();
        stay();
    }
    return 0;
}
