/* SPDX-License-Identifier: Apache-2.0 */
/* Lets one thread at a time call upstream. */
#include <pthread.h>
#include <stdlib.h>

#include "resource/adaptor.h"

typedef struct locked {
    kmm_resource_t head;
    pthread_mutex_t lock; /* recursive: under memory pressure a pool upstream may free memory
                             through this resource */
} locked_t;

/* Takes the lock. Returns upstream. */
static kmm_resource_t *enter(kmm_resource_t *r)
{
    pthread_mutex_lock(&((locked_t *)r)->lock);
    return r->upstream;
}

/* Releases the lock. Returns the status of the call upstream. */
static int leave(kmm_resource_t *r, int status)
{
    pthread_mutex_unlock(&((locked_t *)r)->lock);
    return status;
}

static int locked_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                           void **out)
{
    return leave(r, kmm_resource_allocate(enter(r), bytes, alignment, stream, out));
}

static int locked_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    return leave(r, kmm_resource_deallocate(enter(r), p, bytes, stream));
}

static int locked_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    return leave(r, kmm_resource_size(enter(r), p, bytes));
}

static int locked_info(kmm_resource_t *r, size_t *available, size_t *total)
{
    return leave(r, kmm_resource_memory_info(enter(r), available, total));
}

static int locked_trim(kmm_resource_t *r, size_t keep)
{
    return leave(r, kmm_resource_trim(enter(r), keep));
}

static int locked_stream_end(kmm_resource_t *r, kmm_stream_t stream)
{
    return leave(r, kmm_resource_stream_end(enter(r), stream));
}

static int locked_allow(kmm_resource_t *r, int device)
{
    return leave(r, kmm_resource_allow(enter(r), device));
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
    int status = kmm__adaptor_create(&locked_ops, "thread_safe", sizeof(locked_t), upstream, out);
    if (status)
        return status;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&((locked_t *)*out)->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return 0;
}
