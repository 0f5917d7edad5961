/* SPDX-License-Identifier: Apache-2.0 */
/* One call at a time. */
#include <pthread.h>
#include <stdlib.h>

#include "resource/resource.h"

typedef struct locked {
    kmm_resource_t head;
    pthread_mutex_t
        lock; /* recursive: a pool upstream may give memory of a pool above back under pressure */
} locked_t;

static int locked_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                           void **out)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    int status = kmm_resource_allocate(r->upstream, bytes, alignment, stream, out);
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    int status = kmm_resource_deallocate(r->upstream, p, bytes, stream);
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    int status = kmm_resource_size(r->upstream, p, bytes);
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_info(kmm_resource_t *r, size_t *available, size_t *total)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    int status = kmm_resource_memory_info(r->upstream, available, total);
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_trim(kmm_resource_t *r, size_t keep)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    int status = kmm_resource_trim(r->upstream, keep);
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_stream_end(kmm_resource_t *r, kmm_stream_t stream)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    int status = kmm_resource_stream_end(r->upstream, stream);
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_allow(kmm_resource_t *r, int device)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    int status = kmm_resource_allow(r->upstream, device);
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_destroy(kmm_resource_t *r)
{
    pthread_mutex_destroy(&((locked_t *)r)->lock);
    free(r);
    return 0;
}

static const kmm__resource_ops_t locked_ops = {
    .allocate = locked_allocate,
    .deallocate = locked_deallocate,
    .size = locked_size,
    .info = locked_info,
    .trim = locked_trim,
    .stream_end = locked_stream_end,
    .allow = locked_allow,
    .usage = kmm__pass_usage,
    .destroy = locked_destroy,
};

KMM__API int kmm_thread_safe_resource_create(kmm_resource_t *upstream, kmm_resource_t **out)
{
    if (!upstream || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "thread_safe: no upstream, or nowhere to put the resource");
    locked_t *l = calloc(1, sizeof(*l));
    if (!l)
        return kmm__resource_fail(KMM_E_MEMORY, "thread_safe: no host memory for the resource");
    kmm__resource_init(&l->head, &locked_ops, "thread_safe", upstream);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&l->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    *out = &l->head;
    return 0;
}
