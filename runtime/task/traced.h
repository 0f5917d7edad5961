/* SPDX-License-Identifier: Apache-2.0 */
/* What trace points (base/trace.h) and profilers (base/range.h) are told of a task. */
#ifndef KMM__TASK_TRACED_H
#define KMM__TASK_TRACED_H

#include "task/task.h"

/* An access of a task, as the text of a KMM__EVENT_ACCESS; freed by free(). */
typedef struct kmm__traced_access {
    const void *array; /* names the array, and is not followed */
    const char *item;  /* text of the launch's item, which lives as long as the process, or NULL */
    kmm_mode_t mode;   /* READ, WRITE or UPDATE */
    uint8_t element;   /* bytes of an element; 0: not known */
    kmm__layout_t layout;
    kmm__box_t box;
} kmm__traced_access_t;

/* Locked: tells listeners of t, which has its device, and of its accesses if they want these. */
void kmm__trace_submitted(const kmm__task_t *t);

/* Begins a range of this thread, which kmm__ranging: it runs or launches chunks of one launch. */
void kmm__range_begin(kmm__task_t *const *tasks, uint32_t count) __attribute__((cold));
void kmm__range_end(void) __attribute__((cold));

#endif
