/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of jobs for the disk's thread. */
#include "memory/disk/job.h"

#include "base/alloc.h"

void kmm__job_push(kmm__spill_t *p, kmm__job_kind_t kind, kmm__page_t *s, kmm__spill_buffer_t *b)
{
    kmm__job_t *j = kmm__alloc(sizeof(*j));
    bool urgent = kind == KMM__JOB_READ || kind == KMM__JOB_FILL;
    *j = (kmm__job_t){.kind = kind, .page = s, .buffer = b};
    kmm__job_t ***end = urgent ? &p->urgent_end : &p->queue_end;
    **end = j;
    *end = &j->next;
    if (p->awaits) {
        p->awaits = false;
        kmm__disk_wake(p->disk);
    }
}

kmm__job_t *kmm__job_pop(kmm__spill_t *p)
{
    kmm__job_t *j = p->urgent ? p->urgent : p->queue;
    if (!j || p->in_flight == KMM__DISK_DEPTH)
        return NULL;
    if (j == p->urgent) {
        p->urgent = j->next;
        if (!p->urgent)
            p->urgent_end = &p->urgent;
    } else {
        p->queue = j->next;
        if (!p->queue)
            p->queue_end = &p->queue;
    }
    return j;
}
