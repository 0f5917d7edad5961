/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of empty tasks, as task_overhead.c and what it compares with both run it. */
#ifndef KMM_BENCH_TASK_OVERHEAD_H
#define KMM_BENCH_TASK_OVERHEAD_H

#include <stdint.h>

enum { MAX_REGIONS = 8, REGION_FLOATS = 16 };

typedef struct shape {
    uint32_t regions; /* arrays that each task updates, the same ones every time: a chain, unless
                         there are none */
    uint32_t threads; /* that run tasks; the one that submits comes on top */
    uint32_t tasks;
} shape_t;

/* StarPU's time from the first submission to the last completion, in seconds. Tasks are made before
 * the clock starts, so only their submission counts. */
double starpu_run(const shape_t *s);

/* The same as StarPU's own benchmark `tasks_overhead` does it: every task has a tag, and tags chain
 * those without regions. */
double starpu_run_tagged(const shape_t *s);

/* Around runs with this many threads. StarPU's threads poll, so it must not be up while something
 * else is measured. */
void starpu_begin(uint32_t threads);
void starpu_end(void);

#endif
