/* SPDX-License-Identifier: Apache-2.0 */
/* The base of every resource: a head with its functions, and a few shared parts. */
#ifndef KMM__RESOURCE_RESOURCE_H
#define KMM__RESOURCE_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kmm/resource.h>

#include "base/api.h"

/* Functions of a resource. A NULL function has the default named beside it, or in resource.c.
 * Arguments are checked before the call: bytes > 0, p != NULL, alignment is a power of two of at
 * least 256. */
typedef struct kmm__resource_ops {
    int (*allocate)(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                    void **out);
    int (*deallocate)(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream);
    int (*size)(kmm_resource_t *r, const void *p, size_t *bytes);
    int (*info)(kmm_resource_t *r, size_t *available, size_t *total); /* default: upstream's */
    int (*trim)(kmm_resource_t *r, size_t keep);                      /* default: upstream's */
    int (*stream_end)(kmm_resource_t *r, kmm_stream_t stream);        /* default: upstream's */
    int (*allow)(kmm_resource_t *r, int device);                      /* default: upstream's */
    int (*usage)(kmm_resource_t *r, kmm_resource_usage_t *out);       /* default: unsupported */
    /* Returns true if the resource has got the memory that begins at p from upstream.
     * Default: no. */
    bool (*holds)(kmm_resource_t *r, const void *p);
    bool (*equal)(const kmm_resource_t *a, const kmm_resource_t *b); /* default: the same object */
    int (*destroy)(kmm_resource_t *r);
} kmm__resource_ops_t;

/* A run of whole frames of an area. An area is the result of one allocation. */
typedef struct kmm__piece {
    uintptr_t area, address;
    size_t frames;
} kmm__piece_t;

/* Functions of a source that can map its memory at other addresses, frame by frame. */
typedef struct kmm__mapper {
    size_t frame_bytes; /* a power of two; areas are aligned to it and multiples of it */
    /* Creates an area of `frames` frames: first those of the pieces, then new ones. The frames
     * also stay mapped at their old addresses until `forget`. On failure nothing changes. */
    int (*gather)(kmm_resource_t *r, const kmm__piece_t *pieces, size_t count, size_t frames,
                  void **out);
    /* Unmaps a piece that no work uses. Frames that were not gathered elsewhere are returned to
     * the driver. The area must still be deallocated. */
    int (*forget)(kmm_resource_t *r, const kmm__piece_t *piece);
} kmm__mapper_t;

/* The first member of every resource. */
struct kmm_resource {
    const kmm__resource_ops_t *ops;
    kmm_resource_t *upstream; /* NULL for a source */
    /* NULL: allocation is not ordered by streams. Outlives the resource's use. */
    const kmm_stream_order_t *order;
    const kmm__mapper_t *mapper; /* NULL: memory stays at its addresses */
    /* True once a resource that implements `holds` has been built on this one. */
    _Atomic bool carries;
    /* True: new memory may be used only in the order of its stream. False: it may be used at
     * once by anything. */
    bool ordered;
    kmm_memory_kind_t kind;
    int device;
    char name[64];
};

/* Fills the head of a resource built on `upstream`, and copies upstream's kind, device and
 * order. */
void kmm__resource_init(kmm_resource_t *r, const kmm__resource_ops_t *ops, const char *noun,
                        kmm_resource_t *upstream);

/* Sets the thread's error text and returns the code. */
__attribute__((format(printf, 2, 3))) int kmm__resource_fail(int code, const char *format, ...);

/* Frees memory that the caller itself has got from r, without checks. */
int kmm__resource_give_back(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream);

/* True if r is the resource that a device has before the program sets one. */
bool kmm__resource_is_initial(const kmm_resource_t *r);

/* Rounds up to a multiple of a power of two. The caller makes sure that the result does not
 * overflow. */
static inline size_t kmm__round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

#endif
