/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, and the blocks that tile them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "resource/pool.h"

enum {
    PAGE = 4096,
    PLACES = PAGE / (int)sizeof(kmm__block_t), /* one of them is the page's head */
    SLAB_LEAST = 8,                            /* pages of descriptors that are made together */
    DESCRIPTORS_AHEAD = 1 << 16,               /* most that are made before they are needed, */
    INDEX_LEAST_BITS = 8
};
static const size_t DESCRIPTOR_COVERS = (size_t)384 << 10; /* one for so much memory */
static const size_t HUGE_PAGE = (size_t)2 << 20;

/* Descriptors of one stream. Processors fetch what lies near to what is used, and as a rule no
 * farther than the end of a page; so threads on two streams, which write to descriptors all the
 * time, do not have them in one. */
typedef union place {
    kmm__block_t block;
    struct {
        kmm__block_t **home; /* where those of the page go when they are not in use: a stream's
                                list, or the pool's own */
        kmm__page_t *next;   /* of pages that are nobody's yet */
        kmm__page_t *slab;   /* in the first page of a slab: the next slab */
    } head;
} place_t;
struct kmm__page {
    place_t places[PLACES];
};
_Static_assert(sizeof(kmm__block_t) == 128, "a block is two lines");
_Static_assert(sizeof(kmm__page_t) == PAGE, "blocks tell their page by their address");

/* Each page has its head at another place, since caches keep few lines that are whole pages apart.
 */
static inline size_t head_place(const kmm__page_t *page)
{
    return (uintptr_t)page / PAGE % PLACES;
}
static inline place_t *head_of(kmm__page_t *page)
{
    return &page->places[head_place(page)];
}
static inline kmm__block_t **home_of(const kmm__block_t *b)
{
    return head_of((kmm__page_t *)((uintptr_t)b & ~(uintptr_t)(PAGE - 1)))->head.home;
}

/* ---- The index of addresses ---- */

static kmm__index_t *index_of(kmm__pool_t *p, bool large)
{
    return atomic_load_explicit(&p->index[large], memory_order_relaxed);
}

static inline void index_add(kmm__index_t *x, kmm__block_t *b)
{
    _Atomic(kmm__block_t *) *bucket = &x->buckets[kmm__index_bucket(x, b->address)];
    atomic_store_explicit(&b->same, atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(bucket, b, memory_order_release);
    x->count++;
}

static inline void index_remove(kmm__index_t *x, kmm__block_t *b)
{
    _Atomic(kmm__block_t *) *at = &x->buckets[kmm__index_bucket(x, b->address)];
    for (kmm__block_t *other; (other = atomic_load_explicit(at, memory_order_relaxed)) != b;
         at = &other->same)
        continue;
    atomic_store_explicit(at, atomic_load_explicit(&b->same, memory_order_relaxed),
                          memory_order_release);
    x->count--;
}

/* Memory in pages that are there already, and huge ones if that is possible: few translations. */
static void *memory_new(size_t bytes)
{
    const size_t page = bytes < HUGE_PAGE ? PAGE : HUGE_PAGE, whole = kmm__round_up(bytes, page);
    void *memory = aligned_alloc(page, whole);
    if (!memory)
        return NULL;
    if (page == HUGE_PAGE)
        madvise(memory, whole, MADV_HUGEPAGE); /* as good without */
    return memset(memory, 0, bytes);
}

static kmm__index_t *index_new(unsigned bits)
{
    kmm__index_t *x = memory_new(sizeof(*x) + (sizeof(x->buckets[0]) << bits));
    if (x)
        x->shift = 64 - bits;
    return x;
}

/* At least as many buckets as blocks are expected, while the host has memory for them. */
static void index_expect(kmm__pool_t *p, bool large, size_t blocks)
{
    kmm__index_t *old = index_of(p, large);
    unsigned bits = 64 - old->shift;
    while ((size_t)1 << bits < blocks)
        bits++;
    kmm__index_t *bigger = bits > 64 - old->shift ? index_new(bits) : NULL;
    if (!bigger)
        return;
    bigger->smaller = old;
    for (size_t i = 0; i < (size_t)1 << (64 - old->shift); i++)
        for (kmm__block_t *b = atomic_load_explicit(&old->buckets[i], memory_order_relaxed), *next;
             b; b = next) {
            next = atomic_load_explicit(&b->same, memory_order_relaxed);
            index_add(bigger, b);
        }
    atomic_store_explicit(&p->index[large], bigger, memory_order_release);
}

/* Of a block that is live or cached, whose size does not change. */
static inline bool is_large(const kmm__block_t *b)
{
    return b->bytes >= KMM__LARGE_BYTES;
}

static inline void list(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__index_t *x = index_of(p, is_large(b));
    index_add(x, b);
    if (__builtin_expect(x->count >> 1 >> (63 - x->shift), 0))
        index_expect(p, is_large(b), x->count);
}

static const kmm__block_t *find_listed(kmm__pool_t *p, bool large, uintptr_t address)
{
    const kmm__index_t *x = index_of(p, large);
    const kmm__block_t *b =
        atomic_load_explicit(&x->buckets[kmm__index_bucket(x, address)], memory_order_relaxed);
    while (b && b->address != address)
        b = atomic_load_explicit(&b->same, memory_order_relaxed);
    return b;
}

kmm__block_t *kmm__heap_find_surely(kmm__pool_t *p, const void *address)
{
    kmm__lock_take(&p->lock);
    const kmm__block_t *b = find_listed(p, false, (uintptr_t)address);
    if (!b)
        b = find_listed(p, true, (uintptr_t)address);
    kmm__lock_drop(&p->lock);
    return (kmm__block_t *)b;
}

/* ---- Descriptors ---- */

static bool slab_add(kmm__pool_t *p, size_t pages)
{
    kmm__page_t *s = memory_new(pages * sizeof(*s));
    if (!s)
        return false;
    head_of(s)->head.slab = p->slabs;
    p->slabs = s;
    p->descriptors += pages * (PLACES - 1);
    for (size_t i = pages; i-- > 0;) {
        head_of(&s[i])->head.next = p->pages;
        p->pages = &s[i];
    }
    return true;
}

/* One more page for a list. */
static bool page_add(kmm__pool_t *p, kmm__block_t **spare)
{
    if (!p->pages && !slab_add(p, SLAB_LEAST))
        return false;
    kmm__page_t *page = p->pages;
    p->pages = head_of(page)->head.next;
    head_of(page)->head.home = spare;
    for (size_t i = PLACES; i-- > 0;) {
        if (i == head_place(page))
            continue;
        page->places[i].block.next = *spare;
        *spare = &page->places[i].block;
    }
    return true;
}

/* Descriptors for new memory are made with it, and not while the program waits for a block. */
static void descriptors_expect(kmm__pool_t *p)
{
    const size_t covers = p->held / DESCRIPTOR_COVERS,
                 most = covers < DESCRIPTORS_AHEAD ? covers : DESCRIPTORS_AHEAD;
    if (most > p->descriptors + SLAB_LEAST * PLACES)
        slab_add(p, (most - p->descriptors) / (PLACES - 1));
    index_expect(p, true, most);
}

/* Makes sure that two descriptors can be had: what one carve needs. */
static inline bool descriptors_reserve(kmm__pool_t *p, kmm__block_t **spare)
{
    return (*spare && (*spare)->next) || page_add(p, spare);
}

static inline kmm__block_t *descriptor_get(kmm__block_t **spare, uintptr_t address, size_t bytes,
                                           kmm__region_t *region)
{
    kmm__block_t *b = *spare, *next = b->next;
    *spare = next;
    if (next) { /* soon needed */
        __builtin_prefetch(next, 1);
        __builtin_prefetch(&next->epoch, 1);
    }
    kmm__block_place(b, address);
    b->bytes = bytes;
    b->region = region;
    kmm__block_link(&b->below, NULL);
    kmm__block_link(&b->above, NULL);
    b->owner = NULL;
    b->epoch = 0;
    return b;
}

static inline void descriptor_put(kmm__block_t *b)
{
    atomic_store_explicit(&b->state, KMM__BLOCK_UNUSED, memory_order_relaxed);
    kmm__block_t **spare = home_of(b);
    b->next = *spare;
    *spare = b;
}

static inline bool is_free(const kmm__block_t *b)
{
    return b && atomic_load_explicit(&b->state, memory_order_relaxed) == KMM__BLOCK_FREE;
}

static inline bool is_left(const kmm__block_t *b)
{
    return atomic_load_explicit(&b->state, memory_order_relaxed) == KMM__BLOCK_LEFT;
}

/* ---- Shelves ---- */

static inline kmm__shelf_t *shelf_of(kmm__pool_t *p, const kmm__block_t *b)
{
    return b->owner ? &b->owner->shelf : &p->clean;
}

static inline void note_epoch(kmm__pool_stream_t *s, uint64_t epoch)
{
    if (s->newest_epoch < epoch)
        s->newest_epoch = epoch;
    if (s->oldest_epoch > epoch || kmm__shelf_count(&s->shelf) == 1)
        s->oldest_epoch = epoch;
}

/* Puts a block on its shelf; its bytes are counted already. */
static inline void put(kmm__pool_t *p, kmm__block_t *b)
{
    atomic_store_explicit(&b->state, KMM__BLOCK_FREE, memory_order_relaxed);
    kmm__shelf_put(shelf_of(p, b), b);
    if (b->owner)
        note_epoch(b->owner, b->epoch);
}

static inline void count(kmm__pool_t *p, kmm__region_t *r, size_t bytes)
{
    p->shelved += bytes;
    r->free += bytes;
}

static void shelve(kmm__pool_t *p, kmm__block_t *b)
{
    count(p, b->region, b->bytes);
    put(p, b);
}

static void unshelve(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__shelf_take(shelf_of(p, b), b);
    count(p, b->region, -b->bytes);
    atomic_store_explicit(&b->state, KMM__BLOCK_CACHED, memory_order_relaxed);
}

/* ---- Blocks ---- */

/* Gives `upper`, which is on no shelf, to its neighbour below, which keeps its owner and epoch. */
static inline void absorb(kmm__block_t *lower, kmm__block_t *upper)
{
    lower->bytes += upper->bytes;
    kmm__block_link(&lower->above, upper->above);
    if (lower->above)
        kmm__block_link(&lower->above->below, lower);
    else
        lower->region->last = lower;
    descriptor_put(upper);
}

/* Cuts a block that is on no shelf. The lower part is returned, which has the new descriptor: what
 * is cut for a stream is what it will write to. */
static inline kmm__block_t *cut(kmm__block_t **spare, kmm__block_t *b, size_t bytes)
{
    kmm__block_t *lower = descriptor_get(spare, b->address, bytes, b->region);
    kmm__block_place(b, b->address + bytes);
    b->bytes -= bytes;
    lower->owner = b->owner;
    lower->epoch = b->epoch;
    kmm__block_link(&lower->below, b->below);
    kmm__block_link(&lower->above, b);
    if (lower->below)
        kmm__block_link(&lower->below->above, lower);
    else
        b->region->first = lower;
    kmm__block_link(&b->below, lower);
    return lower;
}

static inline void make_clean(kmm__block_t *b)
{
    b->owner = NULL;
    b->epoch = 0;
}

/* Whether b, being freed, may swallow a free neighbour and keep one tag that is right for both. A
 * clean neighbour no larger than b takes b's tag: little is lost, and memory does not fall to
 * pieces. The end of a region loses nothing, since `clean_from` tells. */
static inline bool may_merge(const kmm__block_t *b, const kmm__block_t *neighbour)
{
    if (!is_free(neighbour))
        return false;
    return neighbour->owner == b->owner ||
           (!neighbour->owner && (neighbour->bytes <= b->bytes || !neighbour->above));
}

/* Before b, which is being freed, is joined with what lies above it. */
static inline void note_clean_from(const kmm__block_t *b)
{
    kmm__region_t *r = b->region;
    if (!b->above)
        r->clean_from = r->address + r->bytes;
    else if (may_merge(b, b->above) && b->above == r->last && !r->last->owner)
        r->clean_from = r->last->address;
}

/* The epoch of what b becomes is no earlier than that of any block of its owner's shelf: looking at
 * each would cost more than it gains, since b is freed now, and few have a later one. */
kmm__block_t *kmm__heap_release(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__pool_stream_t *owner = b->owner;
    uint64_t epoch = b->epoch;
    bool merged = false;
    count(p, b->region, b->bytes);
    note_clean_from(b);
    for (kmm__block_t *above; may_merge(b, above = b->above); merged = true) {
        kmm__shelf_take(shelf_of(p, above), above);
        absorb(b, above);
    }
    for (kmm__block_t *below; may_merge(b, below = b->below); b = below, merged = true) {
        kmm__shelf_take(shelf_of(p, below), below);
        below->owner = owner;
        absorb(below, b);
    }
    if (owner && merged && epoch < owner->newest_epoch)
        epoch = owner->newest_epoch;
    b->epoch = epoch;
    put(p, b);
    return b;
}

void kmm__heap_free(kmm__pool_t *p, kmm__block_t *b)
{
    index_remove(index_of(p, is_large(b)), b);
    kmm__heap_release(p, b);
}

void kmm__heap_extend(kmm__pool_t *p, const kmm__block_t *b)
{
    const size_t extent = b->address + b->bytes - b->region->address, before = b->region->extent;
    if (extent <= before)
        return;
    b->region->extent = extent;
    kmm__pool_extend(p, p->extent + extent - before);
}

static inline kmm__block_t *cut_out(kmm__pool_t *p, kmm__block_t **spare, kmm__block_t *b,
                                    uintptr_t start, size_t bytes)
{
    if (!descriptors_reserve(p, spare))
        return NULL;
    kmm__shelf_take(shelf_of(p, b), b);
    if (start > b->address)
        put(p, cut(spare, b, start - b->address));
    if (b->bytes > bytes) {
        kmm__block_t *rest = b;
        b = cut(spare, rest, bytes);
        if (!rest->above && rest->address >= rest->region->clean_from)
            make_clean(rest);
        put(p, rest);
    }
    count(p, b->region, -b->bytes);
    atomic_store_explicit(&b->state, KMM__BLOCK_CACHED, memory_order_relaxed);
    return b;
}

kmm__block_t *kmm__heap_cut(kmm__pool_t *p, kmm__block_t *b, uintptr_t start, size_t bytes)
{
    return cut_out(p, &p->spare, b, start, bytes);
}

/* Gives a block that is on no shelf a descriptor of the list. */
static kmm__block_t *describe_anew(kmm__block_t **spare, kmm__block_t *b)
{
    kmm__block_t *whole = cut(spare, b, b->bytes);
    absorb(whole, b);
    return whole;
}

kmm__block_t *kmm__heap_carve(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *b, size_t bytes,
                              size_t alignment)
{
    b = cut_out(p, &s->spare, b, (uintptr_t)kmm__round_up(b->address, alignment), bytes);
    if (!b)
        return NULL;
    if (home_of(b) != &s->spare)
        b = describe_anew(&s->spare, b);
    list(p, b);
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
        if (!is_free(b) || !b->owner || r->address + r->bytes - from < need ||
            !descriptors_reserve(p, &p->spare))
            continue;
        unshelve(p, b);
        if (from > b->address)
            shelve(p, cut(&p->spare, b, from - b->address));
        make_clean(b);
        shelve(p, b);
        return b;
    }
    return NULL;
}

kmm__block_t *kmm__heap_join(kmm__pool_t *p, kmm__block_t *first, kmm__block_t *last,
                             kmm__pool_stream_t *owner, uint64_t epoch)
{
    const uintptr_t end = last->address + last->bytes;
    for (kmm__block_t *b = first; b && b->address < end; b = b->above)
        unshelve(p, b);
    while (first->address + first->bytes < end)
        absorb(first, first->above);
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
    if (!r || !descriptors_reserve(p, &p->spare)) {
        free(r);
        return KMM_E_MEMORY;
    }
    descriptors_expect(p);
    r->address = (uintptr_t)memory;
    r->bytes = bytes;
    region_list(p, r);
    r->first = r->last = descriptor_get(&p->spare, r->address, bytes, r);
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

void kmm__heap_free_region(kmm__region_t *r)
{
    for (kmm__block_t *b = r->first, *above; b; b = above) {
        above = b->above;
        descriptor_put(b);
    }
    free(r);
}

/* All blocks are looked at when an epoch has passed of which there may be some. Few epochs at a
 * time have an event, so each block is looked at a few times. */
static bool poll_stream(kmm__pool_t *p, kmm__pool_stream_t *s)
{
    if (kmm__shelf_count(&s->shelf) == 0)
        return false;
    const uint64_t done = kmm__timeline_poll(&p->timelines, &s->timeline, s->newest_epoch);
    if (done < s->oldest_epoch)
        return false;
    uint64_t oldest = UINT64_MAX;
    for (unsigned c = KMM__CLASSES; (c = kmm__shelf_below(&s->shelf, c));)
        for (kmm__block_t *b = s->shelf.classes[c], *next; b; b = next) {
            next = b->next; /* stays: clean blocks join clean ones only */
            if (b->epoch > done) {
                oldest = b->epoch < oldest ? b->epoch : oldest;
                continue;
            }
            unshelve(p, b);
            make_clean(b);
            kmm__heap_release(p, b);
        }
    s->oldest_epoch = oldest;
    return true;
}

bool kmm__heap_poll(kmm__pool_t *p)
{
    bool any = false;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t && p->head.order; t = t->next)
        any |= poll_stream(p, (kmm__pool_stream_t *)t);
    return any;
}

static bool block_is_valid(kmm__pool_t *p, const kmm__block_t *b)
{
    if (b->bytes == 0 || b->bytes % KMM_RESOURCE_ALIGNMENT || b->address % KMM_RESOURCE_ALIGNMENT)
        return false;
    if (b->above && (b->above->below != b || b->above->address != b->address + b->bytes))
        return false;
    if (is_free(b) && is_free(b->above) && b->owner == b->above->owner)
        return false; /* should be one block */
    const kmm__block_state_t state = atomic_load(&b->state);
    const bool listed = find_listed(p, is_large(b), b->address) == b;
    return state == KMM__BLOCK_CACHED || listed == (state == KMM__BLOCK_LIVE);
}

bool kmm__heap_is_valid(kmm__pool_t *p)
{
    size_t shelved = 0, held = 0, extent = 0;
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
        }
        if (bytes != r->bytes || unused != r->free || left != r->left || r->mapped > left ||
            last != r->last)
            return false;
        shelved += unused;
        held += bytes - left;
        extent += r->extent - left;
    }
    return shelved == p->shelved && held == p->held && held == p->listed && extent == p->extent;
}

int kmm__heap_init(kmm__pool_t *p)
{
    for (int large = 0; large < 2; large++) {
        p->index[large] = index_new(INDEX_LEAST_BITS);
        if (!p->index[large])
            return KMM_E_MEMORY;
    }
    return 0;
}

void kmm__heap_deinit(kmm__pool_t *p)
{
    for (kmm__region_t *r = p->regions, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    for (kmm__page_t *s = p->slabs, *next; s; s = next) {
        next = head_of(s)->head.slab;
        free(s);
    }
    for (int large = 0; large < 2; large++)
        for (kmm__index_t *x = index_of(p, large), *smaller; x; x = smaller) {
            smaller = x->smaller;
            free(x);
        }
}
