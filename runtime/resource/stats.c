/* SPDX-License-Identifier: Apache-2.0 */
/* Counts bytes and allocations in nested scopes: current, maximum and total. */
#include <pthread.h>
#include <stdlib.h>

#include "resource/ledger.h"

typedef struct statistics {
    kmm__ledger_t ledger;
    pthread_mutex_t lock;
    kmm_statistics_t *scopes; /* outermost first; a scope counts since it was pushed */
    size_t depth, capacity;
} statistics_t;

static void counter_add(kmm_counter_t *c, int64_t n)
{
    c->current += n;
    if (n > 0)
        c->total += n;
    if (c->peak < c->current)
        c->peak = c->current;
}

static void count(statistics_t *s, int64_t bytes, int64_t n)
{
    pthread_mutex_lock(&s->lock);
    counter_add(&s->scopes[s->depth - 1].bytes, bytes);
    counter_add(&s->scopes[s->depth - 1].count, n);
    pthread_mutex_unlock(&s->lock);
}

static int statistics_allocate(kmm_resource_t *r, size_t bytes, size_t alignment,
                               kmm_stream_t stream, void **out)
{
    statistics_t *s = (statistics_t *)r;
    int status = kmm__ledger_allocate(r, bytes, alignment, stream, out);
    if (status == 0)
        count(s, (int64_t)bytes, 1);
    return status;
}

static int statistics_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    statistics_t *s = (statistics_t *)r;
    size_t size;
    int status = kmm__ledger_give_back(r, p, bytes, stream, &size);
    if (status == 0)
        count(s, -(int64_t)size, -1);
    return status;
}

static int statistics_destroy(kmm_resource_t *r)
{
    statistics_t *s = (statistics_t *)r;
    pthread_mutex_destroy(&s->lock);
    free(s->scopes);
    return kmm__ledger_destroy(r);
}

static const kmm__resource_ops_t statistics_ops = {
    .allocate = statistics_allocate,
    .deallocate = statistics_deallocate,
    .size = kmm__ledger_size,
    .usage = kmm__pass_usage,
    .destroy = statistics_destroy,
};

KMM__API int kmm_statistics_resource_create(kmm_resource_t *upstream, kmm_resource_t **out)
{
    kmm_statistics_t *scopes = calloc(8, sizeof(*scopes));
    if (!scopes)
        return kmm__resource_fail(KMM_E_MEMORY, "statistics: no host memory for the resource");
    int status =
        kmm__adaptor_create(&statistics_ops, "statistics", sizeof(statistics_t), upstream, out);
    if (status) {
        free(scopes);
        return status;
    }
    statistics_t *s = (statistics_t *)*out;
    pthread_mutex_init(&s->lock, NULL);
    s->scopes = scopes;
    s->capacity = 8;
    s->depth = 1;
    return 0;
}

static statistics_t *checked(kmm_resource_t *r)
{
    if (r && r->ops == &statistics_ops)
        return (statistics_t *)r;
    kmm__resource_fail(KMM_E_INVALID, "statistics: no statistics resource, or nowhere to put them");
    return NULL;
}

KMM__API int kmm_statistics_get(kmm_resource_t *r, kmm_statistics_t *out)
{
    statistics_t *s = checked(out ? r : NULL);
    if (!s)
        return KMM_E_INVALID;
    pthread_mutex_lock(&s->lock);
    *out = s->scopes[s->depth - 1];
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static bool reserve(statistics_t *s)
{
    if (s->depth < s->capacity)
        return true;
    kmm_statistics_t *scopes = realloc(s->scopes, 2 * s->capacity * sizeof(*scopes));
    if (!scopes)
        return false;
    s->scopes = scopes;
    s->capacity *= 2;
    return true;
}

KMM__API int kmm_statistics_push(kmm_resource_t *r)
{
    statistics_t *s = checked(r);
    if (!s)
        return KMM_E_INVALID;
    pthread_mutex_lock(&s->lock);
    bool fits = reserve(s);
    if (fits)
        s->scopes[s->depth++] = (kmm_statistics_t){0};
    pthread_mutex_unlock(&s->lock);
    return fits ? 0 : kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a scope", r->name);
}

/* Adds an inner scope's counts to the outer one. When the inner scope began, outer->current was
 * what it is now. */
static void counter_merge(kmm_counter_t *outer, const kmm_counter_t *inner)
{
    if (outer->peak < outer->current + inner->peak)
        outer->peak = outer->current + inner->peak;
    outer->current += inner->current;
    outer->total += inner->total;
}

KMM__API int kmm_statistics_pop(kmm_resource_t *r, kmm_statistics_t *out)
{
    statistics_t *s = checked(r);
    if (!s)
        return KMM_E_INVALID;
    pthread_mutex_lock(&s->lock);
    bool nested = s->depth > 1;
    if (nested) {
        const kmm_statistics_t *inner = &s->scopes[--s->depth];
        counter_merge(&s->scopes[s->depth - 1].bytes, &inner->bytes);
        counter_merge(&s->scopes[s->depth - 1].count, &inner->count);
        if (out)
            *out = *inner;
    }
    pthread_mutex_unlock(&s->lock);
    return nested ? 0 : kmm__resource_fail(KMM_E_STATE, "%s: pop without push", r->name);
}
