/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: memory that libkmm manages, each named by an address. An array's elements live in spaces.
 * On the host it has a host buffer. On each device it has a window, in which frames are mapped. */
#ifndef KMM__MEMORY_ARRAY_H
#define KMM__MEMORY_ARRAY_H

#include <stddef.h>

#include "geometry/layout.h"
#include "memory/state.h"
#include "task/object.h"
#include "task/ticket.h"

/* Facts about the coherence of a whole array, kept so that its map need not be asked
 * (memory/summary.c). */
typedef struct kmm__coherence_summary {
    /* spaces (bits) that hold the newest value of every element that was ever written, with no copy
     * to them under way */
    uint32_t whole;
    /* The sole writer: only this device holds any value, and tasks on its one compute stream have
     * written all of them. The map is then one leaf, without the writers' tickets. NULL: there is
     * no such device. */
    kmm__device_t *sole;
    kmm__ticket_t *last; /* ticket of the sole writer's last task; a reference; NULL: none */
    /* Counts since the whole map was last visited: bytes that tasks found in space `seen_in`; bytes
     * that device `writer` has written, and no other has meanwhile. */
    uint32_t seen_in;
    kmm__device_t *writer;
    uint64_t seen, written;
} kmm__coherence_summary_t;

/* An array's residence: what it has on one device. */
typedef struct kmm__residence {
    kmm__addr_t window;   /* 0: none yet; if the device has whole frames only: none mapped */
    kmm__frame_t *frames; /* table of frame_count frames; NULL: not made yet */
    uint32_t mapped;      /* frames of the table that are mapped */
    bool is_packed; /* it has no frames, because it lies in a slab (memory/residency/pack.c) */
    bool is_stuck;  /* the driver did not unmap some frame, so that the window stays */
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
    /* the backend that has locked it; NULL: it is not locked, or the program has locked it */
    kmm__backend_t *locked_by;
    uint64_t staged; /* bytes of it that were copied through staging buffers so far */
} kmm__host_block_t;

struct kmm__array {
    kmm__object_t object; /* what tasks depend on; the first member */
    kmm_runtime_t *runtime;
    uint64_t id;
    uint64_t refs; /* references: the program's, and one for each access of an unfinished task */
    char *base;    /* the address that names the array */
    size_t bytes;
    /* bytes of address space reserved at base, more than `bytes` (a margin in front is not
     * counted); 0: the array is mapped host memory, or lies in a slab that has its name */
    size_t reserved;
    /* the device whose driver has reserved the name, because the array was made in native standing
     * (memory/residency/native.h); NULL: libkmm has */
    kmm__device_t *home;
    char *host; /* host buffer, or the program's memory if that is mapped; NULL: not made yet */
    char *label;
    kmm__layout_t flat; /* layout of one dimension, its bytes */
    bool is_unknown;    /* the program does not know its address (kmm__array_hide) */
    bool is_freed;      /* the program has freed it, and submits no more work that uses it */
    /* its coherence is kept: there are several spaces, or it is mapped `from` or `alloc` */
    bool is_tracked;
    uint16_t owner;   /* of a managed program: the device that was current at its allocation */
    bool *freed_flag; /* set to true when the array is freed; NULL: nothing is set */

    /* Of mapped host memory. */
    bool is_mapped;
    kmm_map_t map;
    /* tasks with this number or a greater one come after the map's end; UINT64_MAX: it has not
     * ended */
    uint64_t map_end;
    uint32_t map_depth;   /* number of nested maps */
    uint32_t launch_maps; /* maps among these that launches made which have not returned */
    bool is_deferred;     /* a launch with nowait made its map, which kmm_wait ends */

    kmm__shape_map_t coherence;       /* coherence of each element, as of issue */
    kmm__coherence_summary_t summary; /* coherence of the whole array */

    uint64_t frame_bytes; /* of each frame but the last */
    uint64_t last_bytes;  /* of the last frame, which is cut to what a driver can map */
    uint32_t frame_count;
    kmm__residence_t residence[KMM__MAX_DEVICES];
    uint32_t residence_left; /* of a dead array: devices that have not released its residence */
    kmm__array_t *next_dead[KMM__MAX_DEVICES];

    pthread_mutex_t block_lock; /* guards the blocks' members; taken without the runtime's lock */
    pthread_cond_t block_ready; /* signalled when a block is no longer LOCKING */
    kmm__host_block_t *blocks;  /* blocks of the host buffer; NULL: not made yet */
    uint32_t block_count;
    uint64_t block_bytes;
    struct kmm__page *pages; /* pages of the host buffer, if host memory is limited */
    uint32_t page_count;
    uint64_t page_bytes; /* bytes of each page but the last */
};

_Static_assert(offsetof(struct kmm__array, object) == 0, "kmm__object_of casts an array");

/* Address space that is reserved in front of a name that is no memory, and behind it: nothing else
 * can be near the array. */
enum { KMM__NAME_MARGIN = 1 << 16 };
static inline bool kmm__array_has_margin(const kmm__array_t *a)
{
    return a->reserved && a->host != a->base && !a->home;
}

/* ---- Locked ---- */
/* Returns the array in which the address lies, or NULL. */
kmm__array_t *kmm__array_find(kmm_runtime_t *rt, const void *address);
/* Returns the array that is nearest to an address which lies in none, at most KMM__NAME_MARGIN
 * away; NULL: there is none. */
kmm__array_t *kmm__array_near(kmm_runtime_t *rt, const void *address);
/* The same, if nothing but the array's name can be at the address. */
kmm__array_t *kmm__array_around(kmm_runtime_t *rt, const void *address);
/* Returns the first array that has bytes of [base, base + bytes); NULL: none. *count receives the
 * number of such arrays. */
kmm__array_t *kmm__array_in(kmm_runtime_t *rt, const char *base, size_t bytes, uint32_t *count);
/* True if an array begins in (base, base + bytes). */
bool kmm__array_between(kmm_runtime_t *rt, const void *base, size_t bytes);
/* Adds an array to the index by address, or removes it. False: it was not in it. */
void kmm__array_index(kmm_runtime_t *rt, kmm__array_t *a);
bool kmm__array_unindex(kmm__array_t *a);
/* Called right after making an array of which the program never learns. rt->memory->index_changes
 * does not count it. */
void kmm__array_hide(kmm__array_t *a);
static inline void kmm__array_ref(kmm__array_t *a)
{
    a->refs++;
}
/* The array's number in the process, for trace points; not 0. */
static inline uint64_t kmm__array_number(const kmm__array_t *a)
{
    return ((uint64_t)a->runtime->number << 40) + a->id + 1;
}
/* Returns the access to bytes [begin, end) of a, which comes from no item. */
kmm__access_t kmm__access_bytes(kmm__array_t *a, kmm_mode_t mode, int64_t begin, int64_t end);

/* ---- Not locked ---- */
/* Bytes of frame `index`, as they are mapped. */
static inline uint64_t kmm__array_frame_size(const kmm__array_t *a, uint32_t index)
{
    return index + 1 < a->frame_count ? a->frame_bytes : a->last_bytes;
}
/* Bytes of all frames: those of a window. */
static inline uint64_t kmm__array_span(const kmm__array_t *a)
{
    return a->frame_count ? (a->frame_count - 1) * a->frame_bytes + a->last_bytes : 0;
}
/* Returns bytes rounded up to OS pages; at least one page. */
size_t kmm__whole_pages(size_t bytes);

#endif
