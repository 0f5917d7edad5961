/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of one block as fibers, for kernels with barriers or warp operations on the CPU.
 * kmm's cuda_runtime.h uses this; programs do not.
 *
 * A fiber runs until it waits; all of a block's fibers run on the calling thread. Threads that have
 * returned count at no barrier. Threads that wait for what can no longer happen are a mistake of
 * the kernel, on which a GPU hangs: it is reported and the program ends with abort().
 */
#ifndef KMM_FIBER_H
#define KMM_FIBER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KMM_FIBER_WARP = 32 };

typedef struct kmm_fiber_block {
    const char *kernel; /* for messages */
    uint32_t index[3];  /* of the block in its grid, for messages */
    uint32_t thread_count;
    void (*thread)(void *context,
                   uint32_t thread); /* runs one thread, by its number in the block */
    void (*resume)(void *context, uint32_t thread); /* called when a thread goes on; may be NULL */
    void *context;
} kmm_fiber_block_t;

void kmm_fiber_run(const kmm_fiber_block_t *block);
/* The same, with those threads that can go on doing so in random order. *state is not 0; it
 * changes. */
void kmm_fiber_run_random(const kmm_fiber_block_t *block, uint64_t *state);

/* __syncthreads and its variants: waits for all threads of the block that have not returned.
 * *any and *all say whether any or all of their predicates were nonzero; returns for how many. */
int kmm_fiber_barrier(int predicate, int *any, int *all);

/* Waits until all threads in `mask` of the warp that have not returned are here with the same mask;
 * fills values[lane] with what each brought, and returns which lanes did. The caller is in the
 * mask. */
uint32_t kmm_fiber_exchange(uint32_t mask, uint64_t value, uint64_t values[KMM_FIBER_WARP]);

/* Returns the mask of the warp's threads that are at this call, among them the caller. A thread
 * counts if it comes to the call before it waits for others or returns. Calls are told apart by
 * their place in the machine code. */
uint32_t kmm_fiber_active(void);

/* The thread's number in its warp; 0 outside kmm_fiber_run. */
uint32_t kmm_fiber_lane(void);

/* Lets the block's other threads run, as one that waits for them in a loop must. */
void kmm_fiber_yield(void);

#ifdef __cplusplus
}
#endif
#endif
