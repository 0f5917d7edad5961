/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement. A launch uses the devices of its kernel's kind that its directive allows. Each chunk
 * goes to the device that most recently had most of its data, among the devices that have less than
 * an equal share of the chunks.
 */
#include "launch/placement.h"

#include <string.h>

#include "base/error.h"
#include "memory/array.h"
#include "task/users.h"

/* ---- The devices of a launch ---- */

static kmm_kind_t kind_of(kmm_where_t where)
{
    return where == KMM_ON_CUDA  ? KMM_KIND_CUDA
           : where == KMM_ON_HIP ? KMM_KIND_HIP
                                 : KMM_KIND_HOST;
}

/* Keeps the devices that the launch names, in the order of their numbers. */
static int only_devices(kmm__placement_t *p, const kmm_launch_t *l)
{
    bool is_named[KMM__MAX_DEVICES] = {false};
    uint32_t kept = 0;
    for (uint32_t k = 0; k < l->ordinal_count; k++) {
        if (l->ordinal[k] < 0 || l->ordinal[k] >= (int)p->count)
            return kmm__error_set(KMM_E_NO_DEVICE, "device(%d): there are %u devices it can run on",
                                  l->ordinal[k], p->count);
        is_named[l->ordinal[k]] = true;
    }
    for (uint32_t k = 0; k < p->count; k++)
        if (is_named[k])
            p->device[kept++] = p->device[k];
    p->count = kept;
    return 0;
}

static int leave_lost_out(kmm__placement_t *p)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < p->count; k++)
        if (!p->device[k]->lost)
            p->device[kept++] = p->device[k];
    p->count = kept;
    return kept ? 0
                : kmm__error_set(KMM_E_NO_DEVICE,
                                 "all devices it can run on were lost by earlier failures");
}

/* Checks that the current device is among the launch's devices. If KMM_DEVICES leaves it out, the
 * program would not find on it what the kernel wrote to its variables. */
static int find_current(const kmm_launch_t *l, const kmm__placement_t *p)
{
    kmm__backend_t *b = p->device[0]->backend;
    int current = b->current ? b->current(b) : -1;
    bool found = current < 0;
    for (uint32_t k = 0; k < p->count; k++)
        found |= p->device[k]->ordinal == current;
    return found ? 0
                 : kmm__error_set(KMM_E_NO_DEVICE, "device %d is current, which %s leaves out",
                                  current, l->ordinal_count ? "device()" : "KMM_DEVICES");
}

/* Leaves only the current device. Each device has its own copy of __device__ variables, and the
 * program reads the copy of its current device. */
static void keep_current(kmm__placement_t *p)
{
    kmm__backend_t *b = p->device[0]->backend;
    int current = b->current ? b->current(b) : -1;
    for (uint32_t k = 0; k < p->count && b->current; k++) {
        if (p->device[k]->ordinal != current && k + 1 < p->count)
            continue;
        p->device[0] = p->device[p->device[k]->ordinal == current ? k : 0];
        p->count = 1;
    }
}

/* Finds the devices of a kind that launches may use. The CPU may be used for kernels of its kind
 * even if it is hidden. */
static int find_devices(kmm_runtime_t *rt, kmm_kind_t kind, kmm__placement_t *p)
{
    for (uint32_t k = 0; k < rt->visible_count; k++)
        if (rt->device[k]->backend->kind == kind)
            p->device[p->count++] = rt->device[k];
    if (p->count == 0 && kind == KMM_KIND_HOST)
        p->device[p->count++] = rt->cpu;
    return p->count ? 0
                    : kmm__error_set(KMM_E_NO_DEVICE,
                                     "this kernel was built for a GPU, and none is in use: build "
                                     "it with --target=host to run it on the CPU, or see "
                                     "KMM_DEVICES");
}

int kmm__place_devices(const kmm_launch_t *l, kmm_kind_t kind, bool is_function,
                       kmm__placement_t *p)
{
    bool named = l->where == KMM_ON_CUDA || l->where == KMM_ON_HIP || l->where == KMM_ON_HOST;
    p->count = p->chunks = 0;
    p->schedule = l->schedule;
    if (named && kind != kind_of(l->where) && (is_function || kind != KMM_KIND_HOST))
        return kmm__error_set(
            KMM_E_NO_DEVICE,
            is_function ? "a plain function runs on the CPU, and device() names another kind"
                        : "the kernel was built for another kind of device than device() names");
    /* What KMM_CHECK=result compares with is what the program does without its pragma: in host
     * memory, where also pointers from memory that no item names lead to its arrays. */
    if (is_function && l->is_undivided) {
        p->device[p->count++] = l->runtime->cpu;
        memset(p->dealt, 0, p->count * sizeof(*p->dealt));
        return 0;
    }
    bool on_current = l->on_current && l->ordinal_count != 1;
    int error = find_devices(l->runtime, kind, p);
    if (!error && l->where == KMM_ON_DEVICE)
        error = only_devices(p, l);
    if (!error && on_current)
        error = find_current(l, p);
    if (!error)
        error = leave_lost_out(p);
    if (!error && on_current)
        keep_current(p);
    memset(p->dealt, 0, p->count * sizeof(*p->dealt));
    return error;
}

bool kmm__place_on_current(kmm__placement_t *p)
{
    kmm__backend_t *b = p->device[0]->backend;
    const int current = b->current ? b->current(b) : -1;
    uint32_t at = 0;
    while (at < p->count && p->device[at]->ordinal != current)
        at++;
    if (at == p->count)
        return false;
    p->device[0] = p->device[at];
    p->count = 1;
    return true;
}

const kmm__device_t *kmm__place_only_gpu(const kmm_runtime_t *rt, kmm_kind_t kind)
{
    const kmm__device_t *d = rt->visible_count == 1 ? rt->device[0] : NULL;
    return d && d->backend->kind == kind && d->backend->current && !d->lost &&
                   d->backend->current(d->backend) == d->ordinal
               ? d
               : NULL;
}

/* ---- Locality ---- */

typedef struct weigh {
    const kmm__placement_t *place;
    uint64_t *bytes;
} weigh_t;

static int weigh_part(void *arg, const kmm__box_t *part, const void *value)
{
    const weigh_t *w = arg;
    const kmm__users_t *u = value;
    for (uint32_t k = 0; k < w->place->count; k++)
        if (u->homes >> w->place->device[k]->space & 1)
            w->bytes[k] += (uint64_t)kmm__box_volume(part);
    return 0;
}

/* Adds up, for each device, the bytes of t's regions whose home it is. */
static void weigh(const kmm__placement_t *p, const kmm__task_t *t, uint64_t bytes[KMM__MAX_DEVICES])
{
    weigh_t w = {p, bytes};
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        kmm__box_t boxes[2 * KMM__DIMS];
        if (a->array->object.is_abstract)
            continue;
        int n = kmm__object_boxes(kmm__object_of(a->array), a, boxes);
        for (int b = 0; b < n; b++)
            kmm__map_visit(a->array->object.users.map, &boxes[b], weigh_part, &w);
    }
}

static void weigh_array(const kmm__placement_t *p, kmm__array_t *a, uint64_t *bytes)
{
    weigh_t w = {p, bytes};
    const kmm__box_t all = kmm__layout_whole(&a->object.users.layout);
    kmm__map_visit(a->object.users.map, &all, weigh_part, &w);
}

void kmm__place_narrow(kmm__placement_t *p, const kmm_launch_t *l, uint32_t count)
{
    enum { SOME = 16 }; /* less than 1/SOME of the data is not counted */
    uint64_t bytes[KMM__MAX_DEVICES] = {0}, all = 0;
    uint32_t homes = 0;
    for (uint32_t k = 0; k < l->item_count; k++)
        if (l->items[k].array && l->items[k].mode != KMM_READ)
            weigh_array(p, l->items[k].array, bytes);
    for (uint32_t k = 0; k < p->count; k++)
        all += bytes[k];
    for (uint32_t k = 0; k < p->count; k++)
        homes += bytes[k] > all / SOME;
    for (uint32_t k = 1; k < p->count;
         k++) /* by their bytes, in their order where these are equal */
        for (uint32_t i = k; i > 0 && bytes[i] > bytes[i - 1]; i--) {
            const uint64_t more = bytes[i];
            kmm__device_t *device = p->device[i];
            bytes[i] = bytes[i - 1];
            bytes[i - 1] = more;
            p->device[i] = p->device[i - 1];
            p->device[i - 1] = device;
        }
    count = count > homes ? count : homes;
    p->count = count < p->count ? count : p->count;
}

/* Returns the device that is home to most of t's data, among those that have less than an equal
 * share of the chunks. Without data the chunks are dealt in contiguous parts, the same in every
 * launch with so many chunks. */
static uint32_t place_by_data(const kmm__placement_t *p, uint32_t k, const kmm__task_t *t)
{
    uint64_t bytes[KMM__MAX_DEVICES] = {0};
    uint32_t share = (p->chunks + p->count - 1) / p->count;
    uint32_t best = (uint32_t)((uint64_t)k * p->count / p->chunks);
    weigh(p, t, bytes);
    for (uint32_t d = 0; d < p->count; d++) {
        bool full = p->dealt[d] >= share, best_full = p->dealt[best] >= share;
        if (full != best_full ? best_full : bytes[d] > bytes[best])
            best = d;
    }
    return best;
}

kmm__device_t *kmm__place_chunk(kmm__placement_t *p, uint32_t k, const kmm__task_t *t)
{
    uint32_t at = 0;
    if (p->count > 1 && p->schedule == KMM_SCHEDULE_CYCLIC)
        at = k % p->count;
    else if (p->count > 1 && p->schedule == KMM_SCHEDULE_BLOCK)
        at = (uint32_t)((uint64_t)k * p->count / p->chunks);
    else if (p->count > 1)
        at = place_by_data(p, k, t);
    p->dealt[at]++;
    return p->device[at];
}

/* ---- The device that a thread of the program chose ---- */

static _Thread_local const kmm_runtime_t *chosen_of;
static _Thread_local int chosen;

int kmm__device_chosen(const kmm_runtime_t *rt)
{
    return rt && rt == chosen_of ? chosen : -1;
}

void kmm__device_choose(const kmm_runtime_t *rt, int device)
{
    chosen_of = rt;
    chosen = device;
}
