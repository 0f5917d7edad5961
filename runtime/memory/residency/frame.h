/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: physical memory of a device that is mapped in an array's window, the unit of residency.
 *
 *              a task, or prefetching, maps it
 *   ABSENT --> MOVING --> MAPPED --> EVICTING --> EVICTED --> MOVING --> ABSENT
 *                           |  ^          |           |
 *                           |  +----------+-----------+
 *                           |   its copy failed; it is wanted again
 *                           +--> MOVING --> ABSENT
 *                               nothing of it has to be copied
 *
 *   ABSENT    no memory
 *   MOVING    being mapped or unmapped, by its device's thread or by prefetching
 *   MAPPED    on the device's idle list when pins is 0, else on its busy list
 *   EVICTING  being copied out
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

/* When a frame is used (memory/residency/foresight.h). */
typedef struct kmm__uses {
    uint64_t *queue; /* tasks submitted and not issued that touch it; a ring */
    uint32_t head, count, capacity;
    uint32_t launch;               /* the pattern of the launch that used it last */
    uint64_t past[KMM__PAST_USES]; /* latest first; 0: none */
} kmm__uses_t;

/* Guarded by the runtime's lock. */
struct kmm__frame {
    kmm__array_t *array;
    kmm__device_t *device;
    uint32_t index; /* in the array */
    kmm__frame_state_t state;
    uint32_t pins;   /* unfinished tasks that touch it, on any device */
    uint32_t shared; /* other devices (bits) that have access to it */
    uint64_t stamp;  /* the acquisition that listed it last */
    bool allowed;    /* its device has access to it */
    bool ahead;      /* prefetched: it is being mapped, or is mapped and nobody has used it */
    bool away;       /* its memory is the host's, which the device reaches there; changes only while
                      * nothing pins it */
    kmm__frame_handle_t handle;
    kmm__uses_t uses;
    kmm__frame_t *previous, *next; /* in the list of its state */
};

/* ---- Locked, by the device's own thread; these may unlock meanwhile ---- */
/* Maps and pins all frames that t's accesses touch on its device. resident: kmm__frames_resident
 * has just said that they are mapped. KMM_E_MEMORY: they can never be mapped together. */
int kmm__frames_acquire(kmm__task_t *t, bool resident);
/* Unmaps what was evicted, and releases dead arrays. Does not unlock for nothing. */
void kmm__frames_service(kmm__device_t *d);
void kmm__frames_evict_ahead(kmm__device_t *d);
/* Prefetches frames side by side that a task in the device's queue will need, where there is memory
 * to spare. False: there is nothing to do, or it has failed. */
bool kmm__frames_map_ahead(kmm__device_t *d);

/* ---- Locked ---- */
/* Whether acquiring t's frames needs no mapping; *bytes receives how much t touches. */
bool kmm__frames_resident(kmm__task_t *t, uint64_t *bytes);
/* Whether all that any array may have on the device has room, so that nothing is evicted for long.
 */
bool kmm__frames_fit(const kmm__device_t *d);
void kmm__frames_release(kmm__task_t *t); /* t's pins */
void kmm__frame_pin(kmm__task_t *t, kmm__frame_t *f);
/* The table of an array's frames on a device, made if needed. */
kmm__frame_t *kmm__frames_table(kmm__array_t *a, kmm__device_t *d);
/* Calls fn for each frame of a's that holds bytes of the box. */
void kmm__frames_of(kmm__array_t *a, kmm__device_t *d, const kmm__layout_t *l, const kmm__box_t *b,
                    void (*fn)(void *ctx, kmm__frame_t *f), void *ctx);

/* ---- Not locked ---- */
/* Gives device `to` access to the frames of another device of its driver that hold the box. */
void kmm__frames_share(kmm__array_t *a, kmm__device_t *from, kmm__device_t *to,
                       const kmm__layout_t *l, const kmm__box_t *b);
void kmm__frames_close(kmm__device_t *d); /* all arrays are gone */

#endif
