/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events of a GPU.
 */
#include "backend/gpu/stream.h"

#include <stdlib.h>

#include "backend/gpu/device.h"
#include "base/thread.h"

int kmm__gpu_stream_create(kmm__gpu_t *gpu, kmm__stream_t **out)
{
    kmm__stream_t *s = calloc(1, sizeof(*s));
    if (!s)
        return KMM_E_MEMORY;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = KMM__GPU_TRY(gpu, StreamCreate, (&s->handle, KMM__GPU_STREAM_NON_BLOCKING));
    kmm__gpu_scope_leave(gpu, scope);
    if (error) {
        free(s);
        return error;
    }
    s->gpu = gpu;
    pthread_mutex_lock(&gpu->lock);
    s->next = gpu->streams;
    gpu->streams = s;
    pthread_mutex_unlock(&gpu->lock);
    *out = s;
    return 0;
}

void kmm__gpu_stream_destroy(kmm__stream_t *s)
{
    kmm__gpu_t *gpu = s->gpu;
    pthread_mutex_lock(&gpu->lock);
    /* A notification may wake a thread that destroys the stream before the delivery has returned.
     */
    while (gpu->delivering == s && !pthread_equal(pthread_self(), gpu->watcher))
        kmm__cond_wait(&gpu->delivered, &gpu->lock);
    if (gpu->delivering == s)
        gpu->delivering = NULL;
    kmm__stream_t **at = &gpu->streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pthread_mutex_unlock(&gpu->lock);
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    gpu->calls->StreamDestroy(s->handle);
    kmm__gpu_scope_leave(gpu, scope);
    free(s);
}

void kmm__gpu_streams_free(kmm__gpu_t *gpu)
{
    for (kmm__stream_t *s; (s = gpu->streams);) {
        gpu->streams = s->next;
        free(s);
    }
}

int kmm__gpu_event_create(kmm__gpu_t *gpu, kmm__event_t **out)
{
    kmm__event_t *e = calloc(1, sizeof(*e));
    if (!e)
        return KMM_E_MEMORY;
    e->gpu = gpu;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = KMM__GPU_TRY(gpu, EventCreate, (&e->handle, KMM__GPU_EVENT_DISABLE_TIMING));
    kmm__gpu_scope_leave(gpu, scope);
    if (error)
        free(e);
    else
        *out = e;
    return error;
}

void kmm__gpu_event_destroy(kmm__event_t *e)
{
    const kmm__gpu_t *gpu = e->gpu;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    gpu->calls->EventDestroy(e->handle);
    kmm__gpu_scope_leave(gpu, scope);
    free(e);
}

int kmm__gpu_event_record(kmm__event_t *e, kmm__stream_t *s)
{
    bool entered = kmm__gpu_enter(s->gpu);
    int error = KMM__GPU_TRY(s->gpu, EventRecord, (e->handle, s->handle));
    kmm__gpu_leave(s->gpu, entered);
    return error;
}

int kmm__gpu_stream_wait(kmm__stream_t *s, kmm__event_t *e)
{
    bool entered = kmm__gpu_enter(s->gpu);
    int error = KMM__GPU_TRY(s->gpu, StreamWaitEvent, (s->handle, e->handle, 0));
    kmm__gpu_leave(s->gpu, entered);
    return error;
}

int kmm__gpu_event_query(kmm__event_t *e)
{
    const kmm__gpu_t *gpu = e->gpu;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int r = kmm__gpu_answer(gpu, gpu->calls->EventQuery(e->handle));
    kmm__gpu_scope_leave(gpu, scope);
    return r == KMM__GPU_SUCCESS ? 1
           : r == KMM__GPU_NOT_READY
               ? 0
               : kmm__gpu_result(gpu->driver, r, gpu->driver->names->EventQuery);
}

void kmm__gpu_flush(kmm__stream_t *s)
{
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(s->gpu);
    kmm__gpu_answer(s->gpu, s->gpu->calls->StreamSynchronize(s->handle));
    kmm__gpu_scope_leave(s->gpu, scope);
}
