// A thread that a chunk has started, by OpenMP or pthreads, calls exit while the chunk waits for it.
// RUN: %kmmcc -O1 -fopenmp -pthread %s -o %t
// RUN: timeout 60 %t; test $? = 7
// RUN: timeout 60 %t 1 2>%t.err; test $? = 6 && FileCheck %s < %t.err
// RUN: timeout 60 %t 1 2; test $? = 8
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %t; test $? = 7
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %t 1 2; test $? = 8
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 60 %t 1 2 3; test $? = 9
// RUN: env KMM_DEVICES=host:2 KMM_CHECK=access timeout 60 %t; test $? = 7
// CHECK: warning: {{.*}}: the block of `data` has not ended, because a chunk or a task called exit; its arrays are not written back
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
#include <pthread.h>
enum { N = 60000 };
static int x[N];
static void f(int n, int *a, int s) {
    #pragma omp parallel for num_threads(3)
    for (int i = 0; i < n; i++) { a[i] += 2; if (a[i] == 100) exit(s); }
}
struct arg { int n, *a, s; };
static void *work(void *p) { struct arg *v = p; for (int i = 0; i < v->n; i++) { v->a[i] += 2; if (v->a[i] == 100) exit(v->s); } return 0; }
static void g(int n, int *a, int s) {
    pthread_t t; struct arg v = { n, a, s };
    pthread_create(&t, 0, work, &v);
    pthread_join(t, 0);
}
int main(int argc, char **argv) {
    (void)argv;
    x[44444] = 98;
    if (argc > 3) {
        #pragma kmm task update(x[0:N])
        g(N, x, 9);
    }
    if (argc > 2) {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
        g(N, x, 8);
    }
    if (argc > 1) {
        #pragma kmm data map(tofrom: x)
        {
        #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
        f(N, x, 6);
        #pragma kmm wait
        }
    }
    #pragma kmm parallel(i = 0:N) chunk(9000) rebase(n: i) update(x[i])
    f(N, x, 7);
    printf("not reached\n");
}
