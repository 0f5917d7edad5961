/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_STATS=1: what each device did. */
#ifndef KMM__OBSERVE_STATS_H
#define KMM__OBSERVE_STATS_H

#include "base/runtime.h"

/* Not locked: prints on stderr, if the environment asks for it. */
void kmm__stats_print(kmm_runtime_t *rt);

#endif
