/* SPDX-License-Identifier: Apache-2.0 */
/* What launch/ keeps for a runtime. Guarded by the runtime's lock. */
#ifndef KMM__LAUNCH_STATE_H
#define KMM__LAUNCH_STATE_H

#include "base/runtime.h"

struct kmm__launches {
    /* KMM_JOIN: small chunks are joined to tasks of at most `bytes` (0: never) and at most a
     * `part`-th of a device's memory, as long as each device keeps `tasks` tasks of a launch. */
    struct {
        uint64_t bytes, tasks, part;
    } join;
    uint32_t deferred; /* arrays that launches with nowait left mapped */
};

void kmm__launches_start(kmm_runtime_t *rt);
void kmm__launches_stop(kmm_runtime_t *rt);

#endif
