/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of the disk's thread, in two queues. Functions are called with the lock. */
#ifndef KMM__MEMORY_DISK_JOB_H
#define KMM__MEMORY_DISK_JOB_H

#include "memory/disk/page.h"

typedef enum kmm__job_kind {
    KMM__JOB_WRITE,
    KMM__JOB_RELEASE,
    KMM__JOB_READ,
    KMM__JOB_FILL
} kmm__job_kind_t;

struct kmm__job {
    kmm__job_kind_t kind;
    kmm__page_t *page;
    kmm__spill_buffer_t *buffer; /* of KMM__JOB_FILL: into which the page is read */
    uint64_t checksum;
    uint64_t number; /* for trace points */
    kmm__disk_op_t op;
    struct kmm__job *next;
};

/* Adds a job to its queue and wakes the disk's thread. */
void kmm__job_push(kmm__spill_t *p, kmm__job_kind_t kind, kmm__page_t *s, kmm__spill_buffer_t *b);
/* Takes the next job. NULL: there is none, or as many are in flight as may be. */
kmm__job_t *kmm__job_pop(kmm__spill_t *p);

#endif
