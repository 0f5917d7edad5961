/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_STATS: what a runtime and each of its devices did. */
#ifndef KMM__OBSERVE_STATS_H
#define KMM__OBSERVE_STATS_H

#include "base/runtime.h"

/* Reads KMM_STATS; and frees what was read. */
void kmm__stats_start(kmm_runtime_t *rt);
void kmm__stats_stop(kmm_runtime_t *rt);

/* Prints the statistics of a runtime if they are wanted, once: later calls do nothing. `signal`:
 * the signal that ends the program; -1: a chunk that ended its thread does; 0: nothing does. The
 * caller does not hold the lock. If it cannot be had for a while, as where another thread has died
 * with it, numbers are read without it. */
void kmm__stats_print(kmm_runtime_t *rt, int signal);

#endif
