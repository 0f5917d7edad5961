/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace knows of tasks that have not ended, where tasks have ended, and of arrays. Used by
 * the tracer alone. */
#ifndef KMM__OBSERVE_TRACE_TASKS_H
#define KMM__OBSERVE_TRACE_TASKS_H

#include "base/trace.h"

enum { KMM__TRACED_BEFORE = 4 }; /* tasks before a task that are remembered */

typedef struct kmm__traced_task {
    uint64_t task;     /* its number */
    const char *label; /* JSON text: "add (a.cu:12)", in quotes */
    const char *file;  /* JSON text, in quotes; NULL: it has no place in the source */
    uint32_t line, chunk, last_chunk, chunks;
    uint16_t device;
    uint64_t work, submitted, ready, issued; /* times are 0 if they are not known */
    bool is_operation, has_run;
    struct kmm__traced_task *joined; /* the next one that runs in the same kernel */
    uint32_t before_count;
    uint64_t before[KMM__TRACED_BEFORE]; /* numbers of tasks that it waited for */
    struct kmm__traced_task *next;
} kmm__traced_task_t;

/* Adds a task that was submitted, by its event. */
kmm__traced_task_t *kmm__traced_task_add(const kmm__event_t *submitted);
/* Returns NULL if there is no such task. */
kmm__traced_task_t *kmm__traced_task_find(uint64_t task);
void kmm__traced_task_remove(uint64_t task);

/* Where a task has run: a slice of a track. */
typedef struct kmm__traced_end {
    uint64_t task, time; /* a time inside of the slice */
    uint32_t pid, tid;
} kmm__traced_end_t;

/* Remembers an end. A later one may replace it. */
void kmm__traced_end_add(const kmm__traced_end_t *end);
const kmm__traced_end_t *kmm__traced_end_find(uint64_t task); /* NULL: it is not remembered */

/* An array. */
typedef struct kmm__traced_array {
    uint64_t array; /* its number */
    const char *label;
    uint64_t bytes;
    struct kmm__traced_array *next;
} kmm__traced_array_t;

void kmm__traced_array_add(const kmm__event_t *made);
const kmm__traced_array_t *kmm__traced_array_find(uint64_t array); /* NULL: there is none */
void kmm__traced_array_remove(uint64_t array);

void kmm__traced_forked(void); /* forgets all */

#endif
