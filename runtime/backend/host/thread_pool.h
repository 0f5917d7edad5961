/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that take items from one queue.
 *
 *   item   something to take: a stream that has work, or seats at an operation that several threads
 *          share
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

/* All fields but `run` belong to the pool and are guarded by its lock. */
struct kmm__pool_item {
    kmm__pool_item_t *next, *previous;
    void (*run)(kmm__pool_item_t *item);
    uint32_t seats; /* how many threads may still take it; it is queued while this is not 0 */
    uint32_t users; /* how many have taken it and not left */
};

typedef struct kmm__thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t wakeup;
    kmm__pool_item_t *first, *last;
    _Atomic uint64_t
        ready; /* sum of the seats of queued items; changed under the lock, read without */
    _Atomic bool stop;
    uint32_t seekers;  /* threads that look for an item, those being woken included */
    uint32_t spinners; /* of them, those that poll `ready` without the lock */
    uint32_t sleepers; /* threads asleep that nobody has begun to wake */
    uint32_t wakes;    /* threads begun to be woken that still sleep */
    uint32_t thread_count;
    pthread_t *threads;
    fenv_t environment; /* of the threads: that of the thread which started them */
} kmm__thread_pool_t;

int kmm__thread_pool_init(kmm__thread_pool_t *p, uint32_t threads);
/* Nothing is queued. Waits for the threads to end. */
void kmm__thread_pool_deinit(kmm__thread_pool_t *p);
/* Queues an item that is not queued for one thread, which calls item->run. */
void kmm__thread_pool_push(kmm__thread_pool_t *p, kmm__pool_item_t *item);
/* Queues an item for `seats` threads more than the caller, who is its first user. */
void kmm__thread_pool_share(kmm__thread_pool_t *p, kmm__pool_item_t *item, uint32_t seats);
/* A user of a shared item has found nothing left to do: nobody else may take it from now on.
 * True for the last user, to whom the item then belongs. */
bool kmm__thread_pool_leave(kmm__thread_pool_t *p, kmm__pool_item_t *item);

/* Runs an item that is queued on the calling thread, if that can take a thread's place: false if
 * not, or if there is none, or if it was refused. */
bool kmm__thread_pool_assist(kmm__thread_pool_t *p);
bool kmm__thread_pool_is_assisting(
    void);                          /* whether this thread does so now, and wants to be back soon */
void kmm__thread_pool_refuse(void); /* what it has taken is not for it */

/* Monotonic nanoseconds. */
uint64_t kmm__host_now(void);

#endif
