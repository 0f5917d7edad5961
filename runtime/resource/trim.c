/* SPDX-License-Identifier: Apache-2.0 */
/* Returns memory upstream: on request, and under memory pressure. */
#include "resource/trim.h"

#include "resource/cache.h"
#include "resource/gather.h"
#include "resource/heap.h"
#include "resource/pool_check.h"
#include "resource/segment.h"

/* Returns a segment that has nothing in use and may be given back; NULL: there is none, or the
 * pool holds few enough bytes. */
static kmm__segment_t *detach_unused(kmm__pool_t *p, size_t keep)
{
    if (p->held <= keep)
        return NULL;
    for (kmm__segment_t *r = p->segments; r; r = r->next) {
        const bool too_much =
            p->held - keep < r->free && p->head.upstream->mapper; /* some of its frames will do */
        if (r->free + r->left == r->bytes && r->mapped == 0 && !too_much) {
            kmm__segment_detach(p, r);
            return r;
        }
    }
    return NULL;
}

/* Waits until no work uses the segment. No other thread knows its blocks. */
static int settle_segment(kmm__pool_t *p, kmm__segment_t *r)
{
    int status = 0;
    for (kmm__block_t *b = r->first; b && status == 0; b = b->above)
        if (b->owner)
            status = kmm__timeline_settle(&p->timelines, &b->owner->timeline, b->epoch);
    return status;
}

int kmm__pool_trim(kmm_resource_t *head, size_t keep)
{
    kmm__pool_t *p = (kmm__pool_t *)head;
    int status = 0;
    if (p->is_keeping)
        return 0;
    kmm__lock_take(&p->lock);
    kmm__pool_flush(p);
    kmm__heap_poll(p);
    if (p->left)
        /* before the segments that their frames have moved to */
        status = kmm__pool_forget(p, KMM__FORGET_ALL);
    for (kmm__segment_t *r; status == 0 && (r = detach_unused(p, keep));) {
        kmm__pool_unlock(p);
        status = settle_segment(p, r);
        if (status == 0)
            status = kmm__resource_give_back(head->upstream, (void *)r->address, r->bytes, NULL);
        kmm__lock_take(&p->lock);
        if (status) {
            kmm__segment_attach(p, r); /* work may still use the segment */
            break;
        }
        p->held -= r->bytes - r->left;
        kmm__segment_free(r);
    }
    if (status == 0)
        status = kmm__pool_shrink(p, keep);
    p->most_used = kmm__pool_used(p);
    kmm__pool_unlock(p);
    return status;
}
