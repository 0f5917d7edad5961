/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications: a queue for each stream, and the thread that delivers them. */
#include "backend/gpu/notify.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "backend/gpu/device.h"
#include "backend/gpu/stream.h"
#include "base/alloc.h"
#include "base/spin.h"
#include "base/thread.h"

enum { SPIN_NS = 50000, SLEEP_NS = 20000, POLL_RELAX = 64 };

void kmm__gpu_event_keep(kmm__gpu_t *gpu, void *event, bool is_timed)
{
    kmm__gpu_spare_t *spare = &gpu->spare[is_timed];
    if (spare->count == spare->capacity) {
        int capacity = spare->capacity ? 2 * spare->capacity : 64;
        void **grown = realloc(spare->event, (size_t)capacity * sizeof(*grown));
        if (!grown) {
            gpu->calls->EventDestroy(event);
            return;
        }
        spare->event = grown;
        spare->capacity = capacity;
    }
    spare->event[spare->count++] = event;
}

void *kmm__gpu_event_take(kmm__gpu_t *gpu, void *s, bool is_timed)
{
    kmm__gpu_spare_t *spare = &gpu->spare[is_timed];
    void *event = NULL;
    if (spare->count) {
        event = spare->event[--spare->count];
    } else {
        int mode = kmm__gpu_relax(gpu),
            r = gpu->calls->EventCreate(&event, is_timed ? KMM__GPU_EVENT_TIMED
                                                         : KMM__GPU_EVENT_DISABLE_TIMING);
        kmm__gpu_restore(gpu, mode);
        if (r)
            return NULL;
    }
    if (gpu->calls->EventRecord(event, s) == KMM__GPU_SUCCESS)
        return event;
    gpu->calls->EventDestroy(event);
    return NULL;
}

/* Locked: removes the first note of a stream if its work is done. NULL: it is not. */
static kmm__note_t *take_finished(kmm__gpu_t *gpu, kmm__stream_t *s, int *status)
{
    kmm__note_t *n = s->first;
    int r = !n         ? KMM__GPU_NOT_READY
            : n->event ? gpu->calls->EventQuery(n->event)
                       : gpu->calls->StreamQuery(s->handle);
    if (r == KMM__GPU_NOT_READY)
        return NULL;
    *status = kmm__gpu_result(gpu->driver, r, "work on the device");
    s->first = n->next;
    if (!s->first)
        s->last = NULL;
    if (n->event && n->timed_fn && !r)
        n->time = kmm__gpu_clock_read(gpu, n->event);
    if (n->event && !n->is_borrowed)
        kmm__gpu_event_keep(gpu, n->event, n->timed_fn);
    return n;
}

/* Delivers the notifications whose work is done. True: there was one. Locked; unlocks for each
 * delivery. */
static bool deliver(kmm__gpu_t *gpu)
{
    bool any = false;
    for (kmm__stream_t *s = gpu->streams; s; s = s->next) {
        int status = 0;
        for (kmm__note_t *n; (n = take_finished(gpu, s, &status));) {
            gpu->delivering = s;
            pthread_mutex_unlock(&gpu->lock);
            if (n->timed_fn)
                n->timed_fn(n->arg, status, n->time);
            else
                n->fn(n->arg, status);
            pthread_mutex_lock(&gpu->lock);
            n->next = gpu->spare_notes;
            gpu->spare_notes = n;
            gpu->pending--;
            any = true;
            if (!gpu->delivering)
                return true; /* the delivery destroyed the stream */
            gpu->delivering = NULL;
            pthread_cond_broadcast(&gpu->delivered);
        }
    }
    return any;
}

static void *watch(void *arg)
{
    kmm__gpu_t *gpu = arg;
    uint64_t idle_since = kmm__now(),
             patience = kmm__has_cpus_to_spare() ? KMM__SPIN_DEVICE_NS : SPIN_NS;
    kmm__gpu_scope_enter(gpu); /* never left: the thread is ours */
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->closing || gpu->pending) {
        if (!gpu->pending) {
            kmm__cond_wait(&gpu->noted, &gpu->lock);
            idle_since = kmm__now();
            continue;
        }
        if (deliver(gpu)) {
            idle_since = kmm__now();
            continue;
        }
        pthread_mutex_unlock(&gpu->lock);
        uint64_t idle = kmm__now() - idle_since;
        if (idle > patience)
            nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
        else if (idle > SPIN_NS)
            for (int k = 0; k < POLL_RELAX; k++)
                kmm__relax();
        else
            sched_yield(); /* lets threads that enqueue take the lock */
        pthread_mutex_lock(&gpu->lock);
    }
    pthread_mutex_unlock(&gpu->lock);
    return NULL;
}

/* Locked: appends a copy of the note to its stream's. */
static void note_push(kmm__stream_t *s, const kmm__note_t *note)
{
    kmm__gpu_t *gpu = s->gpu;
    kmm__note_t *n = gpu->spare_notes;
    if (n)
        gpu->spare_notes = n->next;
    else
        n = kmm__alloc(sizeof(*n));
    *n = *note;
    if (s->last)
        s->last->next = n;
    else
        s->first = n;
    s->last = n;
    if (gpu->pending++ == 0)
        pthread_cond_signal(&gpu->noted);
}

/* Records an event for the note, and appends it. */
static int notify(kmm__stream_t *s, kmm__note_t note)
{
    kmm__gpu_t *gpu = s->gpu;
    bool entered = kmm__gpu_enter(gpu);
    pthread_mutex_lock(&gpu->lock);
    note.event = kmm__gpu_event_take(gpu, s->handle, note.timed_fn);
    note_push(s, &note);
    pthread_mutex_unlock(&gpu->lock);
    kmm__gpu_leave(gpu, entered);
    return 0;
}

int kmm__gpu_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg)
{
    return notify(s, (kmm__note_t){.fn = fn, .arg = arg});
}

int kmm__gpu_notify_timed(kmm__stream_t *s, void (*fn)(void *arg, int status, uint64_t time),
                          void *arg)
{
    return notify(s, (kmm__note_t){.timed_fn = fn, .arg = arg});
}

int kmm__gpu_notify_event(kmm__stream_t *s, const kmm__event_t *e,
                          void (*fn)(void *arg, int status), void *arg)
{
    pthread_mutex_lock(&s->gpu->lock);
    note_push(s, &(kmm__note_t){.fn = fn, .arg = arg, .event = e->handle, .is_borrowed = true});
    pthread_mutex_unlock(&s->gpu->lock);
    return 0;
}

int kmm__gpu_watch_start(kmm__gpu_t *gpu)
{
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_cond_init(&gpu->noted, NULL);
    pthread_cond_init(&gpu->delivered, NULL);
    return kmm__thread_create(&gpu->watcher, watch, gpu) ? KMM_E_MEMORY : 0;
}

void kmm__gpu_watch_stop(kmm__gpu_t *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->closing = true;
    pthread_cond_signal(&gpu->noted);
    pthread_mutex_unlock(&gpu->lock);
    pthread_join(gpu->watcher, NULL);
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    for (int j = 0; j < 2; j++) {
        for (int k = 0; k < gpu->spare[j].count; k++)
            gpu->calls->EventDestroy(gpu->spare[j].event[k]);
        free(gpu->spare[j].event);
    }
    kmm__gpu_clock_end(gpu);
    kmm__gpu_scope_leave(gpu, scope);
    for (kmm__note_t *n; (n = gpu->spare_notes);) {
        gpu->spare_notes = n->next;
        free(n);
    }
    pthread_mutex_destroy(&gpu->lock);
    pthread_cond_destroy(&gpu->noted);
    pthread_cond_destroy(&gpu->delivered);
}
