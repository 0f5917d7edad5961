/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device of a runtime: a GPU, or the CPU, that a backend has opened, with the streams on which
 * its work is enqueued. What memory/ and execute/ know of it are parts of their own.
 *
 *   compute stream   a stream on which libkmm runs kernels
 *   task stream      a stream for the statements of one `task` directive at a time
 */
#ifndef KMM__BACKEND_DEVICE_H
#define KMM__BACKEND_DEVICE_H

#include "backend/backend.h"
#include "base/runtime.h"

enum { KMM__TASK_STREAMS = 8 }; /* `task` directives at once on a device */

/* A stream on which kernels run. The counts are written by execute/, under the runtime's lock. */
typedef struct kmm__compute_stream {
    kmm__stream_t *stream; /* NULL: a task stream that no task has had yet */
    kmm__device_t *device;
    uint32_t in_flight; /* of the CPU: kernels on it that are not done */
    bool is_taken;      /* of the CPU: it runs functions and operations until there are none;
                         * of a task stream: a `task` directive has it */
} kmm__compute_stream_t;

/* Totals since the start, for observe/. Written by kmm__count and its like alone. */
typedef struct kmm__counters {
    uint64_t launches, chunks;                /* kernels enqueued; chunks that ended well */
    uint64_t bytes_in, bytes_out, bytes_peer; /* copied from the host, to it, from devices */
    uint64_t bytes_lent;                      /* copied to other devices */
    uint64_t mappings, allowings, mapping_ns; /* frames mapped or unmapped; calls that give
                                               * access; nanoseconds of both */
    uint64_t sharings, sharing_ns;            /* calls that give other devices access */
    uint64_t premapped, premap_ns;            /* frames prefetched; nanoseconds of that */
    uint64_t waiting_ns;                      /* for room, before a task's copies */
    uint64_t host_backed_most;                /* bytes of host-backed frames, at most */
} kmm__counters_t;

/* Adds to a counter. Needs no lock. */
static inline void kmm__count(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* A counter's value. Needs no lock. */
static inline uint64_t kmm__counted(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Locked: adds to a counter that no thread changes without the lock; quicker than kmm__count. */
static inline void kmm__count_locked(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, kmm__counted(counter) + n, __ATOMIC_RELAXED);
}

/* Locked: raises a counter to `value`, if it is less. */
static inline void kmm__count_most(uint64_t *counter, uint64_t value)
{
    if (value > kmm__counted(counter))
        __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

struct kmm__device {
    kmm_runtime_t *runtime;
    kmm__backend_t *backend;
    kmm__gpu_t *gpu;
    kmm__gpu_info_t info;
    uint32_t index;   /* in runtime->device */
    int ordinal;      /* the driver's number */
    uint32_t space;   /* KMM__HOST: it works in the host's memory */
    bool hidden;      /* the CPU, when only the runtime itself uses it */
    _Atomic int lost; /* the error of work that failed on it. A lost device does nothing any more,
                       * and what was newest there is gone. Written by kmm__device_lose */
    kmm__compute_stream_t
        *compute_streams; /* compute_stream_count of them, then KMM__TASK_STREAMS */
    uint32_t compute_stream_count;
    kmm__stream_t *in, *out, *peer; /* copies from the host, to the host, from devices */
    /* Each is held while something is enqueued on the stream of that name. The compute streams
     * belong to the device's thread. */
    pthread_mutex_t in_lock, out_lock, peer_lock;
    kmm__event_t **events; /* unused ones */
    uint32_t event_count, event_capacity;
    pthread_cond_t wake;    /* something changed that the device's threads may wait for */
    _Atomic uint64_t wakes; /* how often; changed under the lock */
    kmm__counters_t counters;
    _Atomic uint64_t flushed; /* launches after which printing was flushed; written by api/ */

    /* Parts. Each is owned by one floor. */
    struct kmm__device_memory *memory; /* memory/state.h */
    struct kmm__device_queue *queue;   /* execute/queue.h */
    /* Locked: names what was under way when a kernel failed. Set by execute/. */
    void (*note_fault)(kmm__device_t *d, int error);
};

void kmm__device_init(kmm__device_t *d); /* makes its locks */
/* Makes its streams. 0 or an error with its text. */
int kmm__device_open(kmm__device_t *d);
/* Destroys both, when what is on its streams is over, and closes the device. */
void kmm__device_close(kmm__device_t *d);

/* Locked: wakes the device's threads. */
void kmm__device_wake(kmm__device_t *d);

/* Locked: work on the device failed, which a GPU never recovers from. */
void kmm__device_lose(kmm__device_t *d, int error);

/* Locked: a call has failed with `error`. After a kernel's fault every call for the device fails,
 * so the device's event (NULL: any) is asked whether it is lost. */
void kmm__device_doubt(kmm__device_t *d, kmm__event_t *event, int error);

/* Not locked: waits for all that is on the stream. Returns its status. */
int kmm__stream_drain(kmm__backend_t *b, kmm__stream_t *s);

#endif
