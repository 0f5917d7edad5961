/* SPDX-License-Identifier: Apache-2.0 */
/* What memory/ keeps for a runtime, and for each of its devices. Guarded by the runtime's lock. */
#ifndef KMM__MEMORY_STATE_H
#define KMM__MEMORY_STATE_H

#include "backend/device.h"
#include "geometry/map.h"
#include "task/task.h"

enum {
    KMM__PATTERNS = 509, /* launches that are remembered */
    KMM__WARNED = 32     /* kernels remembered per device, so that each is warned of once */
};

/* A launch that may come again (memory/residency/foresight.c). Numbers are those of tasks. */
typedef struct kmm__pattern {
    uint64_t identity; /* of the kernel, its place in the source and its arrays */
    uint64_t last;     /* its first task, the last time */
    uint64_t period;   /* how many tasks before that it came; 0: it came once */
} kmm__pattern_t;

struct kmm__memory {
    kmm__array_t **arrays; /* sorted by base */
    uint32_t array_count, array_capacity;
    uint32_t live_arrays; /* not freed yet, dead ones included */
    uint32_t forgotten;   /* of these, the ones that the program has freed */
    uint64_t next_array;
    uint64_t array_bytes, array_most; /* of all that live, and the most there were */
    uint64_t framed_bytes;            /* what all that live could take of a device, in frames */
    uint64_t frame_bytes;             /* of the largest frame; a power of two */
    kmm__array_t
        *globals; /* stands for all memory that is no array: variables, other allocations */
    bool addresses_are_host;    /* the address of a new array is its memory, where there is no other
                                   space */
    kmm__map_ops_t holders_ops; /* of coherence maps */
    kmm__pattern_t patterns[KMM__PATTERNS];

    struct kmm__locked *locked; /* memory/host/locked.c: how much is page-locked */
    struct kmm__numa *numa;     /* memory/host/numa.c: the host's nodes near each device */
    struct kmm__pagelockers *pagelockers; /* memory/host/pagelock.c: threads that page-lock */
    struct kmm__stager *stager;           /* memory/host/stage.c: copies through buffers */
    struct kmm__links *links;             /* memory/host/links.c; NULL: all devices copy at once */
    struct kmm__spill *spill; /* memory/disk/spill.c: the limit of host memory; NULL: none */
};

typedef struct kmm__spare {
    kmm__frame_handle_t handle;
    uint64_t bytes;
} kmm__spare_t;

/* Invariant: used = bytes of frames mapped or spare, and of slabs; used <= limit, except while
 * limit shrinks. Bytes do not include host-backed frames, unless they say so. */
struct kmm__device_memory {
    uint64_t limit, used;
    uint64_t most;     /* what limit was before the driver had less */
    uint64_t proved;   /* bytes that the driver has had for us at once (kmm__memory_prove) */
    uint64_t promised; /* bytes of frames that an accepted launch needs at once; slabs leave them */

    /* Lists of frames, doubly linked. */
    kmm__frame_t *idle, *busy, *evicted;
    uint32_t evicting; /* frames that are EVICTING */
    uint64_t evicting_bytes;
    uint64_t pinned_bytes;      /* of frames with pins */
    uint64_t host_backed_bytes; /* of host-backed frames */
    kmm__spare_t *spare;        /* physical memory that is mapped nowhere */
    uint32_t spare_count, spare_capacity;
    struct kmm__pack *pack; /* slabs that small arrays share; NULL: there was none yet */
    kmm__array_t *dead;     /* arrays whose residence here is to be released */

    /* Evicting early (memory/residency/evict.c). */
    uint32_t pressure; /* acquisitions until memory counts as not short; 0: it is not short */
    bool all_needed;   /* all idle frames are known to be needed again */
    uint64_t coming;   /* bytes that were mapped for unfinished tasks */
    uint64_t missing;  /* bytes that recent acquisitions mapped, on average */
    uint64_t now;      /* the number of the task that acquired last */
    uint64_t stamp;    /* marks the frames that the latest acquisition listed */
    bool acquires;     /* an acquisition is under way */

    /* Premapping frames (memory/residency/premap.c). */
    struct kmm__premapper *premapper; /* its thread; NULL: not started yet */
    uint64_t premapped_bytes;         /* of premapped frames that no task has used; part of used */
    bool is_premapping;               /* some are being mapped */
    bool premap_failed; /* no frame is premapped until an acquisition has mapped one */
    /* The k-th task in the device's queue; NULL: there are not so many. Set by execute/. */
    const kmm__task_t *(*next_task)(const kmm__device_t *d, uint32_t k);

    /* Kernels, or texts of other work, that have been warned of: */
    const void *exceeding[KMM__WARNED]; /* they need more than the device has; */
    const void *amplified[KMM__WARNED]; /* their chunks use little of the frames they touch */
};

/* Makes the runtime's part, and a device's. */
void kmm__memory_start(kmm_runtime_t *rt);
void kmm__memory_stop(kmm_runtime_t *rt); /* all arrays are gone */
void kmm__device_memory_start(kmm__device_t *d, uint64_t limit);
void kmm__device_memory_stop(kmm__device_t *d);

#endif
