/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks that each thread runs, in a form that a signal handler can read. The thread keeps the
 * record on its stack, so that a chunk costs two stores.
 */
#ifndef KMM__BASE_RUNNING_H
#define KMM__BASE_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tasks that a thread runs. They live until the thread clears its record. */
typedef struct kmm__running {
    const struct kmm__task *const *tasks; /* chunks of one launch that run as one */
    uint32_t count;                       /* 0: no chunk */
} kmm__running_t;

/* This thread's record; NULL: it runs no task. A function that sets it restores the old value. */
extern _Thread_local const kmm__running_t *kmm__running;

/* Sets it. Other threads may read it while they tell of a fault. */
static inline void kmm__running_set(const kmm__running_t *r)
{
    __atomic_store_n(&kmm__running, r, __ATOMIC_RELEASE);
}

/* Makes this thread's record visible to signal handlers. Called before the record is first set.
 * `stack` is memory for signal handlers, used if the thread has no alternate signal stack yet; a
 * thread whose own stack overflows needs one. NULL: none is given. The memory must live as long as
 * the thread, or until kmm__running_unwatch. */
void kmm__running_watch(void *stack, size_t bytes);
void kmm__running_unwatch(const void *stack);

/* Sets what is called where a thread ends while it runs tasks: a chunk has called pthread_exit. */
typedef void kmm__running_ended_t(const kmm__running_t *running);
void kmm__running_on_end(kmm__running_ended_t *call);

/* Called in a signal handler: returns what the interrupted thread runs; NULL: no task. */
const kmm__running_t *kmm__running_interrupted(void);

/* In a signal handler: true if the thread has called kmm__running_watch. Threads that a chunk has
 * started have not. */
bool kmm__running_is_watched(void);

/* In a signal handler: copies the records of threads that run chunks, at most `most` of them.
 * Returns their number. Threads go on meanwhile, so a chunk may have ended when this returns. */
uint32_t kmm__running_all(kmm__running_t *out, uint32_t most);

#endif
