/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map of the heap: which thread has allocated each 16 bytes while it ran a chunk. The allocations
 * of programs that were compiled with -fkmm-check lead here (instrument/heap.c). All functions may
 * be called by several threads at once.
 */
#ifndef KMM__EXECUTE_EXACT_HEAP_H
#define KMM__EXECUTE_EXACT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KMM__HEAP_NOBODY = 0,            /* allocated outside of chunks, or no memory of the heap */
    KMM__HEAP_USED = UINT16_MAX - 1, /* the same, and a chunk has used it */
    KMM__HEAP_ONCE = UINT16_MAX      /* allocated by a chunk, in what is done once in the process */
};

/* Sets the owner of a block; KMM__HEAP_NOBODY: it is free. */
void kmm__exact_heap_set(uintptr_t begin, size_t bytes, uint16_t owner);
/* A chunk uses memory: where it is nobody's, KMM__HEAP_USED becomes its owner. */
void kmm__exact_heap_use(uintptr_t begin, size_t bytes);
/* True if a part of the block has an owner. */
bool kmm__exact_heap_knows(uintptr_t begin, size_t bytes);
uint16_t kmm__exact_heap_owner(uintptr_t address);
/* The number by which this thread owns memory. */
uint16_t kmm__exact_heap_self(void);

#endif
