/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and frees the state of launch/ for one runtime. */
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
