/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler of faults. A thread that runs a chunk has a record of it (base/running.h). For a
 * thread without one, such as a chunk may start, the handler looks at the records of the others.
 * The first fault is reported, once; threads that fault meanwhile wait until it is. The handler
 * allocates nothing, and waits for no lock without a time limit.
 */
#include "observe/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/log.h"
#include "observe/fault_text.h"
#include "observe/watch.h"

enum { SIGNALS = 2, RUNTIMES = 32, OTHERS = 64 };

/* A signal, and what was there for it before the handler. */
typedef struct watched {
    int number;
    bool is_watched;
    bool is_below; /* the program has put its handler over ours, which stays below it */
    struct sigaction before;
} watched_t;

static watched_t signals[SIGNALS] = {{.number = SIGSEGV}, {.number = SIGBUS}};
static _Atomic(kmm_runtime_t *) runtimes[RUNTIMES];
static uint32_t runtime_count; /* in the list; one that found no room is not watched */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all, but for the handler */
enum { UNSAID, BEING_SAID, SAID };
static atomic_int saying;

/* ---- What the system says of a fault ---- */

/* True if an instruction has caused the signal. A signal that a process has sent is no fault, and
 * does not come again when the handler returns. */
static bool is_fault(const siginfo_t *info)
{
    return info->si_code > 0 && !(info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

static kmm__fault_access_t access_of(const ucontext_t *c)
{
#if defined(__x86_64__)
    enum { PAGE_FAULT = 14, WRITES = 1 << 1, FETCHES = 1 << 4 };
    if (c->uc_mcontext.gregs[REG_TRAPNO] != PAGE_FAULT)
        return KMM__FAULT_ACCESS;
    if (c->uc_mcontext.gregs[REG_ERR] & FETCHES)
        return KMM__FAULT_FETCH;
    return c->uc_mcontext.gregs[REG_ERR] & WRITES ? KMM__FAULT_WRITE : KMM__FAULT_READ;
#else
    (void)c;
    return KMM__FAULT_ACCESS;
#endif
}

/* The stack that is in use is mapped, so that what faults so near to its end is what follows. */
static bool is_at_stack(const ucontext_t *c, const char *address)
{
    enum { NEAR = 64 << 10 };
#if defined(__x86_64__)
    uintptr_t top = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    uintptr_t top = c->uc_mcontext.sp;
#else
    uintptr_t top = 0;
    (void)c;
#endif
    return top && (uintptr_t)address - (top - NEAR) < 2 * NEAR;
}

static kmm__fault_t fault_of(const siginfo_t *info, const ucontext_t *c)
{
    const char *address = info->si_addr;
    bool is_segv = info->si_signo == SIGSEGV;
    return (kmm__fault_t){.number = info->si_signo,
                          .access = access_of(c),
                          .has_address = info->si_code != SI_KERNEL,
                          .is_mapped = is_segv && info->si_code == SEGV_ACCERR,
                          .is_absent = !is_segv && info->si_code == BUS_ADRERR,
                          .fills_stack = is_segv && is_at_stack(c, address),
                          .address = address};
}

/* ---- Saying it ---- */

static void say(const kmm__fault_t *f, const kmm__running_t *running)
{
    char text[1200];
    kmm__running_t others[OTHERS];
    size_t length = running ? kmm__fault_in_chunks(f, running, text, sizeof(text)) : 0;
    uint32_t count = running || kmm__running_is_watched() ? 0 : kmm__running_all(others, OTHERS);
    if (count)
        length = kmm__fault_beside_chunks(f, others, count, text, sizeof(text));
    for (int k = 0; k < RUNTIMES && !running && !length && f->has_address; k++) {
        kmm_runtime_t *rt = atomic_load(&runtimes[k]);
        length = rt ? kmm__fault_elsewhere(f, rt, text, sizeof(text)) : 0;
    }
    kmm__log_text(f->may_be_mended ? KMM__LOG_NOTE : KMM__LOG_ERROR, text, length);
}

/* Another thread's fault ends the process only when this one's has been said. */
static void say_once(const kmm__fault_t *f, const kmm__running_t *running)
{
    enum { TURNS = 2000, TURN_NS = 1000000 };
    int unsaid = UNSAID;
    if (atomic_compare_exchange_strong(&saying, &unsaid, BEING_SAID)) {
        say(f, running);
        atomic_store(&saying, SAID);
    }
    for (int k = 0; k < TURNS && atomic_load(&saying) == BEING_SAID; k++)
        nanosleep(&(struct timespec){.tv_nsec = TURN_NS}, NULL);
}

/* A chunk has ended its thread. Nothing can go on: the stack that the chunk ran on is gone, and the
 * launch waits for it. */
static void on_end(const kmm__running_t *running)
{
    char text[1200];
    kmm__log_text(KMM__LOG_ERROR, text, kmm__fault_ended(running, text, sizeof(text)));
    kmm__watch_signal(-1);
    _exit(EXIT_FAILURE);
}

/* ---- Going on ---- */

static bool is_own(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

/* Calls the program's handler; without one the signal comes again, and finds what was there. */
static void go_on(const watched_t *w, siginfo_t *info, void *context)
{
    const struct sigaction *before = &w->before;
    if (!is_own(before) || (before->sa_flags & (int)SA_RESETHAND)) {
        sigaction(w->number, before, NULL);
        if (!is_fault(info))
            syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), w->number, info);
    } else if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(w->number, info, context);
    } else {
        before->sa_handler(w->number);
    }
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int error = errno;
    const watched_t *w = &signals[number == SIGBUS];
    const kmm__running_t *running = kmm__running_interrupted();
    if (is_fault(info) && (running || !is_own(&w->before))) {
        kmm__fault_t f = fault_of(info, context);
        f.may_be_mended = is_own(&w->before);
        say_once(&f, running);
    }
    if (!is_own(&w->before))
        kmm__watch_signal(number);
    errno = error;
    go_on(w, info, context);
}

/* ---- Watching ---- */

/* The handler has the flags and the mask of the one that it stands before. */
static void watch(watched_t *w)
{
    struct sigaction there, now = {.sa_sigaction = on_fault};
    if (w->is_watched || w->is_below || sigaction(w->number, NULL, &there))
        return;
    w->before = there;
    now.sa_flags = SA_SIGINFO | SA_ONSTACK | (there.sa_flags & (SA_NODEFER | SA_RESTART));
    now.sa_mask = there.sa_mask;
    w->is_watched = sigaction(w->number, &now, NULL) == 0;
}

static void unwatch(watched_t *w)
{
    struct sigaction there;
    if (!w->is_watched || sigaction(w->number, NULL, &there))
        return;
    if ((there.sa_flags & SA_SIGINFO) && there.sa_sigaction == on_fault) {
        sigaction(w->number, &w->before, NULL);
    } else {
        w->is_below = is_own(&there); /* its handler may call ours */
    }
    w->is_watched = false;
}

void kmm__fault_watch(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&lock);
    kmm__running_on_end(on_end);
    bool is_noted = false;
    for (int k = 0; k < RUNTIMES && !is_noted; k++) {
        kmm_runtime_t *nobody = NULL;
        is_noted = atomic_compare_exchange_strong(&runtimes[k], &nobody, rt);
    }
    if (is_noted && runtime_count++ == 0)
        atomic_store(&saying, UNSAID);
    for (int k = 0; k < SIGNALS && is_noted; k++)
        watch(&signals[k]);
    pthread_mutex_unlock(&lock);
}

void kmm__fault_unwatch(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < RUNTIMES; k++) {
        kmm_runtime_t *this_one = rt;
        runtime_count -= atomic_compare_exchange_strong(&runtimes[k], &this_one, NULL);
    }
    for (int k = 0; k < SIGNALS && runtime_count == 0; k++)
        unwatch(&signals[k]);
    pthread_mutex_unlock(&lock);
}
