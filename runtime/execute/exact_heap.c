/* SPDX-License-Identifier: Apache-2.0 */
/* A map of the heap. */
#include "execute/exact_heap.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"

/* The map is a tree of three levels by 12 bits of the address each, above pages of 4096 bytes. */
enum { PAGE = 4096, UNIT = 16, BITS = 12, WIDTH = 1 << BITS, UNITS = PAGE / UNIT };

typedef struct leaf {
    _Atomic uint16_t owner[UNITS];
} leaf_t;

/* Of each page: a leaf, or (owner << 1 | 1) if one block has all of it; 0: nobody has any. */
typedef struct pages {
    _Atomic uintptr_t at[WIDTH];
} pages_t;

typedef struct branch {
    pages_t *_Atomic at[WIDTH];
} branch_t;

static branch_t *_Atomic root[WIDTH];

static pages_t *pages_of(uintptr_t page, bool make)
{
    if (page >> 3 * BITS)
        return NULL;
    branch_t *_Atomic *high = &root[page >> 2 * BITS];
    branch_t *b = atomic_load(high);
    if (!b && make) {
        branch_t *made = kmm__alloc(sizeof(*made));
        if (atomic_compare_exchange_strong(high, &b, made))
            b = made;
        else
            free(made);
    }
    if (!b)
        return NULL;
    pages_t *_Atomic *low = &b->at[page >> BITS & (WIDTH - 1)];
    pages_t *p = atomic_load(low);
    if (!p && make) {
        pages_t *made = kmm__alloc(sizeof(*made));
        if (atomic_compare_exchange_strong(low, &p, made))
            p = made;
        else
            free(made);
    }
    return p;
}

/* Blocks that lie in one page may be set at once. */
static leaf_t *leaf_at(_Atomic uintptr_t *at)
{
    uintptr_t old = atomic_load(at);
    while (!old || old & 1) {
        leaf_t *made = kmm__alloc(sizeof(*made));
        for (int k = 0; old && k < UNITS; k++)
            made->owner[k] = (uint16_t)(old >> 1);
        if (atomic_compare_exchange_strong(at, &old, (uintptr_t)made))
            return made;
        free(made);
    }
    return (leaf_t *)old;
}

static void set_in_page(_Atomic uintptr_t *at, uintptr_t begin, uintptr_t end, uint16_t owner)
{
    uintptr_t old = atomic_load(at);
    if (!old && !owner)
        return;
    if (end - begin == PAGE && (!old || old & 1)) {
        atomic_store(at, owner ? (uintptr_t)owner << 1 | 1 : 0);
        return;
    }
    leaf_t *leaf = leaf_at(at);
    for (uintptr_t k = begin / UNIT; k * UNIT < end; k++)
        atomic_store_explicit(&leaf->owner[k], owner, memory_order_relaxed);
}

void kmm__exact_heap_set(uintptr_t begin, size_t bytes, uint16_t owner)
{
    uintptr_t end = begin + bytes;
    while (begin < end) {
        uintptr_t page = begin / PAGE, next = (page + 1) * PAGE, last = next < end ? next : end;
        pages_t *p = pages_of(page, owner != KMM__HEAP_NOBODY);
        if (p)
            set_in_page(&p->at[page & (WIDTH - 1)], begin % PAGE, last - page * PAGE, owner);
        else /* nothing below it is known */
            last = (((page >> BITS) + 1) << BITS) * PAGE;
        begin = last;
    }
}

void kmm__exact_heap_use(uintptr_t begin, size_t bytes)
{
    for (uintptr_t at = begin / UNIT * UNIT; at < begin + bytes; at += UNIT)
        if (kmm__exact_heap_owner(at) == KMM__HEAP_NOBODY)
            kmm__exact_heap_set(at, UNIT, KMM__HEAP_USED);
}

bool kmm__exact_heap_knows(uintptr_t begin, size_t bytes)
{
    for (uintptr_t at = begin, next; at < begin + bytes; at = next) {
        pages_t *p = pages_of(at / PAGE, false);
        uintptr_t page = p ? atomic_load(&p->at[at / PAGE & (WIDTH - 1)]) : 0;
        next = p ? (at / PAGE + 1) * PAGE : (((at / PAGE >> BITS) + 1) << BITS) * PAGE;
        if (page & 1)
            return true;
        for (uintptr_t k = at; page && k < next && k < begin + bytes; k += UNIT)
            if (((leaf_t *)page)->owner[k % PAGE / UNIT])
                return true;
    }
    return false;
}

uint16_t kmm__exact_heap_owner(uintptr_t address)
{
    uintptr_t page = address / PAGE;
    pages_t *p = pages_of(page, false);
    uintptr_t at = p ? atomic_load_explicit(&p->at[page & (WIDTH - 1)], memory_order_acquire) : 0;
    if (!at || at & 1)
        return (uint16_t)(at >> 1);
    return atomic_load_explicit(&((leaf_t *)at)->owner[address % PAGE / UNIT],
                                memory_order_relaxed);
}

uint16_t kmm__exact_heap_self(void)
{
    static _Atomic uint32_t count;
    static _Thread_local uint16_t self;
    if (!self)
        self = (uint16_t)(1 + atomic_fetch_add(&count, 1) % (KMM__HEAP_USED - 1));
    return self;
}
