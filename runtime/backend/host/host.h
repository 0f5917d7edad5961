/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU as a device: what host.c, host_stream.c, host_pool.c and host_memory.c share.
 *
 * pool     threads that take items from one queue
 * item     something to take: a stream that has work, or seats at an operation that several threads
 * share stream   a queue of operations of which one thread at a time runs the first ticket   how
 * many operations had been enqueued on a stream at some moment: an event is a stream and a ticket,
 * and is done when the stream has completed that many
 *
 * Lock order: stream's `lock`, then the pool's. An event's lock is taken alone.
 */
#ifndef KMM__HOST_H
#define KMM__HOST_H

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>

#include "backend/backend.h"

/* ---- Pool (host_pool.c) ---- */

typedef struct kmm__item kmm__item_t;

/* All fields but `run` belong to the pool and are guarded by its lock. */
struct kmm__item {
    kmm__item_t *next, *previous;
    void (*run)(kmm__item_t *item);
    uint32_t seats; /* how many threads may still take it; it is queued while this is not 0 */
    uint32_t users; /* how many have taken it and not left */
};

typedef struct kmm__pool {
    pthread_mutex_t lock;
    pthread_cond_t wakeup;
    kmm__item_t *first, *last;
    _Atomic uint64_t
        ready; /* sum of the seats of queued items; changed under the lock, read without */
    _Atomic bool stop;
    uint32_t spinning; /* threads that look for an item, those being woken included */
    uint32_t spinners; /* of them, those that poll `ready` without the lock */
    uint32_t sleepers; /* threads asleep that nobody has begun to wake */
    uint32_t wakes;    /* threads begun to be woken that still sleep */
    uint32_t thread_count;
    pthread_t *threads;
    fenv_t environment; /* of the threads: that of the thread which started them */
} kmm__pool_t;

int kmm__pool_init(kmm__pool_t *p, uint32_t threads);
/* Nothing is queued. Waits for the threads to end. */
void kmm__pool_deinit(kmm__pool_t *p);
/* Queues an item that is not queued for one thread, which calls item->run. */
void kmm__pool_push(kmm__pool_t *p, kmm__item_t *item);
/* Queues an item for `seats` threads more than the caller, who is its first user. */
void kmm__pool_share(kmm__pool_t *p, kmm__item_t *item, uint32_t seats);
/* A user of a shared item has found nothing left to do: nobody else may take it from now on.
 * True for the last user, to whom the item then belongs. */
bool kmm__pool_leave(kmm__pool_t *p, kmm__item_t *item);

/* Runs an item that is queued on the calling thread, if that can take a thread's place: false if
 * not, or if there is none, or if it was refused. */
bool kmm__pool_assist(kmm__pool_t *p);
bool kmm__pool_is_assisting(void); /* whether this thread does so now, and wants to be back soon */
void kmm__pool_refuse(void);       /* what it has taken is not for it */

/* Monotonic nanoseconds. */
uint64_t kmm__host_now(void);

/* ---- Operations and streams (host_stream.c) ---- */

typedef enum kmm__op_kind {
    KMM__OP_WAIT,
    KMM__OP_NOTIFY,
    KMM__OP_CALL,
    KMM__OP_BLOCKS,
    KMM__OP_COPY,
    KMM__OP_FILL
} kmm__op_kind_t;

/* Bytes of arguments that an operation carries without an allocation of its own. */
enum { KMM__OP_INLINE = 192 };

typedef struct kmm__op kmm__op_t;
struct kmm__op {
    _Atomic(kmm__op_t *) next; /* in the stream's chain, oldest first */
    kmm__stream_t *stream;
    kmm__op_kind_t kind;
    void *payload; /* `inline_payload`, or memory of its own that is freed when the operation is
                      done */
    /* Operations made of units that may run in any order, on several threads. */
    kmm__item_t item;
    uint64_t units, grain;    /* grain: units taken at a time */
    _Atomic uint64_t claimed; /* units taken so far; may exceed `units` */
    union {
        struct {
            kmm__stream_t *stream;
            uint64_t ticket;
        } wait;
        struct {
            void (*fn)(void *arg, int status);
            void *arg;
        } notify;
        struct {
            kmm_function_t *function;
            kmm_chunk_t chunk;
        } call;
        struct {
            void (*run)(const kmm_host_blocks_t *, void **);
            kmm_host_blocks_t box;
        } blocks;
        struct {
            char *dst;
            const char *src;
            int64_t dst_pitch, src_pitch, width, rows;
        } copy;
        struct {
            char *dst;
            int value;
            size_t bytes;
        } fill;
    };
    _Alignas(64) unsigned char inline_payload[KMM__OP_INLINE];
};

typedef struct kmm__host kmm__host_t;

/* The chain runs from `spare` over `done` to `tail`. Operations before `done` may be used again,
 * `done` is the last one completed, those after it are to be run. */
struct kmm__stream {
    kmm__item_t item;
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

/* ---- What operations do (host_work.c) ---- */

int kmm__host_copy(kmm__stream_t *s, const kmm__copy_t *copy);
int kmm__host_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes);
int kmm__host_launch(kmm__stream_t *s, const kmm__run_t *run);
int kmm__host_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg);

/* Runs a whole operation that is no wait. False when other threads still work on it: the last of
 * them calls kmm__host_stream_resume. */
bool kmm__op_run(kmm__op_t *op);
/* The operation at the front of the stream is done: completes it and goes on with the stream. */
void kmm__host_stream_resume(kmm__stream_t *s, kmm__op_t *op);

/* ---- Pretend memory (host_memory.c) ---- */

/* A mapped frame. */
typedef struct kmm__host_frame {
    struct kmm__host_frame *next; /* in the device's list */
    uint64_t bytes;
    uint64_t counted; /* of the device's memory: bytes, or 0 when it is away */
    kmm__addr_t at;   /* 0: not mapped */
} kmm__host_frame_t;

int kmm__host_window_reserve(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out);
void kmm__host_window_release(kmm__gpu_t *gpu, kmm__addr_t window, size_t bytes);
int kmm__host_frame_create(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
int kmm__host_frame_create_away(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
void kmm__host_frame_destroy(kmm__gpu_t *gpu, kmm__frame_handle_t frame, size_t bytes);
int kmm__host_frame_map(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
int kmm__host_frame_unmap(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
int kmm__host_frames_allow(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
int kmm__host_frame_share(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer);

/* ---- The driver (host.c) ---- */

enum { KMM__HOST_GRANULARITY = 4096 };

struct kmm__gpu {
    kmm__host_t *host;
    int ordinal;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t used;        /* bytes of frames */
    uint32_t windows;
    kmm__host_frame_t *frames;
};

struct kmm__host {
    kmm__backend_t base;
    kmm__pool_t pool;
    uint32_t pretend;  /* 0: one device that works in the host's memory */
    uint64_t mem;      /* bytes of each pretend device */
    bool check_frames; /* fill what is mapped with a pattern */
    pthread_mutex_t lock;
    kmm__stream_t *streams; /* all ever made: events may name a stream that has been destroyed */
    kmm__stream_t *spare_streams; /* of them, those that may be used again */
};

/* Sets the calling thread's error text and returns `code`. */
int kmm__host_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
