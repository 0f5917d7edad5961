/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_STATS=1: statistics of each device. */
#ifndef KMM__OBSERVE_STATS_H
#define KMM__OBSERVE_STATS_H

#include "base/runtime.h"

/* Prints the statistics on stderr if the environment asks for them. The caller does not hold the
 * lock. */
void kmm__stats_print(kmm_runtime_t *rt);

#endif
