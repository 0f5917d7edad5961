/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher. A process has at most one; a forked process begins without. */
#include "observe/watch.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "observe/progress.h"
#include "observe/stats.h"

enum { RUNTIMES = 16, LOOK_NS = 200000000 };

/* The signals that end a program and are not faults of memory (observe/fault.c). */
static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGFPE, SIGILL};
enum { SIGNALS = sizeof(numbers) / sizeof(*numbers) };

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* held while one begins or ends */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;   /* guards what follows */
static struct watched {
    kmm_runtime_t *runtime; /* NULL: none */
    kmm__progress_t progress;
} watched[RUNTIMES];
static uint32_t count;
static bool draws, stops;
static pthread_t thread;
static bool is_handled[SIGNALS];

static sem_t wake;
static _Atomic pid_t owner; /* the process whose watcher runs; 0: none */
static atomic_int signalled;
static atomic_bool has_stats; /* of some runtime they are wanted */
static atomic_bool is_told;

/* ---- The thread ---- */

/* Waits until it is woken, or it is time to look again. */
static void rest(bool is_drawing)
{
    struct timespec until;
    if (!is_drawing) {
        while (sem_wait(&wake) && errno == EINTR)
            ;
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_clockwait(&wake, CLOCK_MONOTONIC, &until) && errno == EINTR)
        ;
}

/* Locked. A bar is that of the first runtime. */
static void look(void)
{
    uint32_t k = 0;
    while (k < RUNTIMES && !watched[k].runtime)
        k++;
    if (k < RUNTIMES)
        kmm__progress_look(watched[k].runtime, &watched[k].progress);
}

/* Locked. */
static void print_all(int number)
{
    kmm__log_bar(NULL);
    for (uint32_t k = 0; k < RUNTIMES; k++)
        if (watched[k].runtime)
            kmm__stats_print(watched[k].runtime, number);
    atomic_store(&is_told, true);
}

static void *watch_main(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        const bool is_drawing = draws, ends = stops;
        const int number = atomic_exchange(&signalled, 0);
        if (number)
            print_all(number);
        else if (is_drawing && !ends)
            look();
        pthread_mutex_unlock(&lock);
        if (ends)
            return NULL;
        rest(is_drawing);
    }
}

/* ---- Signals ---- */

void kmm__watch_signal(int number)
{
    enum { TURNS = 2000, TURN_NS = 1000000 };
    int none = 0;
    if (atomic_load(&owner) != getpid() || !atomic_load(&has_stats))
        return;
    if (!atomic_load(&is_told) && atomic_compare_exchange_strong(&signalled, &none, number))
        sem_post(&wake);
    for (int k = 0; k < TURNS && !atomic_load(&is_told); k++)
        nanosleep(&(struct timespec){.tv_nsec = TURN_NS}, NULL);
}

/* The program had no handler. The signal comes again when this one returns, and ends it. */
static void on_signal(int number)
{
    int error = errno;
    kmm__watch_signal(number);
    signal(number, SIG_DFL);
    raise(number);
    errno = error;
}

/* Locked. A signal that the program handles or ignores stays as it is. */
static void signals_handle(void)
{
    atomic_store(&has_stats, true);
    struct sigaction there, own = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    for (uint32_t k = 0; k < SIGNALS; k++)
        if (!is_handled[k] && sigaction(numbers[k], NULL, &there) == 0 &&
            !(there.sa_flags & SA_SIGINFO) && there.sa_handler == SIG_DFL)
            is_handled[k] = sigaction(numbers[k], &own, NULL) == 0;
}

/* Locked. */
static void signals_leave(void)
{
    atomic_store(&has_stats, false);
    struct sigaction there;
    for (uint32_t k = 0; k < SIGNALS; k++) {
        if (is_handled[k] && sigaction(numbers[k], NULL, &there) == 0 &&
            !(there.sa_flags & SA_SIGINFO) && there.sa_handler == on_signal)
            signal(numbers[k], SIG_DFL);
        is_handled[k] = false;
    }
}

/* ---- Begin and end ---- */

/* A forked process has no watcher. Its runtimes are its parent's. */
static void forget(void)
{
    lock = making = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    memset(watched, 0, sizeof(watched));
    count = 0;
    stops = draws = false;
    atomic_store(&owner, 0);
    signals_leave();
}

static void register_forget(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* Locked: starts the watcher. */
static void start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_forget);
    stops = false;
    atomic_store(&signalled, 0);
    atomic_store(&is_told, false);
    if (sem_init(&wake, 0, 0) || kmm__thread_create(&thread, watch_main, NULL))
        return;
    atomic_store(&owner, getpid());
}

void kmm__watch_begin(kmm_runtime_t *rt)
{
    kmm__progress_t progress;
    bool possible = kmm__progress_begin(&progress);
    if (!possible && !rt->stats)
        return;
    pthread_mutex_lock(&making);
    pthread_mutex_lock(&lock);
    uint32_t k = 0;
    while (k < RUNTIMES && watched[k].runtime)
        k++;
    if (k < RUNTIMES) {
        watched[k] = (struct watched){rt, progress};
        draws |= possible;
        if (count++ == 0)
            start();
        if (rt->stats)
            signals_handle();
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&making);
}

void kmm__watch_end(kmm_runtime_t *rt)
{
    bool is_last = false;
    pthread_mutex_lock(&making);
    pthread_mutex_lock(&lock);
    for (uint32_t k = 0; k < RUNTIMES; k++)
        if (watched[k].runtime == rt) {
            watched[k].runtime = NULL;
            is_last = --count == 0 && atomic_load(&owner) == getpid();
        }
    stops = is_last;
    if (is_last) {
        signals_leave();
        atomic_store(&owner, 0);
        kmm__log_bar(NULL);
        draws = false;
    }
    pthread_mutex_unlock(&lock);
    if (is_last) {
        sem_post(&wake);
        pthread_join(thread, NULL);
        sem_destroy(&wake);
    }
    pthread_mutex_unlock(&making);
}

void kmm__watch_rest(void)
{
    pthread_mutex_lock(&lock);
    draws = false;
    kmm__log_bar(NULL);
    pthread_mutex_unlock(&lock);
}
