/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches: tasks that are issued together, on one stream. They share an event and a notification.
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
    KMM__BATCH_BYTES = 64 << 20 /* that the tasks of a batch access, at most; as many chunks are
                                 * submitted before the lock is handed over to device threads */
};

typedef struct kmm__batch {
    uint32_t count;                       /* at least 1 once it is under way */
    kmm__task_t *tasks[KMM__BATCH_TASKS]; /* of one device and one compute stream */
    struct kmm__batch *next; /* of those under way on the device, in the order of their issue */
} kmm__batch_t;

void kmm__batch_begin(kmm__batch_t *b); /* it is under way */
/* Not locked: a notification that all its work is over, or has failed. Frees the batch. */
void kmm__batch_finished(void *arg, int status);

#endif
