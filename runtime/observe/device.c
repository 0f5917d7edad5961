/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls by which a program asks about its devices. */
#include <string.h>

#include "base/error.h"
#include "memory/host/numa.h"
#include "memory/state.h"

KMM__API int kmm_device_count(kmm_runtime_t *rt)
{
    return rt ? (int)rt->visible_count : 0;
}

KMM__API int kmm_device_get(kmm_runtime_t *rt, int device, kmm_device_info_t *out)
{
    if (!rt || !out || device < 0 || device >= (int)rt->visible_count)
        return kmm__error_set(KMM_E_NO_DEVICE, "there is no device %d", device);
    pthread_mutex_lock(&rt->lock);
    const kmm__device_t *d = rt->device[device];
    *out = (kmm_device_info_t){
        .kind = d->backend->kind,
        .ordinal = d->ordinal,
        .memory_bytes = d->memory->limit,
        .used_bytes = d->memory->used,
        .bytes_in = kmm__counted(&d->counters.bytes_in),
        .bytes_out = kmm__counted(&d->counters.bytes_out),
        .bytes_peer = kmm__counted(&d->counters.bytes_peer),
        .launches = kmm__counted(&d->counters.launches),
        .chunks = kmm__counted(&d->counters.chunks),
        .whole_arrays = d->info.whole,
    };
    memcpy(out->name, d->info.name, sizeof(out->name));
    pthread_mutex_unlock(&rt->lock);
    return 0;
}

KMM__API int kmm_device_node(kmm_runtime_t *rt, int device)
{
    if (!rt || device < 0 || device >= (int)rt->visible_count)
        return kmm__error_set(KMM_E_NO_DEVICE, "there is no device %d", device);
    return kmm__numa_node(rt->device[device]);
}
