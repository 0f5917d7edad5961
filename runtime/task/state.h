/* SPDX-License-Identifier: Apache-2.0 */
/* What task/ keeps for a runtime. Guarded by the runtime's lock, written by task/ alone. */
#ifndef KMM__TASK_STATE_H
#define KMM__TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/runtime.h"

typedef struct kmm__task kmm__task_t;
typedef struct kmm__ticket kmm__ticket_t;
typedef struct kmm__work kmm__work_t;

/* What other floors add to a task's life. Set by execute/completion.c before the first task. */
typedef struct kmm__task_hooks {
    void (*ready)(kmm__task_t *t);     /* nothing keeps it from being issued */
    void (*runnable)(kmm__task_t *t);  /* issued, on the host: all that it waits for is done */
    void (*done)(kmm__task_t *t);      /* gives back frames and pages */
    void (*left)(kmm__task_t *t);      /* gives back its accesses and its work, now or */
    void (*settle)(kmm_runtime_t *rt); /* at this call, which frees arrays need */
    /* Something a task on the host waits for was read from disk, or, error, could not be. */
    void (*arrived)(kmm__task_t *t, int error, bool is_last);
} kmm__task_hooks_t;

struct kmm__tasks {
    const kmm__task_hooks_t *hooks;
    uint64_t next_sequence, next_work;
    uint32_t outstanding;      /* unfinished tasks, */
    uint32_t most_outstanding; /* how many there may be, */
    uint32_t throttled;        /* and threads that wait for them to become fewer */
    kmm__task_t *unsettled;    /* direct tasks that are done, until kmm__tasks_settle */
    /* Kept with what they own, so that a chunk costs no allocation. */
    kmm__task_t *spare_tasks;
    kmm__work_t *spare_works;
    kmm__ticket_t *spare_tickets;
    struct kmm__program_stream *program_streams; /* task/marker.c */
    uint32_t issue_waiters;                      /* threads that wait for tasks to be on streams */
};

#endif
