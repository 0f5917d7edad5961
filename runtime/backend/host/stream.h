/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events of the CPU.
 *
 *   stream   a queue of operations, which one thread at a time runs
 *   ticket   how many operations had been enqueued on a stream at some moment
 *   event    a stream and a ticket; done when the stream has completed that many operations
 *
 * Lock order: a stream's `lock`, then the pool's. An event's lock is taken alone. backend.h is the
 * contract of the functions without a comment.
 */
#ifndef KMM__BACKEND_HOST_STREAM_H
#define KMM__BACKEND_HOST_STREAM_H

#include "backend/host/device.h"
#include "backend/host/operation.h"

/* The chain runs from `spare` over `done` to `tail`. Operations before `done` may be used again,
 * `done` is the last one completed, those after it are to be run. */
struct kmm__stream {
    kmm__pool_item_t item;
    kmm__host_t *host;
    kmm__stream_t
        *next; /* in the host's list of all streams, or of those to use again; the host's lock */
    kmm__stream_t *next_spare;

    /* For the thread that enqueues. */
    _Alignas(64) kmm__op_t *spare, *spare_end; /* spare_end: `done` as last seen */
    kmm__op_t *tail;
    uint64_t enqueued;

    /* For the thread that runs operations; others read. */
    _Alignas(64) _Atomic(kmm__op_t *) done;
    _Atomic uint64_t completed;
    _Atomic uint64_t
        pending; /* enqueued and not completed: whoever raises it from 0 pushes the stream */

    /* Streams that wait for a ticket of this one, by their own `parked_*` fields. */
    pthread_mutex_t lock;
    kmm__stream_t *parked;         /* guarded by lock */
    _Atomic uint32_t parked_count; /* changed under the lock */
    kmm__stream_t *parked_next;    /* guarded by the lock of the stream waited for */
    uint64_t parked_ticket;
};

struct kmm__event {
    pthread_mutex_t lock;
    kmm__stream_t *stream; /* NULL: never recorded */
    uint64_t ticket;
};

int kmm__host_stream_create(kmm__gpu_t *gpu, kmm__stream_t **out);
void kmm__host_stream_destroy(kmm__stream_t *s);
/* Frees a stream's memory when the pool has ended. */
void kmm__host_stream_free(kmm__stream_t *s);

/* An operation to fill in, with `bytes` bytes of payload aligned to 64; NULL when out of memory.
 * It must be enqueued next on this stream. */
kmm__op_t *kmm__op_prepare(kmm__stream_t *s, kmm__op_kind_t kind, size_t bytes);
void kmm__op_enqueue(kmm__stream_t *s, kmm__op_t *op);

int kmm__host_event_create(kmm__gpu_t *gpu, kmm__event_t **out);
void kmm__host_event_destroy(kmm__event_t *e);
int kmm__host_event_record(kmm__event_t *e, kmm__stream_t *s);
int kmm__host_stream_wait(kmm__stream_t *s, kmm__event_t *e);
int kmm__host_event_query(kmm__event_t *e);

#endif
