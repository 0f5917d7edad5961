/* SPDX-License-Identifier: Apache-2.0 */
/* Records live allocations and where they were made. */
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "resource/adaptor.h"
#include "resource/table.h"

typedef struct entry {
    kmm_tracked_t tracked;
    struct entry *older, *newer;
} entry_t;

typedef struct tracking {
    kmm_resource_t head;
    kmm_track_t track;
    kmm__table_t table;   /* address -> entry_t */
    pthread_mutex_t lock; /* guards the list */
    entry_t *oldest, *newest;
    size_t count;
} tracking_t;

static void list_add(tracking_t *t, entry_t *e)
{
    pthread_mutex_lock(&t->lock);
    e->older = t->newest;
    if (t->newest)
        t->newest->newer = e;
    else
        t->oldest = e;
    t->newest = e;
    t->count++;
    pthread_mutex_unlock(&t->lock);
}

static void list_remove(tracking_t *t, entry_t *e)
{
    pthread_mutex_lock(&t->lock);
    if (e->older)
        e->older->newer = e->newer;
    else
        t->oldest = e->newer;
    if (e->newer)
        e->newer->older = e->older;
    else
        t->newest = e->older;
    t->count--;
    pthread_mutex_unlock(&t->lock);
}

static int tracking_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                             void **out)
{
    tracking_t *t = (tracking_t *)r;
    entry_t *e = calloc(1, sizeof(*e));
    if (!e)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory to record an allocation",
                                  r->name);
    int status = kmm_resource_allocate(r->upstream, bytes, alignment, stream, out);
    if (status == 0 && kmm__table_put(&t->table, *out, e)) {
        kmm__resource_give_back(r->upstream, *out, bytes, stream);
        *out = NULL;
        status =
            kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory to record an allocation", r->name);
    }
    if (status) {
        free(e);
        return status;
    }
    e->tracked.p = *out;
    e->tracked.bytes = bytes;
    e->tracked.stream = stream;
    if (t->track == KMM_TRACK_STACKS)
        e->tracked.depth = backtrace(e->tracked.stack, KMM_TRACK_DEPTH);
    list_add(t, e);
    return 0;
}

static int tracking_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    tracking_t *t = (tracking_t *)r;
    entry_t *e = kmm__table_take(&t->table, p);
    if (!e)
        return kmm__resource_fail(
            KMM_E_ADDRESS, "%s: %p is not outstanding (freed twice, or not from here)", r->name, p);
    int status = kmm__resource_give_back(r->upstream, p, bytes, stream);
    if (status) {
        kmm__table_put(&t->table, p, e); /* cannot fail: the entry has just become free */
        return status;
    }
    list_remove(t, e);
    free(e);
    return 0;
}

static int tracking_destroy(kmm_resource_t *r)
{
    tracking_t *t = (tracking_t *)r;
    size_t left = t->count;
    for (entry_t *e = t->oldest, *newer; e; e = newer) {
        newer = e->newer;
        free(e);
    }
    kmm__table_deinit(&t->table);
    pthread_mutex_destroy(&t->lock);
    int status =
        left ? kmm__resource_fail(KMM_E_STATE, "%s: %zu allocations were left", r->name, left) : 0;
    free(t);
    return status;
}

static const kmm__resource_ops_t tracking_ops = {
    .allocate = tracking_allocate,
    .deallocate = tracking_deallocate,
    .size = kmm__pass_size,
    .usage = kmm__pass_usage,
    .destroy = tracking_destroy,
};

KMM__API int kmm_tracking_resource_create(kmm_resource_t *upstream, kmm_track_t track,
                                          kmm_resource_t **out)
{
    int status = kmm__adaptor_create(&tracking_ops, "tracking", sizeof(tracking_t), upstream, out);
    if (status)
        return status;
    tracking_t *t = (tracking_t *)*out;
    kmm__table_init(&t->table);
    pthread_mutex_init(&t->lock, NULL);
    t->track = track;
    return 0;
}

KMM__API int64_t kmm_tracking_outstanding(kmm_resource_t *r, kmm_tracked_t *out, size_t capacity)
{
    if (!r || r->ops != &tracking_ops || (!out && capacity))
        return kmm__resource_fail(KMM_E_INVALID,
                                  "tracking: no tracking resource, or nowhere to put allocations");
    tracking_t *t = (tracking_t *)r;
    size_t i = 0;
    pthread_mutex_lock(&t->lock);
    for (const entry_t *e = t->oldest; e && i < capacity; e = e->newer)
        out[i++] = e->tracked;
    int64_t count = (int64_t)t->count;
    pthread_mutex_unlock(&t->lock);
    return count;
}

KMM__API int kmm_tracking_print(kmm_resource_t *r, int fd)
{
    if (!r || r->ops != &tracking_ops || fd < 0)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "tracking_print: no tracking resource, or no file");
    tracking_t *t = (tracking_t *)r;
    int wrong = 0;
    pthread_mutex_lock(&t->lock);
    for (const entry_t *e = t->oldest; e; e = e->newer) {
        wrong |= dprintf(fd, "%p: %zu bytes, stream %p\n", e->tracked.p, e->tracked.bytes,
                         e->tracked.stream) < 0;
        backtrace_symbols_fd(e->tracked.stack, e->tracked.depth, fd);
    }
    pthread_mutex_unlock(&t->lock);
    return wrong ? kmm__resource_fail(KMM_E_IO, "%s: allocations could not be printed", r->name)
                 : 0;
}
