/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_PROGRESS: a bar on the terminal. Called by one thread (observe/watch.c). */
#ifndef KMM__OBSERVE_PROGRESS_H
#define KMM__OBSERVE_PROGRESS_H

#include "base/runtime.h"

/* What is remembered of a runtime between two looks. */
typedef struct kmm__progress {
    bool is_eager;   /* KMM_PROGRESS=1: of short runs, too, and where all fits */
    uint64_t looked; /* kmm__now() at the last look; 0: there was none */
    uint64_t tasks, bytes;
    double task_rate, byte_rate; /* in a second, smoothed */
} kmm__progress_t;

/* Begins with a runtime. False: no bar is ever drawn: stderr is no terminal, or KMM_PROGRESS says
 * no. */
bool kmm__progress_begin(kmm__progress_t *p);

/* Looks at a runtime, and draws the bar or erases it. */
void kmm__progress_look(kmm_runtime_t *rt, kmm__progress_t *p);

#endif
