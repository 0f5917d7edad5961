/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: physical memory of a device that is mapped in an array's window; the unit of residency.
 *
 *              a task, or the premapper, maps it
 *   ABSENT --> MOVING --> MAPPED --> EVICTING --> EVICTED --> MOVING --> ABSENT
 *                           |  ^          |           |
 *                           |  +----------+-----------+
 *                           |   its copy failed; it is wanted again
 *                           +--> MOVING --> ABSENT
 *                               nothing of it has to be copied
 *   A frame that the driver does not unmap goes from MOVING to EVICTED.
 *
 *   ABSENT    has no memory
 *   MOVING    is being mapped or unmapped, by its device's thread or by the premapper
 *   MAPPED    on the device's idle list if pins is 0, otherwise on its busy list
 *   EVICTING  is being copied out
 *   EVICTED   copied out, still mapped; on the device's evicted list
 */
#ifndef KMM__MEMORY_RESIDENCY_FRAME_H
#define KMM__MEMORY_RESIDENCY_FRAME_H

#include "memory/array.h"

enum { KMM__PAST_USES = 4 };

typedef enum kmm__frame_state {
    KMM__FRAME_ABSENT,
    KMM__FRAME_MAPPED,
    KMM__FRAME_MOVING,
    KMM__FRAME_EVICTING,
    KMM__FRAME_EVICTED
} kmm__frame_state_t;

/* Bytes [begin, end) of a frame; none if end is 0. */
typedef struct kmm__part {
    uint64_t begin, end;
} kmm__part_t;

/* The use of a frame by a task that has not been issued yet. */
typedef struct kmm__use {
    uint64_t rank, sequence; /* the task's */
    kmm__part_t read;        /* what it reads lies in that part */
    kmm__part_t stored;      /* it stores all of that part anew */
} kmm__use_t;

/* The uses of a frame (memory/residency/foresight.h). Times are numbers of tasks. */
typedef struct kmm__uses {
    kmm__use_t *queue; /* ring of uses, in the order in which tasks will be taken */
    uint32_t head, count, capacity;
    uint32_t launch;               /* pattern of the launch that used it last */
    uint64_t past[KMM__PAST_USES]; /* last uses, latest first; 0: none */
    /* waves in which it is live, from the first to the last; 0: none (memory/residency/reuse.c) */
    uint64_t first_wave, last_wave;
    /* number + 1 of the task that was ranked last of those that use it; where its list has it */
    uint64_t listed;
    uint32_t listed_at;
} kmm__uses_t;

/* Guarded by the runtime's lock. */
struct kmm__frame {
    kmm__array_t *array;
    kmm__device_t *device;
    uint32_t index; /* index in the array's table */
    kmm__frame_state_t state;
    uint32_t pins;    /* unfinished tasks that touch it, on any device */
    uint32_t shared;  /* other devices (bits) that have access */
    uint64_t stamp;   /* number of the acquisition that listed it last */
    bool allowed;     /* its device has access */
    bool premapped;   /* it was premapped, or is being premapped, and no task has used it yet */
    bool host_backed; /* it is host-backed; changes only while pins is 0 */
    double cost; /* of its use if it were host-backed; of the latest acquisition that sorted it */
    uint64_t taken; /* bytes that evictions took and no copy has brought back since */
    kmm__frame_handle_t handle;
    kmm__uses_t uses;
    kmm__frame_t *previous, *next; /* neighbours in the list of its state */
};

/* All functions are called with the lock. */
/* True if the device has room for all frames of all arrays. */
bool kmm__arrays_fit(const kmm__device_t *d);
/* The same, and memory is not short, so that frames are not evicted. */
bool kmm__frames_fit(const kmm__device_t *d);
void kmm__frames_release(kmm__task_t *t); /* drops t's pins */
void kmm__frame_pin(kmm__task_t *t, kmm__frame_t *f);
/* Returns the table of an array's frames on a device, made if needed. */
kmm__frame_t *kmm__frames_table(kmm__array_t *a, kmm__device_t *d);
/* Calls fn for each frame of a on d that has bytes of the box. */
void kmm__frames_of(kmm__array_t *a, kmm__device_t *d, const kmm__layout_t *l, const kmm__box_t *b,
                    void (*fn)(void *ctx, kmm__frame_t *f), void *ctx);

/* ---- States and lists ---- */
/* Each function is one arrow of the diagram. It asserts the old state and keeps lists, counters and
 * states in step. */
void kmm__frame_begin_mapping(kmm__frame_t *f);           /* ABSENT -> MOVING */
void kmm__frame_mapping_failed(kmm__frame_t *f);          /* MOVING -> ABSENT */
void kmm__frame_mapped(kmm__frame_t *f, bool is_allowed); /* MOVING -> MAPPED, idle */
void kmm__frame_begin_eviction(kmm__frame_t *f);          /* MAPPED, idle -> EVICTING */
void kmm__frame_eviction_failed(kmm__frame_t *f);         /* EVICTING -> MAPPED, idle */
void kmm__frame_evicted(kmm__frame_t *f);                 /* EVICTING -> EVICTED */
void kmm__frame_reclaim(kmm__frame_t *f);                 /* EVICTED -> MAPPED, idle */
void kmm__frame_begin_unmapping(kmm__frame_t *f);         /* MAPPED, idle, or EVICTED -> MOVING */
void kmm__frame_unmapped(kmm__frame_t *f);                /* MOVING -> ABSENT */
void kmm__frame_unmapping_failed(kmm__frame_t *f);        /* MOVING -> EVICTED */

/* True if a frame's members agree with each other and with the head of its list. */
bool kmm__frame_is_valid(const kmm__frame_t *f);
/* True if a device's lists, the states of the frames on them, and the counters of bytes agree.
 * Walks all lists. */
bool kmm__device_memory_is_valid(const kmm__device_t *d);

/* Bytes of the frame, as they are mapped. */
static inline uint64_t kmm__frame_size(const kmm__frame_t *f)
{
    return kmm__array_frame_size(f->array, f->index);
}

/* Bytes that the frame takes of the device's memory. */
static inline uint64_t kmm__frame_bytes(const kmm__frame_t *f)
{
    return f->host_backed ? 0 : kmm__frame_size(f);
}

/* The frame's address in its window. */
static inline kmm__addr_t kmm__frame_address(const kmm__frame_t *f)
{
    return f->array->residence[f->device->index].window + f->index * f->array->frame_bytes;
}

#endif
