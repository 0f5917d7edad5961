/* SPDX-License-Identifier: Apache-2.0 */
/* Staging buffers, and the threads that fill and empty them. Functions are called without the
 * runtime's lock. */
#ifndef KMM__MEMORY_HOST_STAGER_H
#define KMM__MEMORY_HOST_STAGER_H

#include "backend/device.h"
#include "memory/host/costs.h"

enum { KMM__STAGE_BUFFERS = 32, KMM__STAGE_THREADS = 12 };

typedef enum kmm__staging_state {
    KMM__STAGING_FREE,
    KMM__STAGING_QUEUED, /* queued for a thread */
    KMM__STAGING_WORKED, /* a thread fills or empties it */
    KMM__STAGING_FILLED, /* of a copy in: to be enqueued */
    KMM__STAGING_COPIED  /* the device reads or writes it */
} kmm__staging_state_t;

/* Copies between a device and the host that are enqueued on one of its streams. All but the first
 * three members begin as 0. */
typedef struct kmm__stage {
    kmm__device_t *device;
    kmm__stream_t *stream;
    bool is_out;
    uint32_t filling; /* copies in: pieces that a thread is copying to a buffer */
    uint32_t filled;  /* copies in: pieces in buffers that are not enqueued yet */
} kmm__stage_t;

/* A staging buffer, and the piece of a copy in it: rows of host memory, which lie one behind the
 * other in the buffer. */
typedef struct kmm__staging {
    struct kmm__stager *stager;
    kmm__staging_state_t state;
    char *memory, *host;
    int node;       /* NUMA node of the buffer's memory; -1: any */
    kmm__addr_t at; /* address on the device */
    int64_t width, pitch, rows;
    kmm__device_t *device;
    kmm__stream_t *stream;
    kmm__stage_t *stage; /* copy in: to which the piece belongs; NULL: copy out */
    uint64_t number;     /* copy out: number of the piece in the order of enqueueing */
    struct kmm__staging *next;
} kmm__staging_t;

/* A notification that its stream has delivered, and that is passed on once all earlier pieces have
 * landed. */
typedef struct kmm__staged_note {
    kmm__device_t *device;
    void (*fn)(void *arg, int status);
    void *arg;
    int status;
    uint64_t number; /* number of the first piece behind it */
    struct kmm__staged_note *next;
} kmm__staged_note_t;

struct kmm__stager {
    pthread_mutex_t lock;   /* no other lock is taken while it is held */
    pthread_cond_t work;    /* signalled when a buffer is queued */
    pthread_cond_t changed; /* signalled when a buffer changes its state */
    enum { KMM__STAGER_NEW, KMM__STAGER_BEGINNING, KMM__STAGER_WORKS, KMM__STAGER_FAILED } state;
    enum { KMM__COSTS_NEW, KMM__COSTS_MISSING, KMM__COSTS_MEASURING, KMM__COSTS_KNOWN } costs_state;
    kmm__copy_costs_t costs; /* all 0 if KMM_STAGE_TIMES gives `times` */
    double times;            /* kmm__costs_times */
    bool stopping;
    uint32_t threads_wanted, thread_count;
    pthread_t threads[KMM__STAGE_THREADS];
    size_t buffer_bytes;
    char *memory;
    kmm__backend_t *locked_by;
    /* the first half for copies in, the second for copies out, so that neither waits for the other
     */
    kmm__staging_t buffers[2 * KMM__STAGE_BUFFERS];
    kmm__staging_t *first, **end; /* list of queued buffers */
    _Atomic uint32_t landing;     /* buffers of copies out that are in use */
    uint64_t next_number;
    kmm__staged_note_t *notes, **notes_end;
    uint32_t coming;     /* notes that streams have not delivered yet */
    uint32_t delivering; /* threads in kmm__notes_deliver */
};

/* Reads its settings from the environment. Returns 0 or an error with its text. */
int kmm__stage_start(kmm_runtime_t *rt);
/* Ends it. No more work comes to devices, whose streams still exist. */
void kmm__stage_stop(kmm_runtime_t *rt);
/* Not locked: makes buffers and threads at the first call, for which other callers wait. False: it
 * failed. */
bool kmm__stager_begin(struct kmm__stager *p, kmm_runtime_t *rt, kmm__backend_t *backend);

/* ---- With the stager's lock ---- */
/* Returns a free buffer of the half that begins with number `first`, on this NUMA node if there is
 * one. NULL: none is free. */
kmm__staging_t *kmm__staging_near(struct kmm__stager *p, uint32_t first, int node);
void kmm__staging_queue(kmm__staging_t *s); /* queues it for a thread to fill or empty */
void kmm__staging_free(kmm__staging_t *s);
/* Passes on notes that wait for nothing; unlocks meanwhile. */
void kmm__notes_deliver(struct kmm__stager *p);

/* Calls fn, as the backend's notify does, when all that was enqueued on d->out is done and has
 * landed. The caller holds d->out_lock. */
int kmm__stage_notify(kmm__device_t *d, void (*fn)(void *arg, int status), void *arg);

#endif
