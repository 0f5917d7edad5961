/* SPDX-License-Identifier: Apache-2.0 */
/* What every resource is made of: a head with its functions, and a few shared parts. */
#ifndef KMM__RESOURCE_RESOURCE_H
#define KMM__RESOURCE_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kmm/resource.h>

#include "base/api.h"

/* NULL functions take the default that resource.c gives beside each call. Arguments have been
 * checked: bytes > 0, p != NULL, alignment a power of two of at least 256. */
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
    bool (*holds)(kmm_resource_t *r,
                  const void *p); /* whether it has memory from there on of upstream; default: no */
    bool (*equal)(const kmm_resource_t *a, const kmm_resource_t *b); /* default: the same object */
    int (*destroy)(kmm_resource_t *r);
} kmm__resource_ops_t;

/* Whole frames of an area: of what one allocation gave. */
typedef struct kmm__piece {
    uintptr_t area, address;
    size_t frames;
} kmm__piece_t;

/* A source whose memory can be given other addresses, frame by frame. */
typedef struct kmm__mapper {
    size_t frame_bytes; /* a power of two; areas are multiples of it, and aligned so */
    /* A new area of so many frames: those of the pieces first, then new ones. Those of the pieces
     * stay where they were, too, until that is forgotten. On failure nothing has changed. */
    int (*gather)(kmm_resource_t *r, const kmm__piece_t *pieces, size_t count, size_t frames,
                  void **out);
    /* Unmaps a piece that no work uses. Frames that have not been gathered from it go back to the
     * driver. The area is still to be deallocated. */
    int (*forget)(kmm_resource_t *r, const kmm__piece_t *piece);
} kmm__mapper_t;

/* The first member of every resource. */
struct kmm_resource {
    const kmm__resource_ops_t *ops;
    kmm_resource_t *upstream; /* NULL for a source */
    const kmm_stream_order_t
        *order;                  /* NULL: streams mean nothing here. Outlives the resource's use. */
    const kmm__mapper_t *mapper; /* NULL: memory stays at its addresses */
    _Atomic bool carries;        /* somebody who is asked `holds` stands on it, or has done so */
    bool ordered; /* new memory may be used in the stream's order only; false: by anything, at once
                   */
    kmm_memory_kind_t kind;
    int device;
    char name[64];
};

/* Fills the head of a resource built on another: kind, device and order are upstream's. */
void kmm__resource_init(kmm_resource_t *r, const kmm__resource_ops_t *ops, const char *noun,
                        kmm_resource_t *upstream);

/* Sets the thread's error text and returns the code. */
__attribute__((format(printf, 2, 3))) int kmm__resource_fail(int code, const char *format, ...);

/* Frees what the caller itself has got from r: nothing is checked first. */
int kmm__resource_give_back(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream);

/* Whether it is what a device has before the program sets a resource. */
bool kmm__resource_is_initial(const kmm_resource_t *r);

/* Rounds up to a multiple of a power of two. The caller knows that it does not overflow. */
static inline size_t kmm__round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

#endif
