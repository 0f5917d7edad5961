/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread runs for a launch, as a handler of signals can read it. The owner of a record
 * keeps it on its stack: a chunk costs two stores.
 */
#ifndef KMM__BASE_RUNNING_H
#define KMM__BASE_RUNNING_H

#include <stddef.h>
#include <stdint.h>

/* Tasks that live until their end. */
typedef struct kmm__running {
    const struct kmm__task *const *tasks; /* chunks of one launch that run as one */
    uint32_t count;                       /* 0: no chunk */
} kmm__running_t;

/* Of this thread. NULL: it runs nothing. Whoever sets it restores what was there. */
extern _Thread_local const kmm__running_t *kmm__running;

/* Makes this thread's record known to handlers of signals; before it is first set. `stack`, if
 * not NULL, is what handlers run on where the thread has no other stack for them: one whose own
 * stack is full can run none. It lives as long as the thread, or until kmm__running_unwatch. */
void kmm__running_watch(void *stack, size_t bytes);
void kmm__running_unwatch(const void *stack);

/* In a handler of signals: what the thread runs, or NULL. */
const kmm__running_t *kmm__running_interrupted(void);

#endif
