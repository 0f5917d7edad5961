/* SPDX-License-Identifier: Apache-2.0 */
/* What the disk's thread is to do: jobs in two queues. Functions are called with the lock. */
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
    kmm__spill_buffer_t *buffer; /* of KMM__JOB_FILL */
    uint64_t checksum;
    kmm__disk_op_t op;
    struct kmm__job *next;
};

void kmm__job_push(kmm__spill_t *p, kmm__job_kind_t kind, kmm__page_t *s, kmm__spill_buffer_t *b);
/* NULL: there is none, or as much is in flight as may be. */
kmm__job_t *kmm__job_pop(kmm__spill_t *p);

#endif
