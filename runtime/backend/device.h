/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of a runtime. A device is a GPU, the CPU or a pretend device that a backend has opened,
 * with the streams on which its work is enqueued. memory/ and execute/ each add a part of their
 * own.
 *
 *   compute stream   a stream on which libkmm runs kernels
 *   task stream      a stream for the statements of one `task` directive at a time
 */
#ifndef KMM__BACKEND_DEVICE_H
#define KMM__BACKEND_DEVICE_H

#include "backend/backend.h"
#include "base/runtime.h"

enum { KMM__TASK_STREAMS = 8 }; /* `task` directives that run at once on a device */

/* A compute stream or a task stream. Members are written by execute/, under the runtime's lock. */
typedef struct kmm__compute_stream {
    kmm__stream_t *stream; /* NULL: a task stream that was never taken */
    kmm__device_t *device;
    uint32_t in_flight; /* of the CPU: unfinished kernels on the stream */
    /* of the CPU: it runs functions and operations until there are none; of a task stream: a `task`
     * directive uses it */
    bool is_taken;
    uint64_t ran_from; /* of the CPU, if runtime->stats: kmm__now() when its kernel began */
} kmm__compute_stream_t;

/* Totals since the start of the runtime, for observe/. Written only by the functions below. */
typedef struct kmm__counters {
    uint64_t launches, chunks; /* kernels enqueued; chunks that ended without error */
    /* bytes copied from the host, to the host, from other devices */
    uint64_t bytes_in, bytes_out, bytes_peer;
    uint64_t bytes_lent; /* bytes copied to other devices */
    /* frames mapped or unmapped; calls that give access; nanoseconds of both */
    uint64_t mappings, allowings, mapping_ns;
    uint64_t sharings, sharing_ns; /* calls that give other devices access; nanoseconds of these */
    uint64_t premapped, premap_ns; /* frames premapped; nanoseconds of that */
    uint64_t waiting_ns; /* nanoseconds in which tasks waited for memory before their copies */
    uint64_t proven;     /* chunks under -fkmm-check that ran without it */
    uint64_t memory_most,
        host_backed_most; /* most bytes of memory, of host-backed frames, at once */
    uint64_t evicted;     /* bytes of frames that were evicted while their array lived */
    /* Only if runtime->stats: bytes copied to the device that an eviction had taken from it;
     * nanoseconds in which chunks ran, of all compute streams */
    uint64_t bytes_again, run_ns;
} kmm__counters_t;

/* Adds n to a counter. Needs no lock. */
static inline void kmm__count(uint64_t *counter, uint64_t n)
{
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Returns a counter's value. Needs no lock. */
static inline uint64_t kmm__counted(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Locked: adds n to a counter that only threads with the lock change. Faster than kmm__count. */
static inline void kmm__count_locked(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, kmm__counted(counter) + n, __ATOMIC_RELAXED);
}

/* Locked: raises a counter to `value` if it is less. */
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
    uint32_t index;  /* index in runtime->device */
    uint16_t number; /* of devices of all runtimes, for trace points; set by observe/ */
    int ordinal;     /* the backend's number of the device */
    uint32_t space;  /* the space in which it works; KMM__HOST: host memory */
    bool hidden;     /* the CPU, if launches do not use it, but the runtime does */
    /* error of work that failed on it; 0: it is not lost. A lost device gets no more work, and the
     * newest values that only it held are gone. Written by kmm__device_lose */
    _Atomic int lost;
    /* compute_stream_count compute streams, then KMM__TASK_STREAMS task streams */
    kmm__compute_stream_t *compute_streams;
    uint32_t compute_stream_count;
    /* streams for copies from the host, to the host, from other devices */
    kmm__stream_t *in, *out, *peer;
    /* Each is held while work is enqueued on the stream of its name. Compute streams need none:
     * only the device's thread uses them. */
    pthread_mutex_t in_lock, out_lock, peer_lock;
    kmm__event_t **events; /* free list */
    uint32_t event_count, event_capacity;
    /* goes with the runtime's lock; something changed that the device's threads wait for */
    pthread_cond_t wake;
    _Atomic uint64_t wakes; /* number of wake-ups; changed under the lock */
    kmm__counters_t counters;
    _Atomic uint32_t marks; /* calls of kmm__stream_mark whose notification is to come */
    /* counters.launches when printing was last flushed; written by api/ */
    _Atomic uint64_t flushed;

    /* Parts. Each is owned by the floor of its name. */
    struct kmm__device_memory *memory; /* memory/state.h */
    struct kmm__device_queue *queue;   /* execute/queue.h */
    /* Locked: notes an error that names the tasks under way when a kernel failed. Set by execute/.
     */
    void (*note_fault)(kmm__device_t *d, int error);
};

void kmm__device_init(kmm__device_t *d); /* makes its locks */
/* Makes the device's streams. Returns 0 or an error with its text. */
int kmm__device_open(kmm__device_t *d);
/* Destroys streams and locks, and closes the device. All its work has finished. */
void kmm__device_close(kmm__device_t *d);

/* Locked: wakes the device's threads. */
void kmm__device_wake(kmm__device_t *d);

/* Locked: marks a GPU as lost, because work on it failed with `error`. Does nothing for the CPU,
 * and for a device that is lost. */
void kmm__device_lose(kmm__device_t *d, int error);

/* Locked: called after a driver's call has failed with `error`. After a kernel's fault every call
 * fails, so this asks for the state of `event` (NULL: of any event), and marks the device as lost
 * if that fails, too. Does nothing for errors that no fault causes. */
void kmm__device_doubt(kmm__device_t *d, kmm__event_t *event, int error);

/* True if memory of the device stays mapped, after unmapping has returned `error`. A device that is
 * lost has no mappings. */
static inline bool kmm__stays_mapped(const kmm__device_t *d, int error)
{
    return error && error != KMM_E_KERNEL && !d->lost;
}

/* Not locked: waits for all work on the stream. Returns its status. */
int kmm__stream_drain(kmm__backend_t *b, kmm__stream_t *s);

#endif
