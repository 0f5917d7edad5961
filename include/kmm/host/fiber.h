/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a block that meet at barriers, run by one thread of the CPU as fibers. */
#ifndef KMM_HOST_FIBER_H
#define KMM_HOST_FIBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs `count` fibers, each one call of fn(arg, index), until all have returned. A fiber that
 * returns early no longer counts at barriers. When those left wait for what cannot come, the
 * program ends with a message that names `kernel`. */
void kmm_fiber_run(unsigned count, void (*fn)(void *arg, unsigned index), void *arg, const char *kernel);

/* What the barrier tells of the predicates of all that met there. */
typedef struct kmm_fiber_votes { int count, all, any; } kmm_fiber_votes_t;

/* Waits until every fiber that is left has come to a barrier. */
kmm_fiber_votes_t kmm_fiber_barrier(int predicate);

/* Fibers 32k to 32k + 31 are a warp. The lanes in `mask` that are left meet, each with a value; returns the
 * lanes that met and, in values, theirs (0 for the others). */
uint32_t kmm_fiber_exchange(uint32_t mask, uint64_t value, uint64_t values[32]);

/* The calling fiber's index in its block, and the lanes of its warp that have not returned. */
unsigned kmm_fiber_index(void);
uint32_t kmm_fiber_lanes(void);

/* This CPU thread's buffer for the dynamic shared memory of a block, at least `bytes` long, aligned
 * to 256; valid until the next call. */
void *kmm_host_shared_memory(size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
