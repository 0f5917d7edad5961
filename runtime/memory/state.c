/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees the state of memory/. */
#include "memory/state.h"

#include <stdlib.h>

#include "base/alloc.h"

void kmm__memory_start(kmm_runtime_t *rt)
{
    enum { BITS = 40 }; /* fewer changes than 1 << BITS are made in one runtime */
    static _Atomic uint64_t runtimes;
    rt->memory = kmm__alloc(sizeof(*rt->memory));
    atomic_store(&rt->memory->index_changes, atomic_fetch_add(&runtimes, 1) << BITS);
}

void kmm__memory_stop(kmm_runtime_t *rt)
{
    free(rt->memory->arrays);
    free(rt->memory);
}

void kmm__device_memory_start(kmm__device_t *d, uint64_t limit)
{
    d->memory = kmm__alloc(sizeof(*d->memory));
    d->memory->limit = d->memory->most = limit;
}

void kmm__device_memory_stop(kmm__device_t *d)
{
    free(d->memory);
    d->memory = NULL;
}
