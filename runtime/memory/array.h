/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays: managed memory, each named by an address. Its elements live in spaces: the host's, where
 * it has a buffer, and each device's, where it has a window in which frames are mapped.
 */
#ifndef KMM__MEMORY_ARRAY_H
#define KMM__MEMORY_ARRAY_H

#include <stddef.h>

#include "geometry/layout.h"
#include "memory/state.h"
#include "task/object.h"
#include "task/ticket.h"

/* What an array's coherence map would answer wherever it is asked (memory/coherence.c). */
typedef struct kmm__coherence_summary {
    uint32_t whole; /* spaces (bits) that hold the newest value of all that was ever written, with
                     * no copy on its way there */
    /* The one device whose space holds any value, written whole, by tasks on its one compute
     * stream. The map is one leaf then, without the writers' tickets. NULL: not known. */
    kmm__device_t *sole;
    kmm__ticket_t *last; /* the latest of those tickets; a reference; NULL: none */
    /* Counted since all of the map was looked at: bytes found to be in one space, and bytes that
     * one device alone has written. */
    uint32_t seen_in;
    kmm__device_t *writer;
    uint64_t seen, written;
} kmm__coherence_summary_t;

/* What an array has on one device. */
typedef struct kmm__residence {
    kmm__addr_t window;   /* 0: none yet; where arrays are whole: none now */
    kmm__frame_t *frames; /* frame_count of them; NULL: none yet */
    uint32_t mapped;      /* of these */
    bool is_packed;       /* it has no frames: its place is in a slab (memory/residency/pack.c) */
} kmm__residence_t;

/* A block of a host buffer that is page-locked as one (memory/host/pagelock.c).
 *
 *   NEW --> LOCKING --> READY    a thread locks it, or the driver refuses to
 *    |  ^                 ^ |
 *    |  +-----------------|-+    its memory goes away
 *    +--------------------+      the program has locked it itself
 */
typedef struct kmm__host_block {
    enum { KMM__BLOCK_NEW, KMM__BLOCK_LOCKING, KMM__BLOCK_READY } state;
    kmm__backend_t *locked_by; /* NULL: it could not be, or the program has done it */
    uint64_t staged;           /* bytes of it that were copied through buffers so far */
} kmm__host_block_t;

struct kmm__array {
    kmm__object_t object; /* what tasks depend on; first, see kmm__object_of */
    kmm_runtime_t *runtime;
    uint64_t id;
    uint64_t refs; /* one for the program, one for each access of an unfinished task */
    char *base;    /* the address that names it */
    size_t bytes;
    size_t reserved; /* bytes of address space at base that are ours; 0: mapped host memory */
    char *host;      /* host buffer; the user's memory when mapped; NULL: none yet */
    char *label;
    kmm__layout_t flat; /* one dimension, its bytes */
    bool is_freed;      /* the program has freed it: no work will be submitted that uses it */
    bool is_tracked;  /* its coherence is kept: there are several spaces, or it is mapped `from` or
                         `alloc` */
    uint16_t owner;   /* in a managed program: the device that was current at its allocation */
    bool *freed_flag; /* set to true when the array is freed; may be NULL */

    /* Mapped host memory. */
    bool is_mapped;
    kmm_map_t map;
    uint64_t map_end;     /* tasks from this number on come after the map's end; UINT64_MAX: it has
                           * not ended */
    uint32_t map_depth;   /* nested maps */
    uint32_t launch_maps; /* of these, the ones of launches that have not returned */
    bool is_deferred;     /* kmm_wait ends its map: a launch with nowait made it */

    kmm__shape_map_t coherence;       /* at the issue front, */
    kmm__coherence_summary_t summary; /* and what is known of all of it */

    uint64_t frame_bytes;
    uint32_t frame_count;
    kmm__residence_t residence[KMM__MAX_DEVICES];
    uint32_t residence_left; /* devices that have not released theirs, once refs is 0 */
    kmm__array_t *next_dead[KMM__MAX_DEVICES];

    pthread_mutex_t block_lock; /* guards blocks; taken without the runtime's lock */
    pthread_cond_t block_ready; /* a block is no longer being page-locked */
    kmm__host_block_t *blocks;  /* of the host buffer; NULL: none is prepared */
    uint32_t block_count;
    uint64_t block_bytes;
    struct kmm__page *pages; /* of the host buffer, with a limit of host memory */
    uint32_t page_count;
    uint64_t page_bytes; /* of each but the last */
};

_Static_assert(offsetof(struct kmm__array, object) == 0, "kmm__object_of casts an array");

/* ---- Locked ---- */
/* The array in which the address lies, or NULL. */
kmm__array_t *kmm__array_find(kmm_runtime_t *rt, const void *address);
/* The first array that has bytes of [base, base + bytes), and how many have; NULL: none. */
kmm__array_t *kmm__array_in(kmm_runtime_t *rt, const char *base, size_t bytes, uint32_t *count);
/* Whether an array begins inside the memory. */
bool kmm__array_between(kmm_runtime_t *rt, const void *base, size_t bytes);
/* An array's address names it, or does so no longer; false: it did not. */
void kmm__array_index(kmm_runtime_t *rt, kmm__array_t *a);
bool kmm__array_unindex(kmm__array_t *a);
void kmm__array_ref(kmm__array_t *a);
/* The access to bytes [begin, end), which comes from no item. */
kmm__access_t kmm__access_bytes(kmm__array_t *a, kmm_mode_t mode, int64_t begin, int64_t end);

/* ---- Not locked ---- */
/* bytes rounded up to pages of the system; at least one. */
size_t kmm__whole_pages(size_t bytes);

#endif
