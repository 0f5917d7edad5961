/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock for critical sections well under a microsecond that many threads enter. It is one word. A
 * thread that finds it taken spins for a while, then sleeps.
 *
 * The lock is dropped by a plain store, since an atomic exchange would wait for all earlier stores
 * to reach the processor's cache. So a drop can miss a thread that goes to sleep at that moment.
 * Sleeping threads therefore use a timeout and look again.
 */
#ifndef KMM__RESOURCE_LOCK_H
#define KMM__RESOURCE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum kmm__lock_state { KMM__LOCK_OPEN, KMM__LOCK_TAKEN } kmm__lock_state_t;

/* A zeroed lock is open. */
typedef struct kmm__lock {
    _Atomic uint32_t state;
    _Atomic uint32_t sleepers; /* number of threads that sleep or are about to */
} kmm__lock_t;

void kmm__lock_wait(kmm__lock_t *l); /* takes a lock that was found taken */
void kmm__lock_wake(kmm__lock_t *l); /* wakes one sleeping thread */

static inline bool kmm__lock_try(kmm__lock_t *l)
{
    uint32_t open = KMM__LOCK_OPEN;
    return atomic_compare_exchange_strong_explicit(&l->state, &open, KMM__LOCK_TAKEN,
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void kmm__lock_take(kmm__lock_t *l)
{
    if (__builtin_expect(!kmm__lock_try(l), 0))
        kmm__lock_wait(l);
}

static inline void kmm__lock_drop(kmm__lock_t *l)
{
    atomic_store_explicit(&l->state, KMM__LOCK_OPEN, memory_order_release);
    if (__builtin_expect(atomic_load_explicit(&l->sleepers, memory_order_relaxed) != 0, 0))
        kmm__lock_wake(l);
}

#endif
