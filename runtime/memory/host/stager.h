/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-locked buffers for copies of ordinary memory, and the threads that fill and empty them.
 * Nothing here is called with the runtime's lock held.
 */
#ifndef KMM__MEMORY_HOST_STAGER_H
#define KMM__MEMORY_HOST_STAGER_H

#include "backend/device.h"
#include "memory/host/costs.h"

enum { KMM__STAGE_BUFFERS = 32, KMM__STAGE_THREADS = 12 };

typedef enum kmm__staging_state {
    KMM__STAGING_FREE,
    KMM__STAGING_QUEUED, /* for a thread of the CPU */
    KMM__STAGING_WORKED, /* a thread fills or empties it */
    KMM__STAGING_FILLED, /* in: to be enqueued */
    KMM__STAGING_COPIED  /* the device reads or writes it */
} kmm__staging_state_t;

/* Copies between a device and the host that are enqueued on one stream of it. Zeroed, but for the
 * first three, at first. */
typedef struct kmm__stage {
    kmm__device_t *device;
    kmm__stream_t *stream;
    bool is_out;
    uint32_t filling; /* in: pieces that a thread is copying to a buffer */
    uint32_t filled;  /* in: pieces that have yet to be enqueued */
} kmm__stage_t;

/* A piece of a copy: rows of the host's memory, which lie one behind the other in the buffer. */
typedef struct kmm__staging {
    struct kmm__stager *stager;
    kmm__staging_state_t state;
    char *memory, *host;
    int node;       /* of the host's memory, that the buffer is on; -1: any */
    kmm__addr_t at; /* on the device */
    int64_t width, pitch, rows;
    kmm__device_t *device;
    kmm__stream_t *stream;
    kmm__stage_t *stage; /* in: of whom it is; NULL: out */
    uint64_t number;     /* out: counts up as pieces are enqueued */
    struct kmm__staging *next;
} kmm__staging_t;

/* A notification that its stream has delivered, and who is to get it once the pieces before it have
 * landed. */
typedef struct kmm__staged_note {
    kmm__device_t *device;
    void (*fn)(void *arg, int status);
    void *arg;
    int status;
    uint64_t number; /* of the first piece behind it */
    struct kmm__staged_note *next;
} kmm__staged_note_t;

struct kmm__stager {
    pthread_mutex_t lock;   /* no other is taken inside it */
    pthread_cond_t work;    /* a buffer was queued */
    pthread_cond_t changed; /* a buffer came to another state */
    enum { KMM__STAGER_NEW, KMM__STAGER_BEGINNING, KMM__STAGER_WORKS, KMM__STAGER_FAILED } state;
    enum { KMM__COSTS_NEW, KMM__COSTS_MISSING, KMM__COSTS_MEASURING, KMM__COSTS_KNOWN } costs_state;
    kmm__copy_costs_t costs; /* all 0 where KMM_STAGE_TIMES says the next */
    double times;            /* kmm__costs_times */
    bool stopping;
    uint32_t threads_wanted, thread_count;
    pthread_t threads[KMM__STAGE_THREADS];
    size_t buffer_bytes;
    char *memory;
    kmm__backend_t *locked_by;
    kmm__staging_t buffers[2 * KMM__STAGE_BUFFERS]; /* for copies in, then for copies out: neither
                                                waits for the other */
    kmm__staging_t *first, **end;                   /* those queued */
    _Atomic uint32_t landing;                       /* buffers of copies out that are in use */
    uint64_t next_number;
    kmm__staged_note_t *notes, **notes_end;
    uint32_t coming;     /* notes that their streams have yet to deliver */
    uint32_t delivering; /* threads in notes_deliver */
};

int kmm__stage_start(kmm_runtime_t *rt);
/* When no more work can come to devices, whose streams are still there. */
void kmm__stage_stop(kmm_runtime_t *rt);
/* Buffers and threads are made for the first copy. Not locked; others wait. */
bool kmm__stager_begin(struct kmm__stager *p, kmm_runtime_t *rt, kmm__backend_t *backend);

/* ---- With the stager's lock ---- */
/* A free buffer of those from `first` on, on that node of the host's memory if there is one; NULL:
 * none is free. */
kmm__staging_t *kmm__staging_near(struct kmm__stager *p, uint32_t first, int node);
void kmm__staging_queue(kmm__staging_t *s); /* for a thread to fill or empty it */
void kmm__staging_free(kmm__staging_t *s);
void kmm__notes_deliver(struct kmm__stager *p); /* unlocks meanwhile */

/* Calls fn when all that was enqueued on d->out, which is locked, is over and at the host; like the
 * backend's notify. */
int kmm__stage_notify(kmm__device_t *d, void (*fn)(void *arg, int status), void *arg);

#endif
