// KMM_CHECK=result: a chunk of a compared launch waits for a thread that launches. That one passes the closed gate, and a note says so.
// RUN: %kmmcc %s -o %t -lpthread && env KMM_DEVICES=host KMM_CHECK=result %t 2>&1 | FileCheck %s
// CHECK: kmm: note: {{.*}}waits: KMM_CHECK=result does not compare this launch: its chunks seem to wait for what another thread submits
// CHECK: 1 3
#include <pthread.h>
#include <stdio.h>
#include <time.h>
enum { N = 4000 };
static int x[N], y[N], ended; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void up(int n, int *a) { for (int i = 0; i < n; i++) a[i] += 3; }
static void waits(int n, const int *k, int *a) {
    if (k[0] == 0) { pthread_mutex_lock(&m); while (!ended) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); }
    for (int i = 0; i < n; i++) a[i]++; }
static int key[N];
static void *other(void *arg) {
    struct timespec t = {0, 50000000}; nanosleep(&t, 0);
    #pragma kmm parallel(i = 0:N) chunk(1000) rebase(n: i) update(y[i])
    up(N, y);
    pthread_mutex_lock(&m); ended = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); return arg; }
int main(void) { for (int i = 0; i < N; i++) key[i] = i; pthread_t t; pthread_create(&t, 0, other, 0);
    #pragma kmm parallel(i = 0:N) chunk(1000) rebase(n: i) read(key[i]) update(x[i])
    waits(N, key, x);
    pthread_join(t, 0); printf("%d %d\n", x[7], y[7]); }
