/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events of managed programs. Both name points in the order of submission. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "api/runtime.h"
#include "execute/exact_host.h"
#include "launch/task_directive.h"
#include "managed/managed.h"
#include "task/inside.h"
#include "task/marker.h"

static const void *line_of(const void *stream)
{
    return kmm__stream_is_default(stream) ? &kmm__all_streams : stream;
}

/* Inside a task, earlier work means work that was submitted before the task. What the task
 * itself has launched on the CPU has already run, and what it has enqueued on a GPU is ordered
 * by the driver. */
static int settle_before(void)
{
    return kmm__managed_result(kmm__task_directive_settle());
}

/* True in libkmm_cuda.a and libkmm_hip.a: the CUDA or HIP runtime's own call follows each call
 * here and reports its errors itself. */
static bool is_wrapper;

KMM__API void kmm_cuda_wrap(void)
{
    is_wrapper = true;
}

/* Returns the result of a call if there is no runtime. In a wrapper it is success, because the real
 * call that follows reports the error. */
static int no_runtime(void)
{
    if (is_wrapper)
        return KMM_CUDA_SUCCESS;
    return kmm__managed_fail(KMM_CUDA_NO_DEVICE, "there is no runtime");
}

/* ---- Streams ---- */

KMM__API int kmm_cuda_device_settle(void)
{
    kmm_runtime_t *rt = kmm_default();
    if (kmm_task_active())
        return settle_before();
    if (!rt)
        return no_runtime();
    int error = kmm__managed_result(kmm_wait(rt));
    kmm__flush(rt, kmm__current_gpu(rt)); /* the wrapper waits for the current device itself */
    kmm__managed_return();
    return error;
}

KMM__API int kmm_cuda_device_synchronize(void)
{
    return kmm__managed_synced(kmm_cuda_device_settle());
}

KMM__API int kmm_cuda_stream_create(void **out)
{
    if (!out)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE,
                                 "cudaStreamCreate: nowhere to put the stream");
    *out = kmm__handle_create();
    return *out ? KMM_CUDA_SUCCESS
                : kmm__managed_fail(KMM_CUDA_MEMORY_ALLOCATION, "no host memory for a stream");
}

static int stream_wait(void *stream)
{
    kmm_runtime_t *rt = kmm_default();
    kmm__marker_t *m;
    if (!rt)
        return no_runtime();
    if (kmm_task_active())
        return settle_before();
    kmm__marker_create(rt, line_of(stream), &m);
    int error = kmm__marker_wait(m);
    kmm__marker_release(m);
    kmm__exact_host_wait();
    /* the failure is returned once, and then forgotten, as for the whole device */
    return error ? kmm_cuda_device_settle() : KMM_CUDA_SUCCESS;
}

KMM__API int kmm_cuda_stream_synchronize(void *stream)
{
    int error = kmm__managed_synced(stream_wait(stream));
    kmm__managed_return();
    return error;
}

KMM__API int kmm_cuda_stream_settle(void *stream)
{
    return kmm__is_inside() ? KMM_CUDA_SUCCESS : stream_wait(stream);
}

KMM__API void kmm_cuda_stream_catch_up(void *stream)
{
    kmm_runtime_t *rt = kmm_default();
    kmm__marker_t *m;
    if (!rt || kmm__is_inside())
        return;
    kmm__marker_create(rt, line_of(stream), &m);
    if (!kmm__marker_precede_driver(m, stream))
        kmm__marker_wait(m);
    kmm__marker_release(m);
}

KMM__API int kmm_cuda_stream_destroy(void *stream)
{
    int error = stream_wait(stream);
    free(stream);
    return error;
}

KMM__API int kmm_cuda_stream_query(void *stream)
{
    kmm_runtime_t *rt = kmm_default();
    kmm__marker_t *m;
    if (!rt)
        return no_runtime();
    if (kmm_task_active())
        return settle_before();
    kmm__marker_create(rt, line_of(stream), &m);
    int reached = kmm__marker_query(m);
    kmm__marker_release(m);
    return reached == 0 ? KMM_CUDA_NOT_READY : reached > 0 ? KMM_CUDA_SUCCESS : stream_wait(stream);
}

/* ---- Events ---- */

typedef struct event {
    void *handle;
    kmm__marker_t *marker;
    struct event *next;
} event_t;

enum { BUCKETS = 1024 };
static struct {
    pthread_mutex_t lock;
    event_t *bucket[BUCKETS];
} events = {.lock = PTHREAD_MUTEX_INITIALIZER};

static event_t **event_find(const void *handle)
{
    event_t **at = &events.bucket[((uintptr_t)handle >> 4) % BUCKETS];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

/* Returns a reference to the marker of an event, since another thread may record the event anew
 * meanwhile. NULL: the event was not recorded. */
static kmm__marker_t *marker_of(const void *handle)
{
    pthread_mutex_lock(&events.lock);
    const event_t *e = *event_find(handle);
    kmm__marker_t *m = e ? e->marker : NULL;
    if (m)
        kmm__marker_retain(m);
    pthread_mutex_unlock(&events.lock);
    return m;
}

/* Forgets all events in a forked process. Markers of the parent's runtime are never reached there
 * and are not freed. */
static void events_clear(void)
{
    events.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (int k = 0; k < BUCKETS; k++)
        for (event_t *e; (e = events.bucket[k]);) {
            events.bucket[k] = e->next;
            free(e);
        }
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, events_clear);
}

KMM__API int kmm_cuda_event_create(void **out)
{
    return kmm_cuda_stream_create(out);
}

KMM__API void kmm_cuda_event_forget(void *handle)
{
    pthread_mutex_lock(&events.lock);
    event_t **at = event_find(handle), *e = *at;
    if (e)
        *at = e->next;
    pthread_mutex_unlock(&events.lock);
    if (e)
        kmm__marker_release(e->marker);
    free(e);
}

KMM__API int kmm_cuda_event_destroy(void *event)
{
    kmm_cuda_event_forget(event);
    free(event);
    return KMM_CUDA_SUCCESS;
}

KMM__API int kmm_cuda_event_record(void *handle, void *stream)
{
    kmm_runtime_t *rt = kmm_default();
    static const char no_stream;
    kmm__marker_t *m, *old = NULL;
    if (!rt)
        return no_runtime();
    int error =
        kmm_task_active() ? settle_before() : 0; /* inside a task, all earlier work ends first, so
                                                    the event is done when it is recorded */
    if (error)
        return error;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    kmm__marker_create(rt, kmm_task_active() ? &no_stream : line_of(stream), &m);
    pthread_mutex_lock(&events.lock);
    event_t **at = event_find(handle);
    if (!*at)
        *at = calloc(1, sizeof(**at));
    if (*at) {
        old = (*at)->marker;
        **at = (event_t){handle, m, (*at)->next};
    }
    bool ok = *at != NULL;
    pthread_mutex_unlock(&events.lock);
    kmm__marker_release(ok ? old : m);
    return ok ? KMM_CUDA_SUCCESS
              : kmm__managed_fail(KMM_CUDA_MEMORY_ALLOCATION, "no host memory for an event");
}

KMM__API int kmm_cuda_event_synchronize(void *handle)
{
    kmm__marker_t *m = marker_of(handle);
    int error = m ? kmm__marker_wait(m) : 0;
    kmm__marker_release(m);
    kmm__exact_host_wait();
    return kmm__managed_synced(error ? kmm_cuda_device_settle() : KMM_CUDA_SUCCESS);
}

KMM__API int kmm_cuda_event_query(void *handle)
{
    kmm__marker_t *m = marker_of(handle);
    int reached = m ? kmm__marker_query(m) : 1;
    kmm__marker_release(m);
    return reached == 0  ? KMM_CUDA_NOT_READY
           : reached > 0 ? KMM_CUDA_SUCCESS
                         : kmm_cuda_device_settle();
}

KMM__API int kmm_cuda_stream_wait_event(void *stream, void *handle)
{
    kmm__marker_t *m = marker_of(handle);
    int error = m ? kmm__managed_result(kmm__marker_precede(m, stream)) : KMM_CUDA_SUCCESS;
    kmm__marker_release(m);
    return error;
}

KMM__API int kmm_cuda_stream_await_event(void *stream, void *handle)
{
    kmm__marker_t *m = marker_of(handle);
    bool waits = m && kmm__marker_precede_driver(m, stream);
    int error = waits ? kmm__managed_result(kmm__marker_precede(m, stream))
                : m   ? kmm__marker_wait(m)
                      : 0;
    kmm__marker_release(m);
    return error && !waits ? kmm_cuda_device_settle() : error;
}

KMM__API int kmm_cuda_event_is_recorded(void *handle)
{
    kmm__marker_t *m = marker_of(handle);
    kmm__marker_release(m);
    return m != NULL;
}

KMM__API int kmm_cuda_event_elapsed_time(float *milliseconds, void *start, void *end)
{
    kmm__marker_t *a = marker_of(start), *b = marker_of(end);
    bool recorded = milliseconds && a && b;
    uint64_t from = recorded ? kmm__marker_time(a) : 0, to = recorded ? kmm__marker_time(b) : 0;
    kmm__marker_release(a);
    kmm__marker_release(b);
    if (!recorded)
        return kmm__managed_fail(KMM_CUDA_INVALID_RESOURCE_HANDLE,
                                 "cudaEventElapsedTime: an event that was not recorded");
    if (!from || !to)
        return KMM_CUDA_NOT_READY;
    *milliseconds = (float)((double)((int64_t)(to - from)) / 1e6);
    return KMM_CUDA_SUCCESS;
}
