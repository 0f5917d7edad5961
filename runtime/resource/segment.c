/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of a pool: adds new memory as one free block, and takes segments that are free off the
 * pool's list. */
#include "resource/segment.h"

#include <stdlib.h>

#include "resource/descriptor.h"
#include "resource/heap.h"

static void segment_list(kmm__pool_t *p, kmm__segment_t *r)
{
    r->previous = NULL;
    r->next = p->segments;
    if (r->next)
        r->next->previous = r;
    p->segments = r;
    p->segment_count++;
    p->listed += r->bytes - r->left;
    kmm__pool_extend(p, p->extent + r->extent - r->left);
}

int kmm__segment_add(kmm__pool_t *p, void *memory, size_t bytes, kmm__pool_stream_t *owner)
{
    kmm__segment_t *r = calloc(1, sizeof(*r));
    if (!r || !kmm__descriptors_reserve(p, &p->spare)) {
        free(r);
        return KMM_E_MEMORY;
    }
    kmm__descriptors_expect(p);
    r->address = (uintptr_t)memory;
    r->bytes = bytes;
    segment_list(p, r);
    r->first = r->last = kmm__descriptor_get(&p->spare, r->address, bytes, r);
    r->clean_from = r->address + bytes;
    if (owner) {
        r->first->owner = owner;
        kmm__lock_take(&owner->timeline.lock);
        r->first->epoch = owner->timeline.epoch;
        kmm__lock_drop(&owner->timeline.lock);
    }
    kmm__heap_shelve(p, r->first);
    return 0;
}

void kmm__segment_detach(kmm__pool_t *p, kmm__segment_t *r)
{
    for (kmm__block_t *b = r->first; b; b = b->above)
        if (kmm__block_is_free(b))
            kmm__heap_unshelve(p, b);
    if (r->next)
        r->next->previous = r->previous;
    if (r->previous)
        r->previous->next = r->next;
    else
        p->segments = r->next;
    p->segment_count--;
    p->listed -= r->bytes - r->left;
    kmm__pool_extend(p, p->extent - (r->extent - r->left));
}

void kmm__segment_attach(kmm__pool_t *p, kmm__segment_t *r)
{
    segment_list(p, r);
    for (kmm__block_t *b = r->first; b; b = b->above)
        if (!kmm__block_is_left(b))
            kmm__heap_shelve(p, b);
}

void kmm__segment_free(kmm__segment_t *r)
{
    for (kmm__block_t *b = r->first, *above; b; b = above) {
        above = b->above;
        kmm__descriptor_put(b);
    }
    free(r);
}

void kmm__segments_deinit(kmm__pool_t *p)
{
    for (kmm__segment_t *r = p->segments, *next; r; r = next) {
        next = r->next;
        free(r);
    }
}
