/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory the chunks of a launch share, and which is a chunk's own: that of its thread. */
#ifndef KMM__EXECUTE_EXACT_MEMORY_H
#define KMM__EXECUTE_EXACT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kmm__range {
    uintptr_t begin, end;
} kmm__range_t;

typedef struct kmm__ranges {
    kmm__range_t *at;
    uint32_t count, capacity;
} kmm__ranges_t;

/* As the thread knows it that opens it. */
typedef struct kmm__reachable {
    kmm__ranges_t variables; /* of static storage, sorted */
    kmm__ranges_t own;       /* the thread's stacks, and its own variables */
    uint32_t stack_count;    /* the first ranges of `own` */
} kmm__reachable_t;

/* Allocations of chunks are known (execute/exact_heap.h). Otherwise only variables are shared. */
void kmm__reachable_know_heap(void);
bool kmm__reachable_has_heap(void);
void kmm__reachable_open(kmm__reachable_t *m);
void kmm__reachable_close(kmm__reachable_t *m);
bool kmm__reachable_is_variable(const kmm__reachable_t *m, uintptr_t address);
/* True if other chunks may use the memory, too. */
bool kmm__reachable_is_shared(const kmm__reachable_t *m, uintptr_t address);
/* Writes "memory that no clause names, at 0x1234, on the stack of the main thread" to out. */
void kmm__reachable_text(uintptr_t address, char *out, size_t size);

#endif
