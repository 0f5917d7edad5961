/* SPDX-License-Identifier: Apache-2.0 */
/* The state of memory/ for a runtime, and for each of its devices. Guarded by the runtime's lock.
 */
#ifndef KMM__MEMORY_STATE_H
#define KMM__MEMORY_STATE_H

#include "backend/device.h"
#include "base/trace.h"
#include "geometry/map.h"
#include "task/task.h"

enum {
    KMM__PATTERNS = 509, /* launches that are remembered, to foresee those that come again */
    KMM__WARNED = 32     /* kernels remembered per device, so that each is warned of once */
};

/* A launch that may come again (memory/residency/foresight.c). `last` and `period` are numbers of
 * tasks. */
typedef struct kmm__pattern {
    uint64_t identity; /* hash of the kernel, its place in the source, and its arrays */
    uint64_t last;     /* its first task, when it was last submitted */
    uint64_t period;   /* tasks between that and its submission before; 0: there was none */
} kmm__pattern_t;

/* What is known of waits in a loop (memory/residency/lookahead.c). */
typedef struct kmm__lookahead {
    uint32_t launches;       /* submitted since the last wait where memory is short */
    uint32_t waits;          /* in a row after which much was evicted */
    uint64_t work_id;        /* the latest of these launches, + 1 */
    uint64_t evicted;        /* bytes that devices had evicted when a thread waited last */
    const char *file;        /* the place of the latest of them; NULL: none has one */
    const char *waited_file; /* the place of the latest launch before the last wait */
    int line, waited_line;
    const kmm__device_t *device; /* and a device that it was submitted to */
    bool is_said;
} kmm__lookahead_t;

struct kmm__memory {
    kmm__array_t **arrays; /* sorted by base */
    uint32_t array_count, array_capacity;
    /* How often an array that the program knows was added to `arrays` or removed. Its first value
     * is another one in each runtime. Also read without the lock. */
    _Atomic uint64_t index_changes;
    uint32_t live_arrays; /* arrays whose memory is not freed yet, also dead ones */
    uint32_t forgotten;   /* those of them that the program has freed */
    uint32_t apart;       /* small arrays that got names of their own since native standing ended */
    uint64_t next_array;
    /* bytes of all live arrays; the most there were at one time */
    uint64_t array_bytes, array_most;
    uint64_t framed_bytes; /* bytes of all frames that live arrays can have on one device */
    uint64_t frame_bytes;  /* bytes of the largest frame; a power of two */
    kmm__array_t
        *globals; /* stands for all memory that is no array: variables, other allocations */
    bool addresses_are_host; /* a new array's address is its memory, if there is no other space */
    bool by_reuse; /* tasks are ordered by reuse where memory is short (residency/reuse.c) */
    kmm__lookahead_t lookahead;
    kmm__map_ops_t holders_ops; /* operations of coherence maps */
    kmm__pattern_t patterns[KMM__PATTERNS];

    struct kmm__locked *locked;           /* memory/host/locked.c: bound of page-locked memory */
    struct kmm__numa *numa;               /* memory/host/numa.c: NUMA nodes near each device */
    struct kmm__pagelockers *pagelockers; /* memory/host/pagelock.c: threads that page-lock */
    struct kmm__stager *stager;           /* memory/host/stager.c: copies through staging buffers */
    struct kmm__links *links; /* memory/host/links.c: turns; NULL: all devices copy at once */
    struct kmm__spill *spill; /* memory/disk/spill.c: the limit of host memory; NULL: none */
};

/* A spare frame: physical memory of a device that is mapped nowhere. */
typedef struct kmm__spare {
    kmm__frame_handle_t handle;
    uint64_t bytes;
} kmm__spare_t;

/* Where an array was on a device, which has ended. */
typedef struct kmm__gone {
    kmm__addr_t begin;
    uint64_t bytes;
} kmm__gone_t;
enum { KMM__GONE = 64 };

/* Invariants: `used` is the bytes of mapped frames, spare frames and slabs. used <= limit, except
 * while `limit` shrinks. Counts of bytes leave out host-backed frames, unless they say so. */
struct kmm__device_memory {
    uint64_t limit, used;
    uint64_t most;     /* what limit was before the driver had less */
    bool is_bounded;   /* the program's user has given the limit */
    uint64_t proved;   /* bytes that the driver has had for us at once (kmm__memory_prove) */
    uint64_t promised; /* bytes of frames that an accepted launch needs at once; slabs leave them */

    /* Lists of frames by their state, doubly linked. */
    kmm__frame_t *idle, *busy, *evicted;
    uint32_t evicting; /* number of frames that are EVICTING */
    uint64_t evicting_bytes;
    uint64_t pinned_bytes;      /* bytes of frames with pins */
    uint64_t host_backed_bytes; /* bytes of host-backed frames */
    kmm__spare_t *spare;        /* spare_count spare frames */
    uint32_t spare_count, spare_capacity;
    struct kmm__pack *pack; /* slabs; NULL: there was none yet */
    kmm__array_t *dead;     /* dead arrays, whose residence here is to be released */
    /* a ring of those that were released last, for the handler of faults; the next place */
    kmm__gone_t gone[KMM__GONE];
    uint32_t next_gone;

    /* Evicting early (memory/residency/evict.c). */
    uint32_t pressure; /* acquisitions until memory no longer counts as short; 0: it is not short */
    bool all_needed;   /* every idle frame is known to be needed again */
    uint64_t coming;   /* bytes that were mapped for unfinished tasks */
    uint64_t missing;  /* bytes that recent acquisitions mapped, on average */
    uint64_t now;      /* rank of the task that acquired last */
    uint64_t stamp;    /* number of the latest acquisition; marks the frames that it listed */
    bool acquires;     /* an acquisition is under way */

    /* Order by reuse (memory/residency/reuse.c). */
    uint32_t unforeseen;      /* unissued tasks that no frame has in its queue of uses */
    uint64_t front;           /* the greatest rank of a task that has acquired */
    struct kmm__waves *waves; /* NULL: memory was never short */

    /* Premapping frames (memory/residency/premap.c). */
    struct kmm__premapper *premapper; /* its thread and state; NULL: not started yet */
    uint64_t premapped_bytes; /* bytes of premapped frames that no task has used; part of `used` */
    bool is_premapping;       /* frames are being premapped now */
    /* premapping failed: none is tried until an acquisition has mapped a frame */
    bool premap_failed;
    /* Returns the k-th task in the device's ready queue; NULL: there are fewer. Set by execute/. */
    const kmm__task_t *(*next_task)(const kmm__device_t *d, uint32_t k);

    /* Kernels, or texts of other work, that have been warned of: */
    const void *exceeding[KMM__WARNED]; /* they need more than the device has; */
    const void *amplified[KMM__WARNED]; /* their chunks use little of the frames they touch */
};

/* Locked: takes room for bytes of the device's memory. */
static inline void kmm__memory_take(kmm__device_t *d, uint64_t bytes)
{
    d->memory->used += bytes;
    kmm__count_most(&d->counters.memory_most, d->memory->used);
}

/* Makes and frees rt->memory. */
void kmm__memory_start(kmm_runtime_t *rt);
void kmm__memory_stop(kmm_runtime_t *rt); /* all arrays are freed */
/* Makes and frees d->memory. `limit`: bytes of the device that frames may use. */
void kmm__device_memory_start(kmm__device_t *d, uint64_t limit);
void kmm__device_memory_stop(kmm__device_t *d);

/* Locked: tells how much of a device's memory is in use. */
static inline void kmm__trace_memory(const kmm__device_t *d)
{
    KMM__TRACE(.kind = KMM__EVENT_MEMORY, .device = d->number, .a = d->memory->used);
}

#endif
