/* SPDX-License-Identifier: Apache-2.0 */
/* A resource with blocks of one size. Each stream has a stack of the blocks that were freed on it,
 * the newest on top. Chunks of blocks come from upstream. A chunk is given back when none of its
 * blocks is live. */
#include <stdlib.h>
#include <string.h>

#include "resource/pressure.h"
#include "resource/table.h"
#include "resource/timeline.h"

typedef struct fixed_stream fixed_stream_t;
typedef struct fixed_chunk fixed_chunk_t;

typedef struct fixed_block {
    void *address;
    size_t asked;          /* bytes of the request; 0: the block is free */
    fixed_stream_t *owner; /* of a free block: the stream whose work may still use it; NULL: none */
    uint64_t epoch;
    struct fixed_block *below; /* the next block on the stack */
    fixed_chunk_t *chunk;
} fixed_block_t;

struct fixed_chunk {
    fixed_chunk_t *next;
    void *memory;
    size_t live;  /* number of live blocks */
    bool leaving; /* the chunk is being given back: its blocks are on no stack, and it is not in the
                     resource's list */
    fixed_block_t blocks[];
};

struct fixed_stream {
    kmm__timeline_t timeline; /* first */
    fixed_block_t *top;
    _Atomic size_t count;
};

typedef struct fixed {
    kmm_resource_t head;
    kmm_fixed_size_options_t options;
    kmm__timelines_t timelines;
    kmm__table_t table; /* address -> block, for all blocks, live or free */
    kmm__lock_t lock;   /* guards all fields below, all blocks and all stacks */
    fixed_block_t *clean;
    fixed_chunk_t *chunks;
    size_t chunk_count, live_bytes, live_count;
    kmm__holder_t holder;
} fixed_t;

static uint64_t epoch_of(fixed_stream_t *s)
{
    kmm__lock_take(&s->timeline.lock);
    uint64_t epoch = s->timeline.epoch;
    kmm__lock_drop(&s->timeline.lock);
    return epoch;
}

static fixed_block_t *pop(fixed_block_t **top)
{
    fixed_block_t *b = *top;
    if (b)
        *top = b->below;
    return b;
}

static fixed_block_t *pop_stream(fixed_stream_t *s)
{
    fixed_block_t *b = pop(&s->top);
    if (b)
        atomic_fetch_sub_explicit(&s->count, 1, memory_order_relaxed);
    return b;
}

static void push(fixed_t *f, fixed_block_t *b)
{
    fixed_block_t **top = b->owner ? &b->owner->top : &f->clean;
    if (b->owner)
        atomic_fetch_add_explicit(&b->owner->count, 1, memory_order_relaxed);
    b->asked = 0;
    b->below = *top;
    *top = b;
}

/* ---- Chunks ---- */

static size_t chunk_bytes(const fixed_t *f)
{
    return f->options.block_bytes * f->options.blocks_per_chunk;
}

static int chunk_map(fixed_t *f, fixed_chunk_t *c, fixed_stream_t *owner)
{
    uint64_t epoch = owner ? epoch_of(owner) : 0;
    for (size_t i = 0; i < f->options.blocks_per_chunk; i++) {
        fixed_block_t *b = &c->blocks[i];
        b->address = (char *)c->memory + i * f->options.block_bytes;
        b->owner = owner;
        b->epoch = epoch;
        b->chunk = c;
        if (kmm__table_put(&f->table, b->address, b)) {
            while (i-- > 0)
                kmm__table_take(&f->table, c->blocks[i].address);
            return KMM_E_MEMORY;
        }
    }
    return 0;
}

/* Puts a chunk on the list, and its blocks on their stacks. The caller holds the lock. */
static void chunk_list(fixed_t *f, fixed_chunk_t *c)
{
    for (size_t i = f->options.blocks_per_chunk; i-- > 0;)
        push(f, &c->blocks[i]);
    c->leaving = false;
    c->next = f->chunks;
    f->chunks = c;
    f->chunk_count++;
}

/* Takes a chunk from upstream. The caller does not hold the lock. */
static int chunk_add(fixed_t *f, fixed_stream_t *s, kmm_stream_t stream)
{
    fixed_chunk_t *c = calloc(1, sizeof(*c) + f->options.blocks_per_chunk * sizeof(c->blocks[0]));
    if (!c)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a chunk", f->head.name);
    int status = kmm_resource_allocate(f->head.upstream, chunk_bytes(f), 0, stream, &c->memory);
    if (status) {
        free(c);
        return status;
    }
    kmm__lock_take(&f->lock);
    status = chunk_map(f, c, f->head.upstream->ordered ? s : NULL);
    if (status == 0)
        chunk_list(f, c);
    kmm__lock_drop(&f->lock);
    if (status) {
        kmm__resource_fail(status, "%s: no host memory to record a chunk", f->head.name);
        kmm__resource_give_back(f->head.upstream, c->memory, chunk_bytes(f), stream);
        free(c);
    }
    return status;
}

/* Takes a chunk from upstream. If upstream has no more memory, other resources first give back what
 * they do not use. */
static int chunk_get(fixed_t *f, fixed_stream_t *s, kmm_stream_t stream)
{
    int status = chunk_add(f, s, stream);
    if (status != KMM_E_MEMORY)
        return status;
    kmm__pressure(&f->head, KMM__PRESS_ALL);
    return chunk_add(f, s, stream);
}

/* Takes the blocks of leaving chunks off a stack. Returns their number. The caller holds the lock.
 */
static size_t stack_filter(fixed_block_t **top)
{
    size_t gone = 0;
    while (*top)
        if ((*top)->chunk->leaving) {
            *top = (*top)->below;
            gone++;
        } else {
            top = &(*top)->below;
        }
    return gone;
}

static void stacks_filter(fixed_t *f)
{
    stack_filter(&f->clean);
    for (kmm__timeline_t *t = atomic_load(&f->timelines.all); t; t = t->next) {
        size_t gone = stack_filter(&((fixed_stream_t *)t)->top);
        atomic_fetch_sub_explicit(&((fixed_stream_t *)t)->count, gone, memory_order_relaxed);
    }
}

/* Takes chunks without live blocks off the resource, until its chunks have at most `keep` bytes.
 * Returns them as a list. The caller holds the lock. */
static fixed_chunk_t *chunks_detach(fixed_t *f, size_t keep)
{
    fixed_chunk_t *detached = NULL, **at = &f->chunks;
    while (*at && f->chunk_count * chunk_bytes(f) > keep) {
        fixed_chunk_t *c = *at;
        if (c->live) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->leaving = true;
        c->next = detached;
        detached = c;
        f->chunk_count--;
    }
    if (detached)
        stacks_filter(f);
    return detached;
}

/* Gives a detached chunk back when the work that may use it is done. If that work cannot be
 * awaited, puts the chunk back on the list. */
static int chunk_end(fixed_t *f, fixed_chunk_t *c)
{
    int status = 0;
    for (size_t i = 0; i < f->options.blocks_per_chunk && status == 0; i++)
        if (c->blocks[i].owner)
            status = kmm__timeline_settle(&f->timelines, &c->blocks[i].owner->timeline,
                                          c->blocks[i].epoch);
    kmm__lock_take(&f->lock);
    if (status)
        chunk_list(f, c);
    for (size_t i = 0; i < f->options.blocks_per_chunk && status == 0; i++)
        kmm__table_take(&f->table, c->blocks[i].address);
    kmm__lock_drop(&f->lock);
    if (status)
        return status;
    status = kmm__resource_give_back(f->head.upstream, c->memory, chunk_bytes(f), NULL);
    free(c);
    return status;
}

/* ---- Blocks; the caller holds the lock ---- */

/* Takes a block of another stream. A block whose work is done is preferred; otherwise this stream
 * waits for the other one. */
static fixed_block_t *take_other(fixed_t *f, fixed_stream_t *s)
{
    fixed_stream_t *waiting = NULL;
    for (kmm__timeline_t *t = atomic_load(&f->timelines.all); t; t = t->next) {
        fixed_stream_t *other = (fixed_stream_t *)t;
        if (!other->top)
            continue;
        if (kmm__timeline_poll(&f->timelines, t, other->top->epoch) >= other->top->epoch)
            return pop_stream(other);
        waiting = other;
    }
    if (!waiting ||
        kmm__timeline_after(&f->timelines, &s->timeline, &waiting->timeline, waiting->top->epoch))
        return NULL;
    return pop_stream(waiting);
}

static fixed_block_t *take_ready(fixed_t *f, fixed_stream_t *s)
{
    fixed_block_t *b = f->head.order ? pop_stream(s) : NULL;
    return b ? b : pop(&f->clean);
}

static void mark_live(fixed_t *f, fixed_block_t *b, size_t bytes)
{
    b->asked = bytes;
    b->chunk->live++;
    f->live_bytes += bytes;
    f->live_count++;
}

static int fixed_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                          void **out)
{
    fixed_t *f = (fixed_t *)r;
    if (bytes > f->options.block_bytes)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: %zu bytes are more than a block of %zu",
                                  r->name, bytes, f->options.block_bytes);
    if (alignment > KMM_RESOURCE_ALIGNMENT)
        return kmm__resource_fail(KMM_E_UNSUPPORTED, "%s: blocks are aligned to 256, not to %zu",
                                  r->name, alignment);
    fixed_stream_t *s = (fixed_stream_t *)kmm__timeline_of(&f->timelines, stream);
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a stream", r->name);
    int status = 0;
    for (;;) {
        kmm__lock_take(&f->lock);
        fixed_block_t *b = take_ready(f, s);
        if (!b && f->head.order)
            b = take_other(f, s);
        if (b) {
            mark_live(f, b, bytes);
            *out = b->address;
        }
        kmm__lock_drop(&f->lock);
        if (b)
            return 0;
        if ((status = chunk_get(f, s, stream)))
            return status;
    }
}

/* Finds the live block at an address. An error says why there is none. The caller holds the lock.
 */
static int find_live(fixed_t *f, const void *p, size_t bytes, fixed_block_t **out)
{
    fixed_block_t *b = kmm__table_find(&f->table, p);
    if (!b)
        return kmm__resource_fail(KMM_E_ADDRESS, "%s: %p was not allocated here", f->head.name, p);
    if (b->asked == 0)
        return kmm__resource_fail(KMM_E_ADDRESS, "%s: %p has been freed already", f->head.name, p);
    if (bytes != KMM_SIZE_RECORDED && bytes != b->asked)
        return kmm__resource_fail(KMM_E_INVALID, "%s: %p has %zu bytes, freed with %zu",
                                  f->head.name, p, b->asked, bytes);
    *out = b;
    return 0;
}

static int fixed_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    fixed_t *f = (fixed_t *)r;
    fixed_stream_t *s = (fixed_stream_t *)kmm__timeline_of(&f->timelines, stream);
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a stream", r->name);
    fixed_block_t *b = NULL;
    kmm__lock_take(&f->lock);
    int status = find_live(f, p, bytes, &b);
    if (status == 0) {
        f->live_bytes -= b->asked;
        f->live_count--;
        b->chunk->live--;
        b->owner = r->order ? s : NULL;
        b->epoch = epoch_of(s);
        push(f, b);
    }
    kmm__lock_drop(&f->lock);
    return status;
}

static int fixed_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    fixed_t *f = (fixed_t *)r;
    fixed_block_t *b = NULL;
    kmm__lock_take(&f->lock);
    int status = find_live(f, p, KMM_SIZE_RECORDED, &b);
    if (status == 0)
        *bytes = b->asked;
    kmm__lock_drop(&f->lock);
    return status;
}

static int fixed_usage(kmm_resource_t *r, kmm_resource_usage_t *out)
{
    fixed_t *f = (fixed_t *)r;
    kmm__lock_take(&f->lock);
    out->live_bytes = f->live_bytes;
    out->live_count = f->live_count;
    out->regions = f->chunk_count;
    out->held_bytes = out->extent_bytes = f->chunk_count * chunk_bytes(f);
    kmm__lock_drop(&f->lock);
    out->waits = atomic_load(&f->timelines.waits);
    out->events = atomic_load(&f->timelines.events);
    return 0;
}

static int fixed_trim(kmm_resource_t *r, size_t keep)
{
    fixed_t *f = (fixed_t *)r;
    int status = 0;
    kmm__lock_take(&f->lock);
    fixed_chunk_t *c = chunks_detach(f, keep);
    kmm__lock_drop(&f->lock);
    for (fixed_chunk_t *next; c; c = next) {
        next = c->next;
        int one = chunk_end(f, c);
        status = status ? status : one;
    }
    return status;
}

static int fixed_stream_end(kmm_resource_t *r, kmm_stream_t stream)
{
    fixed_t *f = (fixed_t *)r;
    kmm__lock_take(&f->lock);
    int status = kmm__timeline_end(&f->timelines, stream);
    kmm__lock_drop(&f->lock);
    if (status)
        return kmm__resource_fail(status, "%s: no event could be recorded on a stream that ends",
                                  r->name);
    return kmm_resource_stream_end(r->upstream, stream);
}

static bool fixed_holds(kmm_resource_t *r, const void *p)
{
    fixed_t *f = (fixed_t *)r;
    bool held = false;
    kmm__lock_take(&f->lock);
    for (const fixed_chunk_t *c = f->chunks; c && !held; c = c->next)
        held = c->memory == p;
    kmm__lock_drop(&f->lock);
    return held;
}

static bool stream_is_idle(kmm__timeline_t *t)
{
    return atomic_load_explicit(&((fixed_stream_t *)t)->count, memory_order_relaxed) == 0;
}

static int fixed_destroy(kmm_resource_t *r)
{
    fixed_t *f = (fixed_t *)r;
    kmm__holder_remove(&f->holder);
    for (kmm__timeline_t *t = atomic_load(&f->timelines.all); t && r->order; t = t->next)
        if (((fixed_stream_t *)t)->top)
            kmm__timeline_settle(&f->timelines, t, ((fixed_stream_t *)t)->top->epoch);
    int status = f->live_count ? kmm__resource_fail(KMM_E_STATE, "%s: %zu allocations were left",
                                                    r->name, f->live_count)
                               : 0;
    for (fixed_chunk_t *c = f->chunks, *next; c; c = next) {
        next = c->next;
        kmm__resource_give_back(r->upstream, c->memory, chunk_bytes(f), NULL);
        free(c);
    }
    kmm__timelines_deinit(&f->timelines);
    kmm__table_deinit(&f->table);
    free(f);
    return status;
}

static const kmm__resource_ops_t fixed_ops = {
    .allocate = fixed_allocate,
    .deallocate = fixed_deallocate,
    .size = fixed_size,
    .trim = fixed_trim,
    .stream_end = fixed_stream_end,
    .usage = fixed_usage,
    .holds = fixed_holds,
    .destroy = fixed_destroy,
};

static int options_init(kmm_fixed_size_options_t *o, const kmm_fixed_size_options_t *given)
{
    *o = given ? *given : (kmm_fixed_size_options_t){0};
    o->block_bytes = o->block_bytes ? o->block_bytes : (size_t)1 << 20;
    o->blocks_per_chunk = o->blocks_per_chunk ? o->blocks_per_chunk : 128;
    if (o->initial_chunks == 0)
        o->initial_chunks = 1;
    else if (o->initial_chunks == SIZE_MAX)
        o->initial_chunks = 0;
    if (o->block_bytes <= PTRDIFF_MAX / 2) {
        o->block_bytes = kmm__round_up(o->block_bytes, KMM_RESOURCE_ALIGNMENT);
        if (o->blocks_per_chunk <= PTRDIFF_MAX / 2 / o->block_bytes &&
            o->blocks_per_chunk <= PTRDIFF_MAX / 2 / sizeof(fixed_block_t))
            return 0;
    }
    return kmm__resource_fail(KMM_E_INVALID, "fixed_size: a chunk of %zu times %zu bytes",
                              o->blocks_per_chunk, o->block_bytes);
}

KMM__API int kmm_fixed_size_resource_create(kmm_resource_t *upstream,
                                            const kmm_fixed_size_options_t *options,
                                            kmm_resource_t **out)
{
    kmm_fixed_size_options_t o;
    if (!upstream || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "fixed_size: no upstream, or nowhere to put the resource");
    int status = options_init(&o, options);
    if (status)
        return status;
    size_t bytes = kmm__round_up(sizeof(fixed_t), 64);
    fixed_t *f = aligned_alloc(64, bytes);
    if (!f)
        return kmm__resource_fail(KMM_E_MEMORY, "fixed_size: no host memory for the resource");
    memset(f, 0, bytes);
    f->options = o;
    kmm__resource_init(&f->head, &fixed_ops, "fixed_size", upstream);
    f->head.ordered = f->head.order != NULL;
    kmm__table_init(&f->table);
    kmm__timelines_init(&f->timelines, f->head.order, sizeof(fixed_stream_t), stream_is_idle, NULL);
    kmm__holder_add(&f->holder, &f->head);
    fixed_stream_t *s = (fixed_stream_t *)kmm__timeline_of(&f->timelines, NULL);
    status = s ? 0 : KMM_E_MEMORY;
    for (size_t i = 0; i < o.initial_chunks && status == 0; i++)
        status = chunk_get(f, s, NULL);
    if (status)
        fixed_destroy(&f->head);
    else
        *out = &f->head;
    return status;
}
