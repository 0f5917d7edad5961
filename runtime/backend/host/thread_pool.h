/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads that take items from one queue.
 *
 *   item   what threads take: a stream that has work, or an operation that several threads share
 *   seat   the right of one more thread to take an item
 */
#ifndef KMM__BACKEND_HOST_THREAD_POOL_H
#define KMM__BACKEND_HOST_THREAD_POOL_H

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct kmm__pool_item kmm__pool_item_t;

/* Members but `run` belong to the pool and are guarded by its lock. */
struct kmm__pool_item {
    kmm__pool_item_t *next, *previous;
    void (*run)(kmm__pool_item_t *item);
    uint32_t seats; /* threads that may still take the item; it is queued while this is not 0 */
    uint32_t users; /* threads that have taken it and not left */
};

typedef struct kmm__thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t wakeup;
    kmm__pool_item_t *first, *last;
    _Atomic uint64_t ready; /* seats of all queued items; changed under the lock, read without it */
    _Atomic bool stop;
    uint32_t seekers;  /* threads that look for an item, or are being woken to do so */
    uint32_t spinners; /* those of them that poll `ready` without the lock */
    uint32_t sleepers; /* sleeping threads that are not being woken */
    uint32_t wakes;    /* sleeping threads that are being woken */
    uint32_t thread_count;
    pthread_t *threads;
    /* floating-point environment of the threads, taken from the thread that made the pool */
    fenv_t environment;
} kmm__thread_pool_t;

/* Makes the pool with so many threads. Returns 0 or an error. */
int kmm__thread_pool_init(kmm__thread_pool_t *p, uint32_t threads);
/* Ends the threads and waits for them. Nothing is queued. */
void kmm__thread_pool_deinit(kmm__thread_pool_t *p);
/* Queues an item, which is not queued, for one thread, which calls item->run. */
void kmm__thread_pool_push(kmm__thread_pool_t *p, kmm__pool_item_t *item);
/* Queues an item for `seats` threads besides the caller, which is its first user. */
void kmm__thread_pool_share(kmm__thread_pool_t *p, kmm__pool_item_t *item, uint32_t seats);
/* Leaves a shared item, in which the caller found nothing more to do. No other thread takes it from
 * now on. True: the caller was the last user, and owns the item. */
bool kmm__thread_pool_leave(kmm__thread_pool_t *p, kmm__pool_item_t *item);

/* Takes an item and runs it on the calling thread, which waits for work. False: there is none, this
 * thread cannot stand in for one of the pool, or the item was refused. */
bool kmm__thread_pool_assist(kmm__thread_pool_t *p);
bool kmm__thread_pool_is_assisting(void); /* true if this thread runs in kmm__thread_pool_assist */
void kmm__thread_pool_refuse(void);       /* called by an item's run: this thread must not run it */

#endif
