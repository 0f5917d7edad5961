/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads that take items from one queue.
 *
 * No wake-up is lost. Whether to wake a thread is decided under the lock, from `ready` and
 * `seekers`. A thread stops being a seeker under the lock, after it has looked at the queue under
 * the same lock.
 */
#include "backend/host/thread_pool.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <kmm.h>

#include "backend/host/error.h"
#include "base/running.h"
#include "base/spin.h"
#include "base/thread.h"

/* glibc's function that calls f(arg) when the thread's C++ variables end, before those that were
 * made earlier. NULL: the C library lacks it. */
extern int __cxa_thread_atexit_impl(void (*f)(void *arg), void *arg, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* Nanoseconds that a thread without work polls before it sleeps. That is longer than the wake-up
 * which it saves (5 to 50 us), and short enough for other threads on the same core. */
enum { SPIN_NS = 30000, POLLS_PER_YIELD = 16 };
/* Threads that one thread wakes at most, when it finds work: wake-ups spread as a tree. */
enum { WAKE_FANOUT = 2 };
/* Bytes of a stack for handlers of signals. */
enum { HANDLER_STACK = 64 << 10 };

static void ready_add(kmm__thread_pool_t *p, int64_t seats)
{
    uint64_t now = atomic_load_explicit(&p->ready, memory_order_relaxed) + (uint64_t)seats;
    atomic_store_explicit(&p->ready, now, memory_order_relaxed);
}

static void unlink_item(kmm__thread_pool_t *p, kmm__pool_item_t *item)
{
    if (item->previous)
        item->previous->next = item->next;
    else
        p->first = item->next;
    if (item->next)
        item->next->previous = item->previous;
    else
        p->last = item->previous;
}

static void append_item(kmm__thread_pool_t *p, kmm__pool_item_t *item)
{
    item->next = NULL;
    item->previous = p->last;
    if (p->last)
        p->last->next = item;
    else
        p->first = item;
    p->last = item;
}

/* Counts threads to wake, if there is more work than threads that look for it. Returns how often to
 * signal once the lock is released. */
static uint32_t begin_wake(kmm__thread_pool_t *p)
{
    uint32_t count = 0;
    uint64_t ready = atomic_load_explicit(&p->ready, memory_order_relaxed);
    while (count < WAKE_FANOUT && ready > p->seekers && p->sleepers > 0) {
        p->sleepers--;
        p->seekers++;
        p->wakes++;
        count++;
    }
    return count;
}

static void unlock_and_wake(kmm__thread_pool_t *p)
{
    uint32_t count = begin_wake(p);
    pthread_mutex_unlock(&p->lock);
    while (count-- > 0)
        pthread_cond_signal(&p->wakeup);
}

static kmm__pool_item_t *take(kmm__thread_pool_t *p)
{
    kmm__pool_item_t *item = p->first;
    if (!item)
        return NULL;
    item->users++;
    ready_add(p, -1);
    if (--item->seats == 0)
        unlink_item(p, item);
    return item;
}

static void spin(kmm__thread_pool_t *p)
{
    uint64_t deadline = kmm__now() + SPIN_NS;
    do {
        for (int k = 0; k < POLLS_PER_YIELD; k++) {
            if (atomic_load_explicit(&p->ready, memory_order_relaxed) > 0 ||
                atomic_load_explicit(&p->stop, memory_order_relaxed))
                return;
            kmm__relax();
        }
        sched_yield();
    } while (kmm__now() < deadline);
}

static void sleep_until_woken(kmm__thread_pool_t *p)
{
    p->seekers--;
    p->sleepers++;
    while (p->wakes == 0 && !p->stop)
        kmm__cond_wait(&p->wakeup, &p->lock);
    if (p->wakes > 0) {
        p->wakes--; /* the thread that began the wake-up has counted this one as a seeker */
        return;
    }
    p->sleepers--;
    p->seekers++;
}

/* Returns the next item to run. NULL: the pool ends. */
static kmm__pool_item_t *next_item(kmm__thread_pool_t *p)
{
    pthread_mutex_lock(&p->lock);
    uint32_t most_spinners = p->thread_count > 1 ? p->thread_count / 2 : 1;
    p->seekers++;
    kmm__pool_item_t *item;
    bool rested = false;
    while (!(item = take(p)) && !p->stop) {
        if (!rested && p->spinners < most_spinners) {
            p->spinners++;
            pthread_mutex_unlock(&p->lock);
            spin(p);
            pthread_mutex_lock(&p->lock);
            p->spinners--;
            rested = true;
        } else {
            sleep_until_woken(p);
            rested = false;
        }
    }
    p->seekers--;
    unlock_and_wake(p);
    return item;
}

static void *worker(void *arg)
{
    kmm__thread_pool_t *p = arg;
    kmm__pool_item_t *item;
    char stack[HANDLER_STACK];
    kmm__running_watch(stack, sizeof(stack));
    while ((item = next_item(p)))
        item->run(item);
    kmm__running_unwatch(stack);
    return NULL;
}

/* Starts `threads` threads, or as many as the system allows. */
static void start_threads(kmm__thread_pool_t *p, uint32_t threads)
{
    uint32_t started = 0;
    while (started < threads && kmm__thread_create(&p->threads[started], worker, p) == 0)
        pthread_setname_np(p->threads[started++], "kmm-host");
    pthread_mutex_lock(&p->lock);
    p->thread_count = started;
    pthread_mutex_unlock(&p->lock);
}

int kmm__thread_pool_init(kmm__thread_pool_t *p, uint32_t threads)
{
    *p = (kmm__thread_pool_t){0};
    p->threads = calloc(threads, sizeof(*p->threads));
    if (!p->threads)
        return kmm__host_error(KMM_E_MEMORY, "no memory for %u threads", threads);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wakeup, NULL);
    fegetenv(&p->environment);
    start_threads(p, threads);
    if (p->thread_count < threads) {
        kmm__thread_pool_deinit(p);
        return kmm__host_error(KMM_E_DEVICE, "the system refused to start %u threads", threads);
    }
    return 0;
}

void kmm__thread_pool_deinit(kmm__thread_pool_t *p)
{
    pthread_mutex_lock(&p->lock);
    assert(!p->first);
    p->stop = true;
    pthread_mutex_unlock(&p->lock);
    pthread_cond_broadcast(&p->wakeup);
    for (uint32_t k = 0; k < p->thread_count; k++)
        pthread_join(p->threads[k], NULL);
    pthread_cond_destroy(&p->wakeup);
    pthread_mutex_destroy(&p->lock);
    free(p->threads);
}

void kmm__thread_pool_push(kmm__thread_pool_t *p, kmm__pool_item_t *item)
{
    pthread_mutex_lock(&p->lock);
    assert(item->seats == 0);
    item->seats = 1;
    item->users = 0;
    append_item(p, item);
    ready_add(p, 1);
    unlock_and_wake(p);
}

void kmm__thread_pool_share(kmm__thread_pool_t *p, kmm__pool_item_t *item, uint32_t seats)
{
    assert(seats > 0);
    pthread_mutex_lock(&p->lock);
    item->seats = seats;
    item->users = 1;
    append_item(p, item);
    ready_add(p, seats);
    unlock_and_wake(p);
}

bool kmm__thread_pool_leave(kmm__thread_pool_t *p, kmm__pool_item_t *item)
{
    pthread_mutex_lock(&p->lock);
    if (item->seats > 0) {
        unlink_item(p, item);
        ready_add(p, -(int64_t)item->seats);
        item->seats = 0;
    }
    assert(item->users > 0);
    bool last = --item->users == 0;
    pthread_mutex_unlock(&p->lock);
    return last;
}

/* ---- Threads that assist ---- */

typedef enum thread_role { ROLE_UNKNOWN, ROLE_MAIN, ROLE_OTHER } thread_role_t;
static _Thread_local thread_role_t role;
static _Thread_local enum { ASSISTS_NOT, ASSISTS, REFUSES } assists;

static void role_ends(void *arg)
{
    (void)arg;
    role = ROLE_OTHER;
}

/* True if this thread may run items. Only the program's first thread may: it has as large a stack
 * as the pool's threads. Kernels keep memory in thread-local C++ variables. Once these have ended,
 * at the thread's exit, nothing may run on it. */
static bool can_assist(void)
{
    static char stack[HANDLER_STACK]; /* of the one thread whose role it is */
    if (role == ROLE_UNKNOWN) {
        bool ok = gettid() == getpid() && __cxa_thread_atexit_impl &&
                  __cxa_thread_atexit_impl(role_ends, NULL, &__dso_handle) == 0;
        role = ok ? ROLE_MAIN : ROLE_OTHER;
        if (ok)
            kmm__running_watch(stack, sizeof(stack));
    }
    return role == ROLE_MAIN;
}

/* A pool of one thread runs work in sequence, which a program may rely on; so nobody assists it. */
bool kmm__thread_pool_assist(kmm__thread_pool_t *p)
{
    fenv_t own;
    if (p->thread_count < 2 || atomic_load_explicit(&p->ready, memory_order_relaxed) == 0 ||
        !can_assist())
        return false;
    pthread_mutex_lock(&p->lock);
    kmm__pool_item_t *item = take(p);
    pthread_mutex_unlock(&p->lock);
    if (!item)
        return false;
    fegetenv(&own);
    fesetenv(&p->environment);
    assists = ASSISTS;
    item->run(item);
    bool ran = assists == ASSISTS;
    assists = ASSISTS_NOT;
    fesetenv(&own);
    return ran;
}

bool kmm__thread_pool_is_assisting(void)
{
    return assists != ASSISTS_NOT;
}

void kmm__thread_pool_refuse(void)
{
    assists = REFUSES;
}
