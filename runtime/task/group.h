/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: the tasks that a thread submits between two calls. They are what an event of the program
 * (kmm_event_t) waits for.
 *
 * Functions are called with the runtime's lock unless they say otherwise.
 */
#ifndef KMM__TASK_GROUP_H
#define KMM__TASK_GROUP_H

#include "task/work.h"

typedef struct kmm__group kmm__group_t;

/* Not locked: makes a group with one reference. */
kmm__group_t *kmm__group_create(void);
/* Not locked, also when the runtime has ended. */
void kmm__group_retain(kmm__group_t *g);
void kmm__group_release(kmm__group_t *g);

/* Not locked: this thread's tasks join g from now on; NULL: none. Those that chunks submit do not.
 */
void kmm__group_open(kmm__group_t *g);
kmm__group_t *kmm__group_opened(void); /* the group that this thread's tasks join; NULL: none */

/* A task with this number is made. Returns the group that it joins, with a reference; NULL: none.
 */
kmm__group_t *kmm__group_enter(uint64_t sequence);
/* A task of g, the chunks `first` to `last` of w, is done. Drops its reference. */
void kmm__group_leave(kmm__group_t *g, int error, const kmm__work_t *w, uint32_t first,
                      uint32_t last);
/* A launch in the group that is open has left host memory mapped; NULL: nothing happens. */
void kmm__group_note_map(void *base);
/* Takes the base of memory that a launch of g has left mapped. NULL: there is none. */
void *kmm__group_take_map(kmm__group_t *g);

bool kmm__group_is_done(const kmm__group_t *g);
uint64_t kmm__group_end(const kmm__group_t *g); /* its tasks have lower numbers */
/* Returns when its tasks are done, or when CLOCK_MONOTONIC has passed
 * `until`, in nanoseconds. The lock is released meanwhile. True: they are done. */
bool kmm__group_await(kmm_runtime_t *rt, kmm__group_t *g, uint64_t until);
/* The first error of its tasks so far, and makes that this thread's error; 0: there is none. */
int kmm__group_error(kmm_runtime_t *rt, const kmm__group_t *g);

#endif
