/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of block descriptors. It is created in slabs of pages, mostly before it is needed, and is
 * freed with the pool. */
#include "resource/descriptor.h"

#include <stdlib.h>

#include "resource/index.h"

enum {
    SLAB_LEAST = 8, /* minimum number of descriptor pages that are created together */
    DESCRIPTORS_AHEAD =
        1 << 16 /* maximum number of descriptors that are created before they are needed */
};
static const size_t DESCRIPTOR_COVERS =
    (size_t)384 << 10; /* bytes; one descriptor is created in advance for so much memory */

static bool slab_add(kmm__pool_t *p, size_t pages)
{
    kmm__descriptor_page_t *s = kmm__pool_memory_new(pages * sizeof(*s));
    if (!s)
        return false;
    kmm__head_of(s)->head.slab = p->slabs;
    p->slabs = s;
    p->descriptors += pages * (KMM__DESCRIPTORS - 1);
    for (size_t i = pages; i-- > 0;) {
        kmm__head_of(&s[i])->head.next = p->pages;
        p->pages = &s[i];
    }
    return true;
}

/* Adds one more page of descriptors to a list. */
bool kmm__descriptor_page_add(kmm__pool_t *p, kmm__block_t **spare)
{
    if (!p->pages && !slab_add(p, SLAB_LEAST))
        return false;
    kmm__descriptor_page_t *page = p->pages;
    p->pages = kmm__head_of(page)->head.next;
    kmm__head_of(page)->head.home = spare;
    for (size_t i = KMM__DESCRIPTORS; i-- > 0;) {
        if (i == kmm__head_position(page))
            continue;
        page->descriptors[i].block.next = *spare;
        *spare = &page->descriptors[i].block;
    }
    return true;
}

/* Creates descriptors together with new memory, so that no request has to wait for them. */
void kmm__descriptors_expect(kmm__pool_t *p)
{
    const size_t covers = p->held / DESCRIPTOR_COVERS,
                 most = covers < DESCRIPTORS_AHEAD ? covers : DESCRIPTORS_AHEAD;
    if (most > p->descriptors + SLAB_LEAST * KMM__DESCRIPTORS)
        slab_add(p, (most - p->descriptors) / (KMM__DESCRIPTORS - 1));
    kmm__index_expect(p, true, most);
}

void kmm__descriptors_deinit(kmm__pool_t *p)
{
    for (kmm__descriptor_page_t *s = p->slabs, *next; s; s = next) {
        next = kmm__head_of(s)->head.slab;
        free(s);
    }
}

static size_t list_count(const kmm__block_t *b)
{
    size_t count = 0;
    for (; b; b = b->next)
        count++;
    return count;
}

bool kmm__descriptors_are_valid(kmm__pool_t *p, size_t used)
{
    used += list_count(p->spare);
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        used += list_count(((kmm__pool_stream_t *)t)->spare);
    for (kmm__descriptor_page_t *page = p->pages; page; page = kmm__head_of(page)->head.next)
        used += KMM__DESCRIPTORS - 1;
    return used <= p->descriptors;
}
