/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scratch blocks: memory of a GPU for what libkmm itself computes in native standing, such as
 * private copies of reductions. A block belongs to one stream of the program, whose order keeps its
 * uses apart. Blocks are kept, so that work which comes again allocates nothing.
 *
 * A block is used for work of one kind at a time, which its key says: any bytes that are equal for
 * work of one kind. Work that finds its own key may rely on what the last such work has left.
 */
#ifndef KMM__MEMORY_RESIDENCY_SCRATCH_H
#define KMM__MEMORY_RESIDENCY_SCRATCH_H

#include "memory/state.h"

enum { KMM__SCRATCH_KEY = 32 }; /* most bytes of a key */

typedef struct kmm__scratch {
    kmm__addr_t at;
    /* Set by the user: the block holds what earlier work with this key has left. False in a block
     * with a new key. Guarded by the user, while the block is pinned. */
    bool is_left;
    /* scratch.c: */
    struct kmm__scratch *next;
    kmm__device_t *device;
    uint64_t stream;
    size_t bytes;
    uint32_t pins;  /* uses between kmm__scratch_take and kmm__scratch_release */
    bool is_bound;  /* a graph has recorded its address: no other work uses it, and it stays */
    uint64_t keyed; /* rises with each key that a block gets */
    uint32_t key_bytes;
    unsigned char key[KMM__SCRATCH_KEY];
} kmm__scratch_t;

/* Not locked, inside a native call. Returns a pinned block with at least so many bytes, for work on
 * the stream with that number; NULL: there is no memory. bound: a graph is being captured. May wait
 * for the GPU when blocks of many streams take too much memory. */
kmm__scratch_t *kmm__scratch_take(kmm__device_t *d, uint64_t stream, const void *key,
                                  uint32_t key_bytes, size_t bytes, bool bound);
void kmm__scratch_release(kmm__scratch_t *s);
/* Not locked: the stream's number may become that of another stream. */
void kmm__scratch_end_stream(uint64_t stream);
/* Not locked: frees all blocks of the runtime. Nothing uses them, and the GPU has done all work. */
void kmm__scratch_drop(kmm_runtime_t *rt);

#endif
