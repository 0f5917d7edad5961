/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events of a GPU. backend.h is the contract of the functions. */
#ifndef KMM__BACKEND_GPU_STREAM_H
#define KMM__BACKEND_GPU_STREAM_H

#include "backend/gpu/driver.h"

struct kmm__event {
    kmm__gpu_t *gpu;
    void *handle; /* the driver's */
};

/* A notification that is not delivered. */
typedef struct kmm__note {
    void (*fn)(void *arg, int status);
    void (*timed_fn)(void *arg, int status, uint64_t time); /* in place of fn, or NULL */
    void *arg;
    uint64_t time; /* for timed_fn; set once the work is done */
    /* Done when the work is. NULL: the driver refused an event; the work counts as done when the
     * stream is idle. */
    void *event;
    bool is_borrowed;       /* the event is not the note's own */
    struct kmm__note *next; /* of the stream, or in gpu->spare_notes */
} kmm__note_t;

struct kmm__stream {
    kmm__gpu_t *gpu;
    void *handle;              /* the driver's */
    bool is_foreign;           /* a stream of the program, which is never destroyed here */
    kmm__note_t *first, *last; /* notifications in the order of their work; guarded by gpu->lock */
    kmm__stream_t *next;       /* in gpu->streams; guarded by gpu->lock */
};

int kmm__gpu_stream_create(kmm__gpu_t *gpu, kmm__stream_t **out);
void kmm__gpu_stream_destroy(kmm__stream_t *s);
void kmm__gpu_streams_free(kmm__gpu_t *gpu); /* frees foreign streams; all others are destroyed */
int kmm__gpu_event_create(kmm__gpu_t *gpu, kmm__event_t **out);
void kmm__gpu_event_destroy(kmm__event_t *e);
int kmm__gpu_event_record(kmm__event_t *e, kmm__stream_t *s);
int kmm__gpu_stream_wait(kmm__stream_t *s, kmm__event_t *e);
int kmm__gpu_event_query(kmm__event_t *e);
void kmm__gpu_flush(kmm__stream_t *s);

#endif
