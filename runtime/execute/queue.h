/* SPDX-License-Identifier: Apache-2.0 */
/* The state of execute/ for a device: its thread, and the queues of its tasks. Guarded by the
 * runtime's lock. */
#ifndef KMM__EXECUTE_QUEUE_H
#define KMM__EXECUTE_QUEUE_H

#include "task/task.h"

/* Tasks ordered by priority, then by whether a thread waits for them, then by rank. A binary heap
 * that begins at tasks[head]. As long as tasks are pushed in that order it is also a sorted list,
 * from which the first is taken in O(1). */
typedef struct kmm__queue {
    kmm__task_t **tasks;
    _Atomic uint32_t count; /* changed under the lock, read also without it */
    uint32_t capacity, head;
    bool heaped;      /* not a sorted list; reset when it is empty */
    uint64_t awaited; /* a thread waits for tasks with lower numbers than this */
} kmm__queue_t;

struct kmm__device_queue {
    pthread_t thread;
    bool thread_runs;
    kmm__queue_t ready;     /* tasks that are READY */
    kmm__queue_t startable; /* of the CPU: issued tasks that wait only for a compute stream */
    uint32_t spinning; /* of the CPU: taken compute streams that will look at `startable` again */
    /* not a heap: tasks in the order of submission, a reference each; may hold some that have been
     * issued */
    kmm__queue_t order;
    uint32_t order_trim; /* count of `order` at which issued tasks are removed from it */
    uint64_t ran_until;  /* kmm__now() when a batch ended last (runtime->stats) */
    uint32_t in_flight;  /* tasks in batches under way */
    struct kmm__batch *under_way, *under_way_last; /* list of batches */
    struct kmm__batch *spare_batches;              /* free list */
};

/* Adds a task. */
void kmm__queue_push(kmm__queue_t *q, kmm__task_t *t);
kmm__task_t *kmm__queue_first(const kmm__queue_t *q); /* the first task; NULL: the queue is empty */
/* Removes the first task. NULL: the queue is empty. */
kmm__task_t *kmm__queue_pop(kmm__queue_t *q);
/* Puts tasks with lower numbers than `end` first. `end` never falls. */
void kmm__queue_await(kmm__queue_t *q, uint64_t end);
/* True if the queue is in order, and all its tasks are in state `state`. */
bool kmm__queue_is_valid(const kmm__queue_t *q, kmm__task_state_t state);

/* Gives t, whose accesses are set, its device and a compute stream. Called before t is entered into
 * the DAG. */
void kmm__task_assign(kmm__task_t *t, kmm__device_t *device);
void kmm__task_assign_stream(kmm__task_t *t, kmm__device_t *device, uint32_t compute_stream);

/* True if t should not be issued yet, because it would evict what earlier tasks need: memory is
 * short, some frame of t is not mapped, and more than a few tasks that were submitted before t have
 * not been issued. A task is not early if one of these is READY, since t then comes first by
 * priority. The oldest task is never early and waits for none, so some task can always be issued.
 */
bool kmm__order_is_early(kmm__device_t *d, kmm__task_t *t);
void kmm__order_drop(kmm__device_t *d); /* frees the order; called before the device is closed */

#endif
