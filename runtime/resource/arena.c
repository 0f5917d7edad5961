/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: one pool for each stream or thread, built on one shared pool that supplies larger
 * pieces. A request that is a large part of a piece goes directly to the shared pool, since it
 * would leave much of its piece unused. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resource/table.h"
#include "resource/timeline.h"

typedef struct arena_child {
    struct arena_child *next;
    uint64_t key;
    kmm_resource_t *pool;
} arena_child_t;

enum { BUCKETS = 64, THREAD_KEYS = 64, LARGE_PART = 8 };

typedef struct arena {
    kmm_resource_t head;
    kmm_arena_options_t options;
    kmm_resource_t *parent;
    kmm__table_t owners;  /* live address -> the pool that has allocated it */
    pthread_mutex_t lock; /* held to add children */
    _Atomic(arena_child_t *) children[BUCKETS];
} arena_t;

static uint64_t key_of(const arena_t *a, kmm_stream_t stream)
{
    /* Without an order of streams, and with the one handle that means each thread's own stream, the
     * stream says nothing: then the thread is the key. Thread numbers wrap around, so many threads
     * share a bounded number of arenas. */
    if (a->options.key == KMM_ARENA_PER_THREAD || !a->head.order || (uintptr_t)stream == 2)
        return kmm__thread_number() % THREAD_KEYS << 1 | 1;
    return (uint64_t)(uintptr_t)stream << 1;
}

static _Atomic(arena_child_t *) *bucket_of(arena_t *a, uint64_t key)
{
    return &a->children[key * 0x9E3779B97F4A7C15u >> 58];
}

static arena_child_t *find(arena_t *a, uint64_t key)
{
    arena_child_t *c = atomic_load_explicit(bucket_of(a, key), memory_order_acquire);
    while (c && c->key != key)
        c = c->next;
    return c;
}

/* The caller holds the lock. */
static arena_child_t *add(arena_t *a, uint64_t key)
{
    arena_child_t *c = find(a, key);
    if (c)
        return c;
    c = calloc(1, sizeof(*c));
    kmm_pool_options_t options = {.growth_bytes = a->options.arena_bytes};
    if (!c || kmm_pool_resource_create(a->parent, &options, &c->pool)) {
        free(c);
        return NULL;
    }
    c->key = key;
    c->next = atomic_load_explicit(bucket_of(a, key), memory_order_relaxed);
    atomic_store_explicit(bucket_of(a, key), c, memory_order_release);
    return c;
}

static arena_child_t *child_of(arena_t *a, kmm_stream_t stream)
{
    uint64_t key = key_of(a, stream);
    arena_child_t *c = find(a, key);
    if (c)
        return c;
    pthread_mutex_lock(&a->lock);
    c = add(a, key);
    pthread_mutex_unlock(&a->lock);
    return c;
}

static int each_child(arena_t *a, int (*fn)(kmm_resource_t *, void *), void *argument)
{
    int status = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (arena_child_t *c = atomic_load_explicit(&a->children[i], memory_order_acquire); c;
             c = c->next) {
            int one = fn(c->pool, argument);
            status = status ? status : one;
        }
    return status;
}

static int trim_one(kmm_resource_t *r, void *keep)
{
    return kmm_resource_trim(r, *(size_t *)keep);
}
static int end_one(kmm_resource_t *r, void *stream)
{
    return kmm_resource_stream_end(r, stream);
}

/* Allocates from a pool. If memory has run out, all arenas first give back what they do not use. */
static int allocate_from(arena_t *a, kmm_resource_t *pool, size_t bytes, size_t alignment,
                         kmm_stream_t stream, void **out)
{
    int status = kmm_resource_allocate(pool, bytes, alignment, stream, out);
    if (status != KMM_E_MEMORY)
        return status;
    size_t none = 0;
    each_child(a, trim_one, &none);
    return kmm_resource_allocate(pool, bytes, alignment, stream, out);
}

/* Returns the pool that serves a request. NULL: the host has no memory for an arena. */
static kmm_resource_t *pool_for(arena_t *a, size_t bytes, kmm_stream_t stream)
{
    if (bytes > a->options.arena_bytes / LARGE_PART)
        return a->parent;
    arena_child_t *c = child_of(a, stream);
    return c ? c->pool : NULL;
}

static int arena_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                          void **out)
{
    arena_t *a = (arena_t *)r;
    kmm_resource_t *pool = pool_for(a, bytes, stream);
    if (!pool)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for an arena", r->name);
    int status = allocate_from(a, pool, bytes, alignment, stream, out);
    if (status)
        return status;
    status = kmm__table_put(&a->owners, *out, pool);
    if (status) {
        kmm__resource_give_back(pool, *out, bytes, stream);
        *out = NULL;
        return kmm__resource_fail(status, "%s: no host memory to record an allocation", r->name);
    }
    return 0;
}

static int arena_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    arena_t *a = (arena_t *)r;
    kmm_resource_t *pool = kmm__table_take(&a->owners, p);
    if (!pool)
        return kmm__resource_fail(
            KMM_E_ADDRESS, "%s: %p is not allocated (freed twice, or not from here)", r->name, p);
    size_t right;
    if (bytes != KMM_SIZE_RECORDED && kmm_resource_size(pool, p, &right) == 0 && right != bytes) {
        kmm__table_put(&a->owners, p, pool); /* cannot fail: the entry has just become free */
        return kmm__resource_fail(KMM_E_INVALID, "%s: %p has %zu bytes, freed with %zu", r->name, p,
                                  right, bytes);
    }
    /* The parent need not be asked whether it holds p: each arena is built on it. */
    return kmm__resource_give_back(pool, p, bytes, stream);
}

static int arena_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    kmm_resource_t *pool = kmm__table_find(&((arena_t *)r)->owners, p);
    if (!pool)
        return kmm__resource_fail(KMM_E_ADDRESS, "%s: %p is not allocated", r->name, p);
    return kmm_resource_size(pool, p, bytes);
}

static int arena_trim(kmm_resource_t *r, size_t keep)
{
    arena_t *a = (arena_t *)r;
    size_t none = 0;
    int status = each_child(a, trim_one, &none);
    int parent = kmm_resource_trim(a->parent, keep);
    return status ? status : parent;
}

static int arena_stream_end(kmm_resource_t *r, kmm_stream_t stream)
{
    int status = each_child((arena_t *)r, end_one, stream);
    int parent = kmm_resource_stream_end(((arena_t *)r)->parent, stream);
    return status ? status : parent;
}

static int add_usage(kmm_resource_t *r, void *sum)
{
    kmm_resource_usage_t one, *all = sum;
    int status = kmm_resource_usage(r, &one);
    all->live_bytes += one.live_bytes;
    all->live_count += one.live_count;
    all->held_bytes += one.held_bytes;
    all->regions += one.regions;
    all->waits += one.waits;
    all->events += one.events;
    return status;
}

/* Adds up the usage. What arenas hold is live in the parent; what is live in the arenas counts
 * instead. */
static int arena_usage(kmm_resource_t *r, kmm_resource_usage_t *out)
{
    arena_t *a = (arena_t *)r;
    kmm_resource_usage_t children = {0};
    int status = kmm_resource_usage(a->parent, out);
    int one = each_child(a, add_usage, &children);
    out->live_bytes += children.live_bytes - children.held_bytes;
    out->live_count += children.live_count - children.regions;
    out->waits += children.waits;
    out->events += children.events;
    return status ? status : one;
}

/* Unused memory of the arenas counts as available, since it is given back before memory runs out.
 */
static int arena_info(kmm_resource_t *r, size_t *available, size_t *total)
{
    arena_t *a = (arena_t *)r;
    kmm_resource_usage_t children = {0};
    int status = kmm_resource_memory_info(a->parent, available, total);
    if (status)
        return status;
    each_child(a, add_usage, &children);
    *available += children.held_bytes - children.live_bytes;
    *available = *available < *total ? *available
                                     : *total; /* other threads may allocate between the calls */
    return 0;
}

static int arena_destroy(kmm_resource_t *r)
{
    arena_t *a = (arena_t *)r;
    int status = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (arena_child_t *c = a->children[i], *next; c; c = next) {
            next = c->next;
            int one = kmm_resource_destroy(c->pool);
            status = status ? status : one;
            free(c);
        }
    int one = kmm_resource_destroy(a->parent);
    kmm__table_deinit(&a->owners);
    pthread_mutex_destroy(&a->lock);
    free(a);
    return status ? status : one;
}

static const kmm__resource_ops_t arena_ops = {
    .allocate = arena_allocate,
    .deallocate = arena_deallocate,
    .size = arena_size,
    .info = arena_info,
    .trim = arena_trim,
    .stream_end = arena_stream_end,
    .usage = arena_usage,
    .destroy = arena_destroy,
};

KMM__API int kmm_arena_resource_create(kmm_resource_t *upstream, const kmm_arena_options_t *options,
                                       kmm_resource_t **out)
{
    if (!upstream || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "arena: no upstream, or nowhere to put the resource");
    if (options && (options->arena_bytes > PTRDIFF_MAX ||
                    (options->key != KMM_ARENA_PER_STREAM && options->key != KMM_ARENA_PER_THREAD)))
        return kmm__resource_fail(KMM_E_INVALID, "arena: a size is absurd, or the key is none");
    size_t bytes = kmm__round_up(sizeof(arena_t), 64);
    arena_t *a = aligned_alloc(64, bytes);
    if (!a)
        return kmm__resource_fail(KMM_E_MEMORY, "arena: no host memory for the resource");
    memset(a, 0, bytes);
    a->options = options ? *options : (kmm_arena_options_t){0};
    if (a->options.arena_bytes == 0)
        a->options.arena_bytes = (size_t)8 << 20;
    kmm_pool_options_t pool = {.initial_bytes = a->options.initial_bytes,
                               .maximum_bytes = a->options.maximum_bytes};
    int status = kmm_pool_resource_create(upstream, &pool, &a->parent);
    if (status) {
        free(a);
        return status;
    }
    kmm__resource_init(&a->head, &arena_ops, "arena", upstream);
    a->head.ordered = a->head.order != NULL;
    kmm__table_init(&a->owners);
    pthread_mutex_init(&a->lock, NULL);
    *out = &a->head;
    return 0;
}
