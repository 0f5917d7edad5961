// Signals go to the threads of the program: kmm's threads take none, and what a chunk raises reaches the thread that launched.
// RUN: %cc -O1 -w -D_GNU_SOURCE %s -o %t.erased -pthread && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror -Wno-kmm-thread -Wno-kmm-unproven -D_GNU_SOURCE %s -o %t -pthread
// RUN: env KMM_DEVICES=host timeout 300 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 timeout 300 %t | diff %t.expected -
// RUN: env KMM_DEVICES=host %not timeout 300 %t exit 2>&1 | FileCheck %s --check-prefix=EXIT
// EXIT: kmm: error: {{.*}}signals.c:[[#]]: step: chunk {{.*}}: the chunk has ended its thread, which is one of kmm's; return from the function instead of calling pthread_exit
// EXIT-NOT: after
// RUN: env KMM_DEVICES=host sh -c '%t term; echo status $?' 2>&1 | FileCheck %s --check-prefix=TERM
// TERM: status 143
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { N = 5000 };
static int x[N];
static volatile sig_atomic_t handled;
static pthread_t launcher;
static volatile int elsewhere;

static void note(int number)
{
    (void)number;
    handled++;
    elsewhere += !pthread_equal(pthread_self(), launcher);
}

static void step(int n, int *p, int number, int ends)
{
    for (int i = 0; i < n; i++) {
        if (p[i] == 3000 && ends)
            pthread_exit(NULL);
        if (p[i] == 3000 && number)
            raise(number);
        p[i] += 0;
    }
}

static void launch(int number, int ends)
{
#pragma kmm parallel(i = 0:N) chunk(611) rebase(n: i) update(x[i])
    step(N, x, number, ends);
}

int main(int argc, char **argv)
{
    sigset_t set;
    int number = 0;
    launcher = pthread_self();
    for (int i = 0; i < N; i++)
        x[i] = i;
    if (argc > 1) {
        launch(strcmp(argv[1], "term") ? 0 : SIGTERM, !strcmp(argv[1], "exit"));
        printf("after\n");
        return 0;
    }
    signal(SIGUSR1, note);
    for (int k = 0; k < 20; k++) {
        launch(SIGUSR1, 0);
        number += handled != k + 1;
    }
    printf("%d late, %d elsewhere\n", number, elsewhere);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR2);
    usleep(1000);
    sigwait(&set, &number);
    printf("%d\n", number == SIGUSR2);
    launch(SIGUSR2, 0); // stays pending, as the thread blocks it
    sigwait(&set, &number);
    printf("%d\n", number == SIGUSR2);
    int f = signalfd(-1, &set, 0);
    struct signalfd_siginfo info = {0};
    alarm(1);
    printf("%d\n", read(f, &info, sizeof(info)) > 0 && info.ssi_signo == SIGALRM);
    return 0;
}
