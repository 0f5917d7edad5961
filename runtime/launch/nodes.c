/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a call concerns several nodes. */
#include "launch/nodes.h"

#include "launch/state.h"
#include "memory/array.h"
#include "memory/lifetime.h"

_Thread_local bool kmm__is_of_node;
const kmm__nodes_hooks_t *kmm__nodes_hooks;

const kmm__nodes_hooks_t *kmm__nodes_of(const kmm_runtime_t *rt)
{
    return kmm__is_of_node ? NULL : rt->launches->nodes;
}

/* Returns the array in which the address lies, with a reference; NULL: none. */
static kmm__array_t *find(kmm_runtime_t *rt, const void *address)
{
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, address);
    if (a)
        kmm__array_ref(a);
    pthread_mutex_unlock(&rt->lock);
    return a;
}

static void drop(kmm__array_t *a)
{
    kmm_runtime_t *rt = a->runtime;
    pthread_mutex_lock(&rt->lock);
    kmm__array_unref(a);
    pthread_mutex_unlock(&rt->lock);
}

int kmm__nodes_use(kmm_runtime_t *rt, const void *address, size_t bytes, kmm_mode_t mode)
{
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(rt);
    kmm__array_t *a = nodes ? find(rt, address) : NULL;
    int error = 0;
    if (!a)
        return 0;
    const size_t begin = (size_t)((const char *)address - a->base);
    if (bytes == KMM_ALL_BYTES)
        error = nodes->use(a, mode, 0, (int64_t)a->bytes);
    else if (bytes <= a->bytes - begin) /* otherwise the call is refused */
        error = nodes->use(a, mode, (int64_t)begin, (int64_t)(begin + bytes));
    drop(a);
    return error;
}

int kmm__nodes_copy(kmm_runtime_t *rt, const void *address, size_t bytes, const kmm__copied_t *c,
                    bool *is_done)
{
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(rt);
    kmm__array_t *a = nodes ? find(rt, address) : NULL;
    int error = 0;
    *is_done = false;
    if (!a)
        return 0;
    const size_t begin = (size_t)((const char *)address - a->base);
    if (bytes && bytes <= a->bytes - begin) /* otherwise the call is refused, or does nothing */
        error = nodes->copy(a, (int64_t[]){(int64_t)begin, (int64_t)(begin + bytes)}, c, is_done);
    drop(a);
    return error;
}

void kmm__nodes_forget(kmm_runtime_t *rt, const void *base)
{
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(rt);
    kmm__array_t *a = nodes ? find(rt, base) : NULL;
    if (!a)
        return;
    if (a->base == base)
        nodes->forget(a);
    drop(a);
}
