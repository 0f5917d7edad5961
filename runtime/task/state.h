/* SPDX-License-Identifier: Apache-2.0 */
/* The state of task/ for a runtime. Guarded by the runtime's lock, written by task/ alone. */
#ifndef KMM__TASK_STATE_H
#define KMM__TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/runtime.h"

typedef struct kmm__task kmm__task_t;
typedef struct kmm__ticket kmm__ticket_t;
typedef struct kmm__work kmm__work_t;

/* Functions of higher floors that tasks call. Set by execute/completion.c before the first task.
 * All are called with the runtime's lock. */
typedef struct kmm__task_hooks {
    void (*ready)(kmm__task_t *t); /* t may be issued */
    /* a thread waits for tasks whose numbers are less than `end`, which come first from now on;
     * for `awaited` alone if that is not NULL */
    void (*await)(kmm_runtime_t *rt, uint64_t end, const kmm__task_t *awaited);
    /* t, on the host, is issued, and all that it waits for is done */
    void (*runnable)(kmm__task_t *t);
    void (*done)(kmm__task_t *t); /* t is done: unpins its frames and pages */
    /* t is done and its successors know: drops its accesses and its work, now or in `settle` */
    void (*left)(kmm__task_t *t);
    void (*settle)(kmm_runtime_t *rt); /* drops what `left` has put off */
    /* A page that t, on the host, waits for has been read from disk; or, with an error, could not
     * be. `is_last`: it was the last one. */
    void (*arrived)(kmm__task_t *t, int error, bool is_last);
} kmm__task_hooks_t;

struct kmm__tasks {
    const kmm__task_hooks_t *hooks;
    uint64_t next_sequence, next_work;
    uint64_t awaited;       /* threads have waited for tasks with lower numbers than this */
    uint32_t outstanding;   /* unfinished tasks */
    uint64_t kept;          /* bytes of bookkeeping that they keep */
    bool is_throttled;      /* threads wait for these to fall, and have not been told since */
    kmm__task_t *unsettled; /* list of direct tasks that are done and not settled yet */
    /* Free lists. Objects keep the memory they own, so that a chunk costs no allocation. */
    kmm__task_t *spare_tasks;
    kmm__work_t *spare_works;
    kmm__ticket_t *spare_tickets;
    struct kmm__shared_event *spare_events;
    struct kmm__program_stream *program_streams; /* list; task/marker.c */
    uint32_t issue_waiters;                      /* threads that wait until tasks are on streams */
};

#endif
