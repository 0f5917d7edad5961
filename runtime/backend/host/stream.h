/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events of the CPU.
 *
 *   stream     a queue of operations, which one thread at a time runs
 *   position   a number of operations that were enqueued on a stream so far
 *   event      a stream and a position; done when the stream has completed that many operations
 *
 * Lock order: a stream's `lock`, then the pool's. An event's lock is taken alone. backend.h is the
 * contract of functions without a comment.
 */
#ifndef KMM__BACKEND_HOST_STREAM_H
#define KMM__BACKEND_HOST_STREAM_H

#include "backend/host/device.h"
#include "backend/host/operation.h"

/* A stream's operations form a chain from `spare` over `done` to `tail`. Those before `done` may be
 * used again. `done` was completed last. Those behind it are still to be run. */
struct kmm__stream {
    kmm__pool_item_t item;
    kmm__host_t *host;
    kmm__stream_t *next; /* in host->streams; guarded by the host's lock */
    /* In host->spare_streams; guarded by the host's lock. */
    kmm__stream_t *next_spare;

    /* Used by the thread that enqueues. */
    /* first to be used again; `done` as it was last seen */
    _Alignas(64) kmm__op_t *spare, *spare_end;
    kmm__op_t *tail;
    uint64_t enqueued;

    /* Written by the thread that runs operations, read by others. */
    _Alignas(64) _Atomic(kmm__op_t *) done;
    _Atomic uint64_t completed;
    _Atomic uint64_t
        /* operations enqueued and not completed; the thread that raises it from 0 pushes the stream
         */
        pending;

    /* Streams that wait for a position of this one, linked by their own `parked_*` members. */
    pthread_mutex_t lock;
    kmm__stream_t *parked;         /* guarded by lock */
    _Atomic uint32_t parked_count; /* changed under the lock */
    kmm__stream_t *parked_next;    /* guarded by the lock of the stream waited for */
    uint64_t parked_position;
};

struct kmm__event {
    pthread_mutex_t lock;
    kmm__stream_t *stream; /* NULL: the event was never recorded */
    uint64_t position;
};

int kmm__host_stream_create(kmm__gpu_t *gpu, kmm__stream_t **out);
void kmm__host_stream_destroy(kmm__stream_t *s);
/* Frees a stream. The pool has ended. */
void kmm__host_stream_free(kmm__stream_t *s);

/* Returns an operation for the caller to fill in, with `bytes` bytes of payload aligned to 64. It
 * must be the next one enqueued on this stream. */
kmm__op_t *kmm__op_prepare(kmm__stream_t *s, kmm__op_kind_t kind, size_t bytes);
void kmm__op_enqueue(kmm__stream_t *s, kmm__op_t *op);

int kmm__host_event_create(kmm__gpu_t *gpu, kmm__event_t **out);
void kmm__host_event_destroy(kmm__event_t *e);
int kmm__host_event_record(kmm__event_t *e, kmm__stream_t *s);
int kmm__host_stream_wait(kmm__stream_t *s, kmm__event_t *e);
int kmm__host_event_query(kmm__event_t *e);

#endif
