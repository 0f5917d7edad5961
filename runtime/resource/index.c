/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a pool: two hash tables, for small and for large blocks. A table is replaced by a
 * larger one while other threads read the old one, which is kept until the pool ends. */
#include "resource/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, INDEX_LEAST_BITS = 8 };
static const size_t HUGE_PAGE = (size_t)2 << 20;

/* Returns memory whose pages are already present, in huge pages if possible to save address
 * translations. */
void *kmm__pool_memory_new(size_t bytes)
{
    const size_t page = bytes < HUGE_PAGE ? PAGE : HUGE_PAGE, whole = kmm__round_up(bytes, page);
    void *memory = aligned_alloc(page, whole);
    if (!memory)
        return NULL;
    if (page == HUGE_PAGE)
        madvise(memory, whole, MADV_HUGEPAGE); /* only a hint: its failure does no harm */
    return memset(memory, 0, bytes);
}

kmm__index_t *kmm__index_new(unsigned bits)
{
    kmm__index_t *x = kmm__pool_memory_new(sizeof(*x) + (sizeof(x->buckets[0]) << bits));
    if (x)
        x->shift = 64 - bits;
    return x;
}

/* Makes sure that the table has at least as many buckets as blocks are expected, if the host has
 * memory for them. */
void kmm__index_expect(kmm__pool_t *p, bool large, size_t blocks)
{
    kmm__index_t *old = kmm__index_of(p, large);
    unsigned bits = 64 - old->shift;
    while ((size_t)1 << bits < blocks)
        bits++;
    kmm__index_t *bigger = bits > 64 - old->shift ? kmm__index_new(bits) : NULL;
    if (!bigger)
        return;
    bigger->smaller = old;
    for (size_t i = 0; i < (size_t)1 << (64 - old->shift); i++)
        for (kmm__block_t *b = atomic_load_explicit(&old->buckets[i], memory_order_relaxed), *next;
             b; b = next) {
            next = atomic_load_explicit(&b->same, memory_order_relaxed);
            kmm__index_add(bigger, b);
        }
    atomic_store_explicit(&p->index[large], bigger, memory_order_release);
}

const kmm__block_t *kmm__index_find_locked(kmm__pool_t *p, bool large, uintptr_t address)
{
    const kmm__index_t *x = kmm__index_of(p, large);
    const kmm__block_t *b =
        atomic_load_explicit(&x->buckets[kmm__index_bucket(x, address)], memory_order_relaxed);
    while (b && b->address != address)
        b = atomic_load_explicit(&b->same, memory_order_relaxed);
    return b;
}

kmm__block_t *kmm__heap_find_surely(kmm__pool_t *p, const void *address)
{
    kmm__lock_take(&p->lock);
    const kmm__block_t *b = kmm__index_find_locked(p, false, (uintptr_t)address);
    if (!b)
        b = kmm__index_find_locked(p, true, (uintptr_t)address);
    kmm__lock_drop(&p->lock);
    return (kmm__block_t *)b;
}

int kmm__index_init(kmm__pool_t *p)
{
    for (int large = 0; large < 2; large++) {
        p->index[large] = kmm__index_new(INDEX_LEAST_BITS);
        if (!p->index[large])
            return KMM_E_MEMORY;
    }
    return 0;
}

void kmm__index_deinit(kmm__pool_t *p)
{
    for (int large = 0; large < 2; large++)
        for (kmm__index_t *x = kmm__index_of(p, large), *smaller; x; x = smaller) {
            smaller = x->smaller;
            free(x);
        }
}
