/* SPDX-License-Identifier: Apache-2.0 */
/* Sources. Each allocation has a record, found by its address, so that a wrong free is reported.
 * Memory is over-allocated where the outside does not align it enough. */
#include "resource/source.h"

#include <stdlib.h>

typedef struct kmm__source_record {
    void *base;           /* address that the driver or the operating system returned */
    _Atomic size_t bytes; /* bytes of the request */
    size_t taken;         /* bytes that were taken from the driver or the operating system */
    struct kmm__source_record *next;
} record_t;

static record_t *record_get(kmm__source_t *s)
{
    pthread_mutex_lock(&s->lock);
    record_t *r = s->spare;
    if (r)
        s->spare = r->next;
    pthread_mutex_unlock(&s->lock);
    r = r ? r : calloc(1, sizeof(*r));
    if (!r)
        kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory to record an allocation",
                           s->head.name);
    return r;
}

static void record_end(kmm__source_t *s, record_t *r)
{
    pthread_mutex_lock(&s->lock);
    r->next = s->spare;
    s->spare = r;
    pthread_mutex_unlock(&s->lock);
}

/* Returns memory that could not be recorded. */
static int record_put(kmm__source_t *s, void *p, record_t *record, kmm_stream_t stream)
{
    int status = kmm__table_put(&s->live, p, record);
    if (status == 0)
        return 0;
    s->put(s, record->base, record->taken, stream);
    record_end(s, record);
    return kmm__resource_fail(status, "%s: no host memory to record an allocation", s->head.name);
}

static int source_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                           void **out)
{
    kmm__source_t *s = (kmm__source_t *)r;
    record_t *record = record_get(s);
    if (!record)
        return KMM_E_MEMORY;
    record->bytes = bytes;
    record->taken = alignment > s->alignment ? bytes + alignment - s->alignment : bytes;
    int status = s->get(s, record->taken, stream, &record->base);
    if (status) {
        record_end(s, record);
        return status;
    }
    void *p = (void *)kmm__round_up((size_t)record->base, alignment);
    status = record_put(s, p, record, stream);
    *out = status ? NULL : p;
    return status;
}

int kmm__source_adopt(kmm__source_t *s, void *p, size_t bytes)
{
    record_t *record = record_get(s);
    if (!record) {
        s->put(s, p, bytes, NULL);
        return KMM_E_MEMORY;
    }
    record->base = p;
    record->bytes = record->taken = bytes;
    return record_put(s, p, record, NULL);
}

static int source_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    kmm__source_t *s = (kmm__source_t *)r;
    record_t *record = kmm__table_take(&s->live, p);
    if (!record)
        return kmm__resource_fail(
            KMM_E_ADDRESS, "%s: %p is not allocated (freed twice, or not from here)", r->name, p);
    if (bytes != KMM_SIZE_RECORDED && bytes != record->bytes) {
        size_t right = record->bytes;
        /* Cannot fail: the table has a free entry, the one that was just taken out. */
        kmm__table_put(&s->live, p, record);
        return kmm__resource_fail(KMM_E_INVALID, "%s: %p has %zu bytes, freed with %zu", r->name, p,
                                  right, bytes);
    }
    int status = s->put(s, record->base, record->taken, stream);
    record_end(s, record);
    return status;
}

static int source_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    const record_t *record = kmm__table_find(&((kmm__source_t *)r)->live, p);
    if (!record)
        return kmm__resource_fail(KMM_E_ADDRESS, "%s: %p is not allocated", r->name, p);
    *bytes = record->bytes;
    return 0;
}

static int source_info(kmm_resource_t *r, size_t *available, size_t *total)
{
    kmm__source_t *s = (kmm__source_t *)r;
    if (!s->info)
        return kmm__resource_fail(KMM_E_UNSUPPORTED, "%s: does not know how much memory there is",
                                  r->name);
    return s->info(s, available, total);
}

static int source_trim(kmm_resource_t *r, size_t keep)
{
    kmm__source_t *s = (kmm__source_t *)r;
    return s->trim ? s->trim(s, keep) : 0;
}

static int source_allow(kmm_resource_t *r, int device)
{
    kmm__source_t *s = (kmm__source_t *)r;
    if (!s->allow)
        return kmm__resource_fail(KMM_E_UNSUPPORTED, "%s: devices cannot be given access", r->name);
    return s->allow(s, device);
}

static void free_left_over(void *context, void *value)
{
    kmm__source_t *s = context;
    record_t *record = value;
    s->put(s, record->base, record->taken, NULL);
    record_end(s, record);
}

static int source_destroy(kmm_resource_t *r)
{
    kmm__source_t *s = (kmm__source_t *)r;
    size_t left = kmm__table_count(&s->live);
    kmm__table_each(&s->live, free_left_over, s);
    int status =
        left ? kmm__resource_fail(KMM_E_STATE, "%s: %zu allocations were left", r->name, left) : 0;
    kmm__table_deinit(&s->live);
    for (record_t *record = s->spare, *next; record; record = next) {
        next = record->next;
        free(record);
    }
    pthread_mutex_destroy(&s->lock);
    if (s->close)
        s->close(s);
    free(s);
    return status;
}

static const kmm__resource_ops_t source_ops = {
    .allocate = source_allocate,
    .deallocate = source_deallocate,
    .size = source_size,
    .info = source_info,
    .trim = source_trim,
    .allow = source_allow,
    .destroy = source_destroy,
};

void kmm__source_init(kmm__source_t *s, const char *noun)
{
    kmm__resource_init(&s->head, &source_ops, noun, NULL);
    kmm__table_init(&s->live);
    pthread_mutex_init(&s->lock, NULL);
    s->spare = NULL;
    s->alignment = KMM_RESOURCE_ALIGNMENT;
    s->get = NULL;
    s->put = NULL;
    s->info = NULL;
    s->trim = NULL;
    s->allow = NULL;
    s->close = NULL;
}
