/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices and ordinary memory through staging buffers, which several threads of the
 * CPU fill and empty. Page-locking memory costs as much as copying it several times; memory that is
 * mapped for one launch does not pay that back. pagelock.c decides which memory goes which way, by
 * what both cost on this machine (costs.c).
 *
 * Copies in: a thread fills a buffer, and the thread that asked for the copy enqueues it from
 * there. Copies out: the copy goes to a buffer, which a thread empties once it has arrived. So data
 * that is copied out lands in host memory later than its stream is done. A thread that must learn
 * of it asks kmm__stage_notify for a notification.
 */
#include "memory/host/stage.h"

#include "base/thread.h"
#include "memory/host/numa.h"
#include "memory/state.h"

/* ---- Copies in ---- */

static void sent(void *arg, int status)
{
    kmm__staging_t *s = arg;
    struct kmm__stager *p = s->stager;
    (void)status; /* the ticket of the copies gets the error */
    pthread_mutex_lock(&p->lock);
    kmm__staging_free(s);
    pthread_mutex_unlock(&p->lock);
}

/* Enqueues copies of t from buffers that are filled. Locked, unlocks meanwhile. */
static int send_filled(struct kmm__stager *p, kmm__stage_t *t)
{
    kmm__backend_t *b = t->device->backend;
    int result = 0;
    for (uint32_t k = 0; k < KMM__STAGE_BUFFERS && t->filled; k++) {
        kmm__staging_t *s = &p->buffers[k];
        if (s->state != KMM__STAGING_FILLED || s->stage != t)
            continue;
        kmm__copy_t copy = {.dst_gpu = t->device->gpu,
                            .dst = s->at,
                            .src = (kmm__addr_t)(uintptr_t)s->memory,
                            .dst_pitch = s->pitch,
                            .src_pitch = s->width,
                            .width = s->width,
                            .rows = s->rows};
        t->filled--;
        s->state = KMM__STAGING_COPIED;
        pthread_mutex_unlock(&p->lock);
        int error = b->copy(t->stream, &copy);
        int notified = b->notify(t->stream, sent, s);
        if (notified)
            kmm__stream_drain(b, t->stream);
        pthread_mutex_lock(&p->lock);
        if (notified)
            kmm__staging_free(s);
        result = result ? result : error;
    }
    return result;
}

int kmm__stage_finish(kmm__stage_t *t)
{
    struct kmm__stager *p = t->device->runtime->memory->stager;
    int result = 0;
    if (t->is_out)
        return 0;
    pthread_mutex_lock(&p->lock);
    while (t->filling || t->filled) {
        if (!t->filled)
            kmm__cond_wait(&p->changed, &p->lock);
        int error = send_filled(p, t);
        result = result ? result : error;
    }
    pthread_mutex_unlock(&p->lock);
    return result;
}

/* ---- Copies out ---- */

/* Locked: true if a copy out is on its way to these bytes of the host. */
static bool is_landing(const struct kmm__stager *p, const char *begin, const char *end)
{
    for (uint32_t k = KMM__STAGE_BUFFERS; k < 2 * KMM__STAGE_BUFFERS; k++) {
        const kmm__staging_t *s = &p->buffers[k];
        if (s->state != KMM__STAGING_FREE && s->host < end &&
            begin < s->host + (s->rows - 1) * s->pitch + s->width)
            return true;
    }
    return false;
}

void kmm__stage_await(kmm_runtime_t *rt, const char *begin, const char *end)
{
    struct kmm__stager *p = rt->memory->stager;
    if (!p->landing)
        return;
    pthread_mutex_lock(&p->lock);
    while (is_landing(p, begin, end))
        kmm__cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void arrived(void *arg, int status)
{
    kmm__staging_t *s = arg;
    struct kmm__stager *p = s->stager;
    pthread_mutex_lock(&p->lock);
    if (!status) {
        kmm__staging_queue(s);
    } else { /* the device is lost, which a later notification reports, too */
        kmm__staging_free(s);
        kmm__notes_deliver(p);
    }
    pthread_mutex_unlock(&p->lock);
}

/* Locked, unlocks meanwhile. */
static int receive(kmm__staging_t *s)
{
    struct kmm__stager *p = s->stager;
    kmm__backend_t *b = s->device->backend;
    kmm__copy_t copy = {.src_gpu = s->device->gpu,
                        .dst = (kmm__addr_t)(uintptr_t)s->memory,
                        .src = s->at,
                        .dst_pitch = s->width,
                        .src_pitch = s->pitch,
                        .width = s->width,
                        .rows = s->rows};
    s->state = KMM__STAGING_COPIED;
    s->number = p->next_number++;
    p->landing++;
    pthread_mutex_unlock(&p->lock);
    int error = b->copy(s->stream, &copy);
    if (!error)
        error = b->notify(s->stream, arrived, s);
    pthread_mutex_lock(&p->lock);
    if (error) {
        kmm__staging_free(s);
        kmm__notes_deliver(p);
    }
    return error;
}

/* ---- Pieces ---- */

/* Takes a free buffer; waits for one if needed. Locked, unlocks meanwhile. */
static kmm__staging_t *buffer_take(struct kmm__stager *p, kmm__stage_t *t, int *error)
{
    uint32_t first = t->is_out ? KMM__STAGE_BUFFERS : 0;
    int node = kmm__numa_node(t->device);
    for (;;) {
        int e = t->filled ? send_filled(p, t) : 0;
        *error = *error ? *error : e;
        kmm__staging_t *s = kmm__staging_near(p, first, node);
        if (s)
            return s;
        if (!t->filled)
            kmm__cond_wait(&p->changed, &p->lock);
    }
}

/* Copies one piece, which fits a buffer. */
static int piece(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width, int64_t pitch,
                 int64_t rows)
{
    struct kmm__stager *p = t->device->runtime->memory->stager;
    int error = 0;
    kmm__stage_await(t->device->runtime, host, host + (rows - 1) * pitch + width);
    pthread_mutex_lock(&p->lock);
    kmm__staging_t *s = buffer_take(p, t, &error);
    s->at = at;
    s->host = host;
    s->width = width;
    s->pitch = pitch;
    s->rows = rows;
    s->device = t->device;
    s->stream = t->stream;
    s->stage = t->is_out ? NULL : t;
    if (t->is_out) {
        error = receive(s);
    } else if (!error) {
        t->filling++;
        kmm__staging_queue(s);
    }
    pthread_mutex_unlock(&p->lock);
    return error;
}

static int run(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width)
{
    int64_t most = (int64_t)t->device->runtime->memory->stager->buffer_bytes;
    int error = 0;
    for (int64_t n; width > 0 && !error; width -= n) {
        n = width < most ? width : most;
        error = piece(t, at, host, n, n, 1);
        at += (kmm__addr_t)n;
        host += n;
    }
    return error;
}

int kmm__stage_copy(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width, int64_t pitch,
                    int64_t rows)
{
    int64_t fit = (int64_t)t->device->runtime->memory->stager->buffer_bytes / width;
    int error = 0;
    if (rows == 1 || width == pitch)
        return run(t, at, host, width * rows);
    for (int64_t n; rows > 0 && !error; rows -= n) {
        n = fit < 1 ? 1 : fit < rows ? fit : rows;
        error = fit < 1 ? run(t, at, host, width) : piece(t, at, host, width, pitch, n);
        at += (kmm__addr_t)(n * pitch);
        host += n * pitch;
    }
    return error;
}
