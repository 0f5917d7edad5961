// RUN: %kmmcc %san -O1 %s -o %t && env KMM_DEVICES=host timeout 60 %t && env KMM_DEVICES=host:2,mem=1M timeout 60 %t
// A thread that is cancelled while it waits for a launch ends behind it, and leaves the runtime usable.
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
enum { N = 1000 };
static int z[N];
static volatile int started;
static void inc(int n, int *x) { for (int i = 0; i < n; i++) x[i] ^= 1; }
static void *work(void *p)
{
    for (;;) {
#pragma kmm parallel(i = 0:N) chunk(77) rebase(n: i) update(z[i])
        inc(N, z);
        started = 1;
        pthread_testcancel();
    }
    return p;
}
int main(void)
{
    pthread_t t;
    void *r;
    int y[100] = {0};
    pthread_create(&t, NULL, work, NULL);
    while (!started)
        sched_yield();
    pthread_cancel(t);
    pthread_join(t, &r);
#pragma kmm parallel(i = 0:100) chunk(7) rebase(n: i) update(y[i])
    inc(100, y);
    return r != PTHREAD_CANCELED || y[99] != 1;
}
