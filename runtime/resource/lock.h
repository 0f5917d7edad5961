/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that are held for well under a microsecond, by many threads: a word, of which a thread that
 * finds it taken spins a while, then sleeps.
 *
 * A lock is dropped by a plain store, since an exchange would wait until every store before it has
 * reached the processor's cache. So who drops it may miss a thread that goes to sleep at that very
 * moment; such a thread therefore sleeps for a limited time only and looks again.
 */
#ifndef KMM__RESOURCE_LOCK_H
#define KMM__RESOURCE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum kmm__lock_state { KMM__LOCK_OPEN, KMM__LOCK_TAKEN } kmm__lock_state_t;

/* Zeros are an open lock. */
typedef struct kmm__lock {
    _Atomic uint32_t state;
    _Atomic uint32_t sleepers; /* threads that sleep, or are about to */
} kmm__lock_t;

void kmm__lock_wait(kmm__lock_t *l); /* takes it, when it is not open */
void kmm__lock_wake(kmm__lock_t *l); /* one thread that sleeps */

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
