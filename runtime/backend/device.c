/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: opening and closing, wake-ups, loss, and waiting for a stream. */
#include "backend/device.h"

#include <stdlib.h>

#include "backend/mark.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"

/* ---- Opening and closing ---- */

static int streams_create(kmm__device_t *d)
{
    const kmm__backend_t *b = d->backend;
    int error = 0;
    d->compute_stream_count = d->info.compute_streams ? d->info.compute_streams : 1;
    d->compute_streams =
        kmm__alloc((d->compute_stream_count + KMM__TASK_STREAMS) * sizeof(*d->compute_streams));
    for (uint32_t k = 0; k < d->compute_stream_count && !error; k++) {
        d->compute_streams[k].device = d;
        error = b->stream_create(d->gpu, &d->compute_streams[k].stream);
    }
    if (d->space == KMM__HOST)
        return error;
    error = error ? error : b->stream_create(d->gpu, &d->in);
    error = error ? error : b->stream_create(d->gpu, &d->out);
    return error ? error : b->stream_create(d->gpu, &d->peer);
}

void kmm__device_init(kmm__device_t *d)
{
    pthread_cond_init(&d->wake, NULL);
    pthread_mutex_init(&d->in_lock, NULL);
    pthread_mutex_init(&d->out_lock, NULL);
    pthread_mutex_init(&d->peer_lock, NULL);
}

int kmm__device_open(kmm__device_t *d)
{
    int error = streams_create(d);
    return error ? kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend))
                 : 0;
}

static void stream_drop(kmm__device_t *d, kmm__stream_t *s)
{
    if (s)
        d->backend->stream_destroy(s);
}

void kmm__device_close(kmm__device_t *d)
{
    kmm__marks_await(d);
    for (uint32_t k = 0; k < d->event_count; k++)
        d->backend->event_destroy(d->events[k]);
    free(d->events);
    for (uint32_t k = 0; d->compute_streams && k < d->compute_stream_count + KMM__TASK_STREAMS; k++)
        stream_drop(d, d->compute_streams[k].stream);
    free(d->compute_streams);
    stream_drop(d, d->in);
    stream_drop(d, d->out);
    stream_drop(d, d->peer);
    if (d->gpu)
        d->backend->close(d->gpu);
    pthread_cond_destroy(&d->wake);
    pthread_mutex_destroy(&d->in_lock);
    pthread_mutex_destroy(&d->out_lock);
    pthread_mutex_destroy(&d->peer_lock);
}

void kmm__device_wake(kmm__device_t *d)
{
    atomic_store_explicit(&d->wakes, atomic_load_explicit(&d->wakes, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    pthread_cond_signal(&d->wake);
}

/* ---- Loss ---- */

void kmm__device_lose(kmm__device_t *d, int error)
{
    if (d->backend->kind == KMM_KIND_HOST || d->lost)
        return;
    d->lost = error;
    if (error == KMM_E_KERNEL)
        d->note_fault(d, error);
}

void kmm__device_doubt(kmm__device_t *d, kmm__event_t *event, int error)
{
    event = event ? event : d->event_count ? d->events[0] : NULL;
    if (error == KMM_E_KERNEL && event && !d->lost && d->backend->event_query(event) == error)
        kmm__device_lose(d, error);
}

/* ---- Waiting for a stream ---- */

typedef struct drained {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    int status;
} drained_t;

static void stream_drained(void *arg, int status)
{
    drained_t *d = arg;
    pthread_mutex_lock(&d->lock);
    d->done = true;
    d->status = status;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

int kmm__stream_drain(kmm__backend_t *b, kmm__stream_t *s)
{
    drained_t d = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
    int error = b->notify(s, stream_drained, &d);
    pthread_mutex_lock(&d.lock);
    while (!error && !d.done)
        kmm__cond_wait(&d.changed, &d.lock);
    pthread_mutex_unlock(&d.lock);
    return error ? error : d.status;
}
