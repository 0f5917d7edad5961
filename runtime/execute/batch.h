/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches. A batch is tasks of one device that are issued together on one stream and share an event
 * and a notification.
 *
 *             kmm__batch_begin                  kmm__batch_finished
 *   being made ----------------> under way on its device ----------> freed, its tasks finished
 *
 * All functions are called with the runtime's lock unless they say otherwise.
 */
#ifndef KMM__EXECUTE_BATCH_H
#define KMM__EXECUTE_BATCH_H

#include "task/task.h"

enum {
    KMM__BATCH_TASKS = 64,
    /* bytes that the tasks of a batch access, at most; also the bytes of chunks that one submission
     * makes before it hands the lock to device threads */
    KMM__BATCH_BYTES = 64 << 20
};

typedef struct kmm__batch {
    /* kmm__now() when its first chunk could run; 0: not measured (runtime->stats) */
    _Atomic uint64_t began;
    _Atomic int early; /* error of its work before the last chunk, if that was notified apart */
    uint32_t count;    /* at least 1 when it begins */
    kmm__task_t *tasks[KMM__BATCH_TASKS]; /* all of one device and one compute stream */
    /* next under way on the device, in the order of issue; or next in the free list */
    struct kmm__batch *next;
} kmm__batch_t;

kmm__batch_t *kmm__batch_create(kmm__device_t *d); /* makes one without tasks */
void kmm__batch_begin(kmm__batch_t *b); /* adds the batch to those under way on its device */
/* Not locked: enqueues on the batch's stream that its chunks could not run before. */
void kmm__batch_starts(kmm__batch_t *b);
/* Not locked: the notification of a batch, called when all its work is over or has failed. Finishes
 * its tasks and frees the batch. */
void kmm__batch_finished(void *arg, int status);

#endif
