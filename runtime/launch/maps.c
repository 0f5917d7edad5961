/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of host memory. Until its map ends, an array uses the program's own memory as its host
 * copy. */
#include "launch/maps.h"
#include "launch/nodes.h"

#include <stdlib.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/thread.h"
#include "execute/exact_host.h"
#include "launch/operation.h"
#include "launch/state.h"
#include "memory/lifetime.h"
#include "memory/residency/native.h"
#include "task/inside.h"

static int run_nothing(kmm__operation_t *base)
{
    (void)base;
    return 0;
}

/* True if a map that is ending contains part of the memory. */
static bool is_ending(kmm_runtime_t *rt, const char *base, size_t bytes)
{
    bool ends = false;
    for (uint32_t k = 0; k < rt->memory->array_count && !ends; k++) {
        const kmm__array_t *a = rt->memory->arrays[k];
        ends = a->map_end != UINT64_MAX && a->base < base + bytes && base < a->base + a->bytes;
    }
    return ends;
}

void kmm__maps_await(kmm_runtime_t *rt, const void *base, size_t bytes)
{
    while (!kmm__is_inside() && is_ending(rt, base, bytes))
        kmm__cond_wait(&rt->progress, &rt->lock);
}

int kmm__map(kmm_runtime_t *rt, kmm_map_t map, void *base, size_t bytes)
{
    kmm__maps_await(rt, base, bytes);
    kmm__array_t *first = kmm__array_find(rt, base), *a = first;
    kmm__array_t *last = bytes ? kmm__array_find(rt, (char *)base + bytes - 1) : first;
    if (first && first->is_mapped && first == last && bytes)
        first->map_depth++;
    else if (first || last || kmm__array_between(rt, base, bytes))
        return kmm__error_set(KMM_E_INVALID, "%zu bytes at %p overlap an array in part", bytes,
                              base);
    else
        return kmm__array_new(rt, bytes, base, map, NULL, &a);
    return 0;
}

KMM__API int kmm_map(kmm_runtime_t *rt, kmm_map_t map, void *base, size_t bytes)
{
    if (!rt || !base || (unsigned)map > KMM_MAP_ALLOC)
        return kmm__error_set(KMM_E_INVALID, "no runtime, no memory, or no such kind of map");
    KMM__NATIVE_HOLD(error, rt, "a map");
    if (error)
        return error;
    pthread_mutex_lock(&rt->lock);
    error = kmm__map(rt, map, base, bytes);
    pthread_mutex_unlock(&rt->lock);
    return error;
}

/* Submits the operation that waits for all work on an array whose map ends. If the map is
 * `from` or `tofrom`, it brings the newest values to the host. */
static int settle_begin(kmm_runtime_t *rt, kmm__array_t *a, kmm__task_t **out)
{
    kmm__array_operation_t op = {.base = {run_nothing}, .array = a};
    bool comes_back = a->map == KMM_MAP_FROM || a->map == KMM_MAP_TOFROM;
    kmm__access_t access =
        kmm__access_bytes(a, comes_back ? KMM_UPDATE : KMM_WRITE, 0, (int64_t)a->bytes);
    a->map_end = rt->tasks->next_sequence;
    return a->bytes ? kmm__operation_submit(rt, &op, "write back", &access, 1, out) : 0;
}

typedef struct ending {
    kmm__array_t *array;
    kmm__task_t *settled;
    bool gone;
    int error;
} ending_t;

/* Ends several maps at once: while the data of one array is copied, the frames of another are given
 * back. */
static int end_together(kmm_runtime_t *rt, ending_t *e, uint32_t count)
{
    int error = 0;
    for (uint32_t k = 0; k < count; k++)
        e[k].error = settle_begin(rt, e[k].array, &e[k].settled);
    for (uint32_t k = 0; k < count; k++) {
        int ran = e[k].settled ? kmm__operation_await(rt, e[k].settled) : 0;
        error = error ? error : e[k].error ? e[k].error : ran;
        kmm__array_forget(e[k].array);
        e[k].array->freed_flag = &e[k].gone;
        kmm__array_unref(e[k].array);
    }
    for (uint32_t k = 0; k < count; k++)
        while (!e[k].gone)
            kmm__cond_wait(&rt->progress, &rt->lock);
    return error;
}

/* Not locked: brings what other nodes hold, if the map brings it back, and lets them forget the
 * array. */
static int leave_nodes(kmm_runtime_t *rt, kmm__array_t *a)
{
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(rt);
    const bool comes_back = a->map == KMM_MAP_FROM || a->map == KMM_MAP_TOFROM;
    int error = comes_back ? nodes->use(a, KMM_READ, 0, (int64_t)a->bytes) : 0;
    nodes->forget(a);
    return error;
}

int kmm__maps_end(kmm_runtime_t *rt, void *const *bases, uint32_t count)
{
    int error = 0;
    if (kmm__inside_refuse("end of a map"))
        return KMM_E_STATE;
    ending_t *e = kmm__alloc(count * sizeof(*e) + 1);
    uint32_t ending = 0;
    pthread_mutex_lock(&rt->lock);
    for (uint32_t k = 0; k < count; k++) {
        kmm__array_t *a = kmm__array_find(rt, bases[k]);
        if (!a || !a->is_mapped)
            error = kmm__error_set(KMM_E_ADDRESS, "%p is not mapped", bases[k]);
        else if (--a->map_depth == 0)
            e[ending++].array = a;
        else if (a->launch_maps > a->map_depth)
            a->launch_maps = a->map_depth;
    }
    if (kmm__nodes_of(rt)) {
        for (uint32_t k = 0; k < ending; k++)
            e[k].array->map_end = UINT64_MAX - 1; /* other threads' launches wait for its end */
        pthread_mutex_unlock(&rt->lock);
        for (uint32_t k = 0; k < ending; k++) {
            int came = leave_nodes(rt, e[k].array);
            error = error ? error : came;
        }
        pthread_mutex_lock(&rt->lock);
    }
    int ended = end_together(rt, e, ending);
    pthread_mutex_unlock(&rt->lock);
    free(e);
    return error ? error : ended;
}

KMM__API int kmm_unmap(kmm_runtime_t *rt, void *base)
{
    int error = rt ? kmm__maps_end(rt, &base, 1) : kmm__error_set(KMM_E_INVALID, "no runtime");
    kmm__flags_settle(kmm_thread_number());
    return error;
}

int kmm__deferred_end(kmm_runtime_t *rt, uintptr_t begin, uintptr_t end)
{
    uint32_t count = 0;
    if (rt->launches->deferred == 0)
        return 0;
    void **bases = kmm__alloc(rt->launches->deferred * sizeof(*bases));
    for (uint32_t k = 0; k < rt->memory->array_count; k++) {
        kmm__array_t *a = rt->memory->arrays[k];
        uintptr_t base = (uintptr_t)a->base;
        if (!a->is_deferred || base >= end || base + a->bytes <= begin)
            continue;
        a->is_deferred = false;
        bases[count++] = a->base;
    }
    rt->launches->deferred -= count;
    pthread_mutex_unlock(&rt->lock);
    int error = count ? kmm__maps_end(rt, bases, count) : 0;
    for (uint32_t k = 0; k < count; k++) {
        int touched = kmm__exact_host_leave(bases[k]);
        error = error ? error : touched;
    }
    free(bases);
    pthread_mutex_lock(&rt->lock);
    return error;
}
