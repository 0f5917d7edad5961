/* SPDX-License-Identifier: Apache-2.0 */
/* What launch/ keeps for a runtime: its making and end. */
#include "launch/state.h"

#include <stdlib.h>

#include "base/alloc.h"

void kmm__launches_start(kmm_runtime_t *rt)
{
    rt->launches = kmm__alloc(sizeof(*rt->launches));
}

void kmm__launches_stop(kmm_runtime_t *rt)
{
    free(rt->launches);
}
