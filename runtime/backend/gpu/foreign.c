/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own use of a device. */
#include "backend/gpu/foreign.h"

#include <stdlib.h>

#include "backend/gpu/device.h"
#include "backend/gpu/notify.h"
#include "backend/gpu/stream.h"

int kmm__gpu_current(kmm__backend_t *b)
{
    return ((kmm__gpu_backend_t *)b)->driver->current();
}

void *kmm__gpu_native(kmm__stream_t *s)
{
    return s->handle;
}

/* The kmm__stream_t of a stream of the program, made if needed, so that notifications on it are
 * delivered. NULL: no memory. */
static kmm__stream_t *foreign_stream(kmm__gpu_t *gpu, void *native)
{
    pthread_mutex_lock(&gpu->lock);
    kmm__stream_t *s = gpu->streams;
    while (s && !(s->is_foreign && s->handle == native))
        s = s->next;
    if (!s && (s = calloc(1, sizeof(*s)))) {
        *s =
            (kmm__stream_t){.gpu = gpu, .handle = native, .is_foreign = true, .next = gpu->streams};
        gpu->streams = s;
    }
    pthread_mutex_unlock(&gpu->lock);
    return s;
}

/* True if work is on the program's stream, or on a stream that it waits for. A query of a blocking
 * stream does not show that it waits for the default stream, or the default stream for it. An event
 * that is recorded on it does. Errors of the work are not reported here. */
static bool is_busy(kmm__gpu_t *gpu, void *native)
{
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int r = kmm__gpu_answer(gpu, gpu->calls->StreamQuery(native));
    if (r == KMM__GPU_SUCCESS) {
        pthread_mutex_lock(&gpu->lock);
        void *event = kmm__gpu_event_take(gpu, native, false);
        r = event ? kmm__gpu_answer(gpu, gpu->calls->EventQuery(event)) : r;
        if (event)
            kmm__gpu_event_keep(gpu, event, false);
        pthread_mutex_unlock(&gpu->lock);
    }
    kmm__gpu_scope_leave(gpu, scope);
    return r == KMM__GPU_NOT_READY;
}

int kmm__gpu_follow(kmm__gpu_t *gpu, void *native, void (*fn)(void *arg, int status), void *arg)
{
    if (!is_busy(gpu, native))
        return 0;
    if (!fn)
        return 1;
    kmm__stream_t *s = foreign_stream(gpu, native);
    int error = s ? kmm__gpu_notify(s, fn, arg) : KMM_E_MEMORY;
    return error ? error : 1;
}

int kmm__gpu_precede(kmm__stream_t *s, void *native)
{
    const kmm__gpu_t *gpu = s->gpu;
    void *event = NULL;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = KMM__GPU_TRY(gpu, EventCreate, (&event, KMM__GPU_EVENT_DISABLE_TIMING));
    if (!error)
        error = KMM__GPU_TRY(gpu, EventRecord, (event, s->handle));
    kmm__gpu_scope_leave(gpu, scope);
    if (!error) /* for the program: NULL is the default stream of its own current device */
        error = KMM__GPU_TRY(gpu, StreamWaitEvent, (native, event, 0));
    scope = kmm__gpu_scope_enter(gpu);
    if (event)
        /* drivers keep the event as long as something waits for it */
        gpu->calls->EventDestroy(event);
    kmm__gpu_scope_leave(gpu, scope);
    return error;
}

int kmm__gpu_succeed(kmm__stream_t *s, void *native)
{
    const kmm__gpu_t *gpu = s->gpu;
    void *event = NULL;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = KMM__GPU_TRY(gpu, EventCreate, (&event, KMM__GPU_EVENT_DISABLE_TIMING));
    if (!error)
        error = KMM__GPU_TRY(gpu, EventRecord, (event, native));
    if (!error)
        error = KMM__GPU_TRY(gpu, StreamWaitEvent, (s->handle, event, 0));
    if (event)
        gpu->calls->EventDestroy(event);
    kmm__gpu_scope_leave(gpu, scope);
    return error;
}

int kmm__gpu_finish(kmm__gpu_t *gpu)
{
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = KMM__GPU_TRY(gpu, Synchronize, ());
    kmm__gpu_scope_leave(gpu, scope);
    return error;
}
