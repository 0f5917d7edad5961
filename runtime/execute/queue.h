/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What execute/ keeps for a device: its thread, and the queues of its tasks. Guarded by the
 * runtime's lock.
 */
#ifndef KMM__EXECUTE_QUEUE_H
#define KMM__EXECUTE_QUEUE_H

#include "task/task.h"

/* Tasks by priority, then in the order of submission: a binary heap whose first task is at `head`.
 * As long as tasks come in that order it is a sorted list as well, from which the first one is
 * taken without mending the heap. */
typedef struct kmm__queue {
    kmm__task_t **tasks;
    _Atomic uint32_t count; /* changed under the lock */
    uint32_t capacity, head;
    bool heaped; /* no list any more, until it is empty */
} kmm__queue_t;

struct kmm__device_queue {
    pthread_t thread;
    bool thread_runs;
    kmm__queue_t ready; /* may be issued */
    kmm__queue_t
        startable; /* of the CPU: issued; nothing keeps them from running but a compute stream */
    uint32_t spinning;  /* of the CPU: compute streams that will look there again before they end */
    kmm__queue_t order; /* no heap: tasks in the order of submission, also some that have been
                         * issued; a reference each */
    uint32_t order_trim;                           /* with so many those are dropped */
    uint32_t in_flight;                            /* tasks in batches */
    struct kmm__batch *under_way, *under_way_last; /* issued together, and not over */
};

void kmm__queue_push(kmm__queue_t *q, kmm__task_t *t);
kmm__task_t *kmm__queue_first(const kmm__queue_t *q); /* NULL: it is empty */
kmm__task_t *kmm__queue_pop(kmm__queue_t *q);
/* Whether it is in order, and all its tasks are in that state. */
bool kmm__queue_is_valid(const kmm__queue_t *q, kmm__task_state_t state);

/* Gives a task that has its accesses a device and a compute stream, before it is entered into the
 * DAG. */
void kmm__task_assign(kmm__task_t *t, kmm__device_t *device);
void kmm__task_assign_stream(kmm__task_t *t, kmm__device_t *device, uint32_t compute_stream);

/* Whether t would have data of much earlier tasks evicted if it ran now. The oldest task of all is
 * never early and waits for none, so there is an end. */
bool kmm__order_is_early(kmm__device_t *d, kmm__task_t *t);
void kmm__order_drop(kmm__device_t *d); /* before the device is closed */

#endif
