/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free lists of block descriptors. A descriptor is freed only with its pool, so that a stale
 * pointer to one stays readable. The caller holds the pool's lock.
 */
#ifndef KMM__RESOURCE_DESCRIPTOR_H
#define KMM__RESOURCE_DESCRIPTOR_H

#include "resource/pool_state.h"

/* One entry of a page of descriptors. Each page belongs to one stream. Streams write descriptors
 * all the time, and processors prefetch neighbouring lines up to the end of a page, so sharing a
 * page between threads would cost them false sharing. */
typedef union kmm__descriptor {
    kmm__block_t block;
    struct {
        /* List to which unused descriptors of this page return: a stream's, or the pool's own. */
        kmm__block_t **home;
        kmm__descriptor_page_t *next; /* in the list of pages without an owner */
        kmm__descriptor_page_t *slab; /* set in the first page of a slab: the next slab */
    } head;
} kmm__descriptor_t;

enum {
    KMM__DESCRIPTOR_PAGE = 4096,
    KMM__DESCRIPTORS = KMM__DESCRIPTOR_PAGE / (int)sizeof(kmm__block_t)
};

/* One entry is the page's head; the others are blocks. */
struct kmm__descriptor_page {
    kmm__descriptor_t descriptors[KMM__DESCRIPTORS];
};
_Static_assert(sizeof(kmm__block_t) == 128, "a block is two lines");
_Static_assert(sizeof(kmm__descriptor_page_t) == KMM__DESCRIPTOR_PAGE,
               "blocks tell their page by their address");

/* The position of the head differs from page to page. Heads at one offset would be whole pages
 * apart and compete for few cache lines. */
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

/* Creates the descriptors for new memory along with the memory, so that no later request has to
 * wait for it. */
void kmm__descriptors_expect(kmm__pool_t *p);
/* Adds a page to a list; false: the host has no memory. */
bool kmm__descriptor_page_add(kmm__pool_t *p, kmm__block_t **spare);
void kmm__descriptors_deinit(kmm__pool_t *p);
/* For tests: the descriptors in use and on lists add up to at most those that exist. `used`:
 * those in use as blocks. */
bool kmm__descriptors_are_valid(kmm__pool_t *p, size_t used);

/* Makes sure that the list has the two descriptors that one carve needs. */
static inline bool kmm__descriptors_reserve(kmm__pool_t *p, kmm__block_t **spare)
{
    return (*spare && (*spare)->next) || kmm__descriptor_page_add(p, spare);
}

static inline kmm__block_t *kmm__descriptor_get(kmm__block_t **spare, uintptr_t address,
                                                size_t bytes, kmm__segment_t *segment)
{
    kmm__block_t *b = *spare, *next = b->next;
    *spare = next;
    if (next) { /* the next call needs it */
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
