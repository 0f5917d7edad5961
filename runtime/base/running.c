/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks that each thread runs. A signal handler finds them by a key of the thread
 * (pthread_key_t), because a thread-local variable of a library that was loaded late would be
 * allocated at its first use. */
#include "base/running.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

_Thread_local const kmm__running_t *kmm__running;
static _Thread_local bool is_watched;
static pthread_key_t key; /* the address of the thread's kmm__running */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static kmm__running_ended_t *ended;

void kmm__running_on_end(kmm__running_ended_t *call)
{
    ended = call;
}

/* The addresses of all threads' kmm__running; one that finds no room is not listed. */
enum { THREADS = 1024 };
static _Atomic(const kmm__running_t **) threads[THREADS];

static void thread_list(void)
{
    for (int k = 0; k < THREADS; k++) {
        const kmm__running_t **nobody = NULL;
        if (atomic_compare_exchange_strong(&threads[k], &nobody, &kmm__running))
            return;
    }
}

/* At the end of a thread. The records of what it runs are on its stack, which is there still, and
 * below what its end needs. */
static void thread_forget(void *record)
{
    const kmm__running_t *const *running = record;
    if (*running && (*running)->count && ended)
        ended(*running);
    for (int k = 0; k < THREADS; k++) {
        const kmm__running_t **own = record;
        atomic_compare_exchange_strong(&threads[k], &own, NULL);
    }
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, thread_forget) == 0;
}

void kmm__running_watch(void *stack, size_t bytes)
{
    stack_t before, now = {.ss_sp = stack, .ss_size = bytes};
    if (!is_watched) {
        pthread_once(&once, make_key);
        is_watched = has_key && pthread_setspecific(key, &kmm__running) == 0;
        if (is_watched)
            thread_list();
    }
    if (stack && sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
        sigaltstack(&now, NULL);
}

void kmm__running_unwatch(const void *stack)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == stack)
        sigaltstack(&none, NULL);
}

const kmm__running_t *kmm__running_interrupted(void)
{
    const kmm__running_t *const *running = has_key ? pthread_getspecific(key) : NULL;
    return running && *running && (*running)->count ? *running : NULL;
}

bool kmm__running_is_watched(void)
{
    return has_key && pthread_getspecific(key);
}

/* Called while a fault is told: the other threads go on, and their records may change meanwhile. */
uint32_t kmm__running_all(kmm__running_t *out, uint32_t most)
{
    uint32_t count = 0;
    for (int k = 0; k < THREADS && count < most; k++) {
        const kmm__running_t **at = atomic_load(&threads[k]);
        const kmm__running_t *r = at ? __atomic_load_n(at, __ATOMIC_ACQUIRE) : NULL;
        if (r && r->count)
            out[count++] = *r;
    }
    return count;
}
