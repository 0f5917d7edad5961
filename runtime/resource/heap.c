/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, and the blocks that tile them. */
#include <stdlib.h>
#include <string.h>

#include "pool.h"

enum { SLAB_BLOCKS = 256, SLABS_AHEAD = 128, LARGE_BYTES = 64 << 10 };
static const size_t SLAB_COVERS = (size_t)256 << 20; /* so much memory in blocks of 1 MiB */

/* Processors fetch lines of 64 bytes in pairs: a block is one. */
typedef struct slab {
    _Alignas(128) kmm__block_t blocks[SLAB_BLOCKS];
    struct slab *next;
} slab_t;
_Static_assert(sizeof(kmm__block_t) == 128, "a block is two lines");

/* ---- Descriptors ---- */

static bool slab_add(kmm__pool_t *p)
{
    slab_t *s = aligned_alloc(128, sizeof(*s));
    if (!s)
        return false;
    memset(s, 0, sizeof(*s));
    s->next = p->slabs;
    p->slabs = s;
    p->slab_count++;
    for (int i = SLAB_BLOCKS - 1; i >= 0; i--) {
        s->blocks[i].next = p->spare;
        p->spare = &s->blocks[i];
    }
    return true;
}

/* Descriptors for new memory are made with it, and not while the program waits for a block. */
static void descriptors_expect(kmm__pool_t *p)
{
    while (p->slab_count < SLABS_AHEAD && p->slab_count < p->held / SLAB_COVERS)
        if (!slab_add(p))
            return;
}

/* Makes sure that two descriptors can be had: what one carve needs. */
static bool descriptors_reserve(kmm__pool_t *p) { return (p->spare && p->spare->next) || slab_add(p); }

static kmm__block_t *descriptor_get(kmm__pool_t *p, uintptr_t address, size_t bytes, kmm__region_t *region)
{
    kmm__block_t *b = p->spare;
    p->spare = b->next;
    b->address = address;
    b->bytes = bytes;
    b->region = region;
    b->below = b->above = NULL;
    b->owner = NULL;
    b->epoch = 0;
    b->listed = KMM__LISTED_NOWHERE;
    return b;
}

static kmm__table_t *table_of(kmm__pool_t *p, kmm__listed_t listed) { return listed == KMM__LISTED_LARGE ? &p->large : &p->small; }

static bool list(kmm__pool_t *p, kmm__block_t *b)
{
    const kmm__listed_t where = b->bytes >= LARGE_BYTES ? KMM__LISTED_LARGE : KMM__LISTED_SMALL;
    if (!b->listed && kmm__table_put(table_of(p, where), (void *)b->address, b) == 0)
        b->listed = where;
    return b->listed != KMM__LISTED_NOWHERE;
}

kmm__block_t *kmm__heap_find(kmm__pool_t *p, const void *address, size_t bytes)
{
    const bool large = bytes >= LARGE_BYTES && bytes != KMM_SIZE_RECORDED;
    kmm__block_t *b = kmm__table_find(large ? &p->large : &p->small, address);
    return b ? b : kmm__table_find(large ? &p->small : &p->large, address);
}

static void descriptor_put(kmm__pool_t *p, kmm__block_t *b)
{
    if (b->listed)
        kmm__table_take(table_of(p, b->listed), (void *)b->address);
    b->listed = KMM__LISTED_NOWHERE;
    atomic_store_explicit(&b->state, KMM__BLOCK_UNUSED, memory_order_relaxed);
    b->next = p->spare;
    p->spare = b;
}

static bool is_free(const kmm__block_t *b)
{
    return b && atomic_load_explicit(&b->state, memory_order_relaxed) == KMM__BLOCK_FREE;
}

static bool is_left(const kmm__block_t *b)
{
    return atomic_load_explicit(&b->state, memory_order_relaxed) == KMM__BLOCK_LEFT;
}

/* ---- Shelves ---- */

static kmm__shelf_t *shelf_of(kmm__pool_t *p, const kmm__block_t *b) { return b->owner ? &b->owner->shelf : &p->clean; }

static size_t seams_of(const kmm__block_t *b)
{
    return (is_free(b->below) && b->below->owner != b->owner) + (is_free(b->above) && b->above->owner != b->owner);
}

static void shelve(kmm__pool_t *p, kmm__block_t *b)
{
    atomic_store_explicit(&b->state, KMM__BLOCK_FREE, memory_order_relaxed);
    kmm__shelf_put(shelf_of(p, b), b);
    p->shelved += b->bytes;
    b->region->free += b->bytes;
    p->seams += seams_of(b);
    if (b->owner && b->owner->newest_epoch < b->epoch)
        b->owner->newest_epoch = b->epoch;
}

static void unshelve(kmm__pool_t *p, kmm__block_t *b)
{
    p->seams -= seams_of(b);
    kmm__shelf_take(shelf_of(p, b), b);
    p->shelved -= b->bytes;
    b->region->free -= b->bytes;
    atomic_store_explicit(&b->state, KMM__BLOCK_CACHED, memory_order_relaxed);
}

/* ---- Blocks ---- */

/* Gives `upper`, which is on no shelf, to its neighbour below. */
static void absorb(kmm__pool_t *p, kmm__block_t *lower, kmm__block_t *upper)
{
    lower->bytes += upper->bytes;
    lower->above = upper->above;
    if (lower->above)
        lower->above->below = lower;
    else
        lower->region->last = lower;
    if (lower->epoch < upper->epoch)
        lower->epoch = upper->epoch;
    descriptor_put(p, upper);
}

/* Cuts a block that is on no shelf; the upper part, of the same owner, is returned. */
static kmm__block_t *cut(kmm__pool_t *p, kmm__block_t *b, size_t bytes)
{
    kmm__block_t *upper = descriptor_get(p, b->address + bytes, b->bytes - bytes, b->region);
    b->bytes = bytes;
    upper->owner = b->owner;
    upper->epoch = b->epoch;
    upper->below = b;
    upper->above = b->above;
    if (upper->above)
        upper->above->below = upper;
    else
        b->region->last = upper;
    b->above = upper;
    return upper;
}

static void make_clean(kmm__block_t *b)
{
    b->owner = NULL;
    b->epoch = 0;
}

/* Whether b, being freed, may swallow a free neighbour and keep one tag that is right for both. A clean
 * neighbour no larger than b takes b's tag: little is lost, and memory does not fall to pieces. The end of
 * a region loses nothing, since `clean_from` tells. */
static bool may_merge(const kmm__block_t *b, const kmm__block_t *neighbour)
{
    if (!is_free(neighbour))
        return false;
    return neighbour->owner == b->owner || (!neighbour->owner && (neighbour->bytes <= b->bytes || !neighbour->above));
}

/* Before b, which is being freed, is joined with what lies above it. */
static void note_clean_from(const kmm__block_t *b)
{
    kmm__region_t *r = b->region;
    if (!b->above)
        r->clean_from = r->address + r->bytes;
    else if (may_merge(b, b->above) && b->above == r->last && !r->last->owner)
        r->clean_from = r->last->address;
}

kmm__block_t *kmm__heap_release(kmm__pool_t *p, kmm__block_t *b)
{
    note_clean_from(b);
    while (may_merge(b, b->above)) {
        kmm__block_t *above = b->above;
        unshelve(p, above);
        absorb(p, b, above);
    }
    while (may_merge(b, b->below)) {
        kmm__block_t *below = b->below;
        unshelve(p, below);
        below->owner = b->owner;
        absorb(p, below, b);
        b = below;
    }
    shelve(p, b);
    return b;
}

void kmm__heap_extend(kmm__pool_t *p, const kmm__block_t *b)
{
    const size_t extent = b->address + b->bytes - b->region->address, before = b->region->extent;
    if (extent <= before)
        return;
    b->region->extent = extent;
    kmm__pool_extend(p, p->extent + extent - before);
}

kmm__block_t *kmm__heap_cut(kmm__pool_t *p, kmm__block_t *b, uintptr_t start, size_t bytes)
{
    if (!descriptors_reserve(p))
        return NULL;
    unshelve(p, b);
    if (start > b->address) {
        kmm__block_t *front = b;
        b = cut(p, front, start - front->address);
        shelve(p, front);
    }
    if (b->bytes > bytes) {
        kmm__block_t *rest = cut(p, b, bytes);
        if (!rest->above && rest->address >= rest->region->clean_from)
            make_clean(rest);
        shelve(p, rest);
    }
    return b;
}

kmm__block_t *kmm__heap_carve(kmm__pool_t *p, kmm__block_t *b, size_t bytes, size_t alignment)
{
    b = kmm__heap_cut(p, b, (uintptr_t)kmm__round_up(b->address, alignment), bytes);
    if (!b)
        return NULL;
    if (!list(p, b)) {
        kmm__heap_release(p, b);
        return NULL;
    }
    kmm__heap_extend(p, b);
    make_clean(b);
    atomic_store_explicit(&b->state, KMM__BLOCK_LIVE, memory_order_relaxed);
    return b;
}

kmm__block_t *kmm__heap_split_end(kmm__pool_t *p, size_t need)
{
    for (kmm__region_t *r = p->regions; r; r = r->next) {
        kmm__block_t *b = r->last;
        const uintptr_t from = b->address < r->clean_from ? r->clean_from : b->address;
        if (!is_free(b) || !b->owner || r->address + r->bytes - from < need || !descriptors_reserve(p))
            continue;
        unshelve(p, b);
        if (from > b->address) {
            kmm__block_t *lower = b;
            b = cut(p, lower, from - lower->address);
            shelve(p, lower);
        }
        make_clean(b);
        shelve(p, b);
        return b;
    }
    return NULL;
}

kmm__block_t *kmm__heap_join(kmm__pool_t *p, kmm__block_t *first, kmm__block_t *last, kmm__pool_stream_t *owner, uint64_t epoch)
{
    const uintptr_t end = last->address + last->bytes;
    for (kmm__block_t *b = first; b && b->address < end; b = b->above)
        unshelve(p, b);
    while (first->address + first->bytes < end)
        absorb(p, first, first->above);
    first->owner = owner;
    first->epoch = epoch;
    return kmm__heap_release(p, first);
}

/* ---- Regions ---- */

static void region_list(kmm__pool_t *p, kmm__region_t *r)
{
    r->previous = NULL;
    r->next = p->regions;
    if (r->next)
        r->next->previous = r;
    p->regions = r;
    p->region_count++;
    p->listed += r->bytes - r->left;
    kmm__pool_extend(p, p->extent + r->extent - r->left);
}

int kmm__heap_add_region(kmm__pool_t *p, void *memory, size_t bytes, kmm__pool_stream_t *owner)
{
    kmm__region_t *r = calloc(1, sizeof(*r));
    if (!r || !descriptors_reserve(p)) {
        free(r);
        return KMM_E_MEMORY;
    }
    descriptors_expect(p);
    r->address = (uintptr_t)memory;
    r->bytes = bytes;
    region_list(p, r);
    r->first = r->last = descriptor_get(p, r->address, bytes, r);
    r->clean_from = r->address + bytes;
    if (owner) {
        r->first->owner = owner;
        kmm__lock_take(&owner->timeline.lock);
        r->first->epoch = owner->timeline.epoch;
        kmm__lock_drop(&owner->timeline.lock);
    }
    shelve(p, r->first);
    return 0;
}

void kmm__heap_detach_region(kmm__pool_t *p, kmm__region_t *r)
{
    for (kmm__block_t *b = r->first; b; b = b->above)
        if (is_free(b))
            unshelve(p, b);
    if (r->next)
        r->next->previous = r->previous;
    if (r->previous)
        r->previous->next = r->next;
    else
        p->regions = r->next;
    p->region_count--;
    p->listed -= r->bytes - r->left;
    kmm__pool_extend(p, p->extent - (r->extent - r->left));
}

void kmm__heap_attach_region(kmm__pool_t *p, kmm__region_t *r)
{
    region_list(p, r);
    for (kmm__block_t *b = r->first; b; b = b->above)
        if (!is_left(b))
            shelve(p, b);
}

void kmm__heap_free_region(kmm__pool_t *p, kmm__region_t *r)
{
    for (kmm__block_t *b = r->first, *above; b; b = above) {
        above = b->above;
        descriptor_put(p, b);
    }
    free(r);
}

static void poll_stream(kmm__pool_t *p, kmm__pool_stream_t *s)
{
    if (!s->shelf.oldest)
        return;
    uint64_t done = kmm__timeline_poll(&p->timelines, &s->timeline, s->newest_epoch);
    while (s->shelf.oldest && s->shelf.oldest->epoch <= done) {
        kmm__block_t *b = s->shelf.oldest;
        unshelve(p, b);
        make_clean(b);
        kmm__heap_release(p, b);
    }
}

void kmm__heap_poll(kmm__pool_t *p)
{
    if (!p->head.order)
        return;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        poll_stream(p, (kmm__pool_stream_t *)t);
}

static bool block_is_valid(kmm__pool_t *p, const kmm__block_t *b)
{
    if (b->bytes == 0 || b->bytes % KMM_RESOURCE_ALIGNMENT || b->address % KMM_RESOURCE_ALIGNMENT)
        return false;
    if (b->above && (b->above->below != b || b->above->address != b->address + b->bytes))
        return false;
    if (is_free(b) && is_free(b->above) && b->owner == b->above->owner)
        return false; /* should be one block */
    return !b->listed || kmm__table_find(table_of(p, b->listed), (void *)b->address) == b;
}

bool kmm__heap_is_valid(kmm__pool_t *p)
{
    size_t shelved = 0, seams = 0, held = 0, extent = 0;
    for (kmm__region_t *r = p->regions; r; r = r->next) {
        size_t bytes = 0, unused = 0, left = 0;
        const kmm__block_t *last = NULL;
        for (kmm__block_t *b = r->first; b; b = b->above) {
            if (b->region != r || !block_is_valid(p, b))
                return false;
            last = b;
            bytes += b->bytes;
            unused += is_free(b) ? b->bytes : 0;
            left += is_left(b) ? b->bytes : 0;
            seams += is_free(b) && is_free(b->above) && b->owner != b->above->owner;
        }
        if (bytes != r->bytes || unused != r->free || left != r->left || r->mapped > left || last != r->last)
            return false;
        shelved += unused;
        held += bytes - left;
        extent += r->extent - left;
    }
    return shelved == p->shelved && seams == p->seams && held == p->held && held == p->listed && extent == p->extent;
}

void kmm__heap_deinit(kmm__pool_t *p)
{
    for (kmm__region_t *r = p->regions, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    for (slab_t *s = p->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
}
