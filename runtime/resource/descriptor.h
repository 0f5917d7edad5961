/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of blocks: where they are kept while nobody uses them. A descriptor is never freed
 * before its pool, so that a stale pointer to one stays readable. With the pool's lock held.
 */
#ifndef KMM__RESOURCE_DESCRIPTOR_H
#define KMM__RESOURCE_DESCRIPTOR_H

#include "resource/pool_state.h"

/* Descriptors of one stream. Processors fetch what lies near to what is used, and as a rule no
 * farther than the end of a page; so threads on two streams, which write to descriptors all the
 * time, do not have them in one. */
typedef union kmm__descriptor {
    kmm__block_t block;
    struct {
        kmm__block_t **home; /* where those of the page go when they are not in use: a stream's
                                list, or the pool's own */
        kmm__descriptor_page_t *next; /* of pages that are nobody's yet */
        kmm__descriptor_page_t *slab; /* in the first page of a slab: the next slab */
    } head;
} kmm__descriptor_t;

enum {
    KMM__DESCRIPTOR_PAGE = 4096,
    KMM__DESCRIPTORS = KMM__DESCRIPTOR_PAGE / (int)sizeof(kmm__block_t)
};

/* One of its descriptors is the page's head. */
struct kmm__descriptor_page {
    kmm__descriptor_t descriptors[KMM__DESCRIPTORS];
};
_Static_assert(sizeof(kmm__block_t) == 128, "a block is two lines");
_Static_assert(sizeof(kmm__descriptor_page_t) == KMM__DESCRIPTOR_PAGE,
               "blocks tell their page by their address");

/* Each page has its head at another position, since caches keep few lines that are whole pages
 * apart.
 */
static inline size_t kmm__head_position(const kmm__descriptor_page_t *page)
{
    return (uintptr_t)page / KMM__DESCRIPTOR_PAGE % KMM__DESCRIPTORS;
}
static inline kmm__descriptor_t *kmm__head_of(kmm__descriptor_page_t *page)
{
    return &page->descriptors[kmm__head_position(page)];
}
static inline kmm__block_t **kmm__home_of(const kmm__block_t *b)
{
    return kmm__head_of(
               (kmm__descriptor_page_t *)((uintptr_t)b & ~(uintptr_t)(KMM__DESCRIPTOR_PAGE - 1)))
        ->head.home;
}

/* Makes descriptors for new memory with it, and not while the program waits for a block. */
void kmm__descriptors_expect(kmm__pool_t *p);
/* One more page for a list; false: the host has no memory. */
bool kmm__descriptor_page_add(kmm__pool_t *p, kmm__block_t **spare);
void kmm__descriptors_deinit(kmm__pool_t *p);
/* For tests: no more descriptors are in use and on lists than there are. `used`: of blocks. */
bool kmm__descriptors_are_valid(kmm__pool_t *p, size_t used);

/* Makes sure that two descriptors can be had: what one carve needs. */
static inline bool kmm__descriptors_reserve(kmm__pool_t *p, kmm__block_t **spare)
{
    return (*spare && (*spare)->next) || kmm__descriptor_page_add(p, spare);
}

static inline kmm__block_t *kmm__descriptor_get(kmm__block_t **spare, uintptr_t address,
                                                size_t bytes, kmm__segment_t *segment)
{
    kmm__block_t *b = *spare, *next = b->next;
    *spare = next;
    if (next) { /* soon needed */
        __builtin_prefetch(next, 1);
        __builtin_prefetch(&next->epoch, 1);
    }
    kmm__block_place(b, address);
    b->bytes = bytes;
    b->segment = segment;
    kmm__block_link(&b->below, NULL);
    kmm__block_link(&b->above, NULL);
    b->owner = NULL;
    b->epoch = 0;
    return b;
}

static inline void kmm__descriptor_put(kmm__block_t *b)
{
    atomic_store_explicit(&b->state, KMM__BLOCK_UNUSED, memory_order_relaxed);
    kmm__block_t **spare = kmm__home_of(b);
    b->next = *spare;
    *spare = b;
}

#endif
