/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls by which a program asks about its devices. */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "memory/host/numa.h"
#include "memory/state.h"

KMM__API int kmm_device_count(kmm_runtime_t *rt)
{
    return rt ? (int)rt->visible_count : 0;
}

static void describe(const kmm__device_t *d, kmm_device_info_t *out)
{
    const kmm__pci_t *pci = &d->info.pci;
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
        .total_bytes = d->info.memory_total,
        .compute_major = d->info.compute_major,
        .compute_minor = d->info.compute_minor,
        .multiprocessors = d->info.multiprocessors,
        .pci_domain = pci->known ? (int)pci->domain : -1,
        .pci_bus = pci->known ? (int)pci->bus : -1,
        .pci_device = pci->known ? (int)pci->device : -1,
        .pci_function = pci->known ? (int)pci->function : -1,
    };
    if (d->backend->kind == KMM_KIND_HOST)
        out->multiprocessors = (int)d->compute_stream_count;
    memcpy(out->name, d->info.name, sizeof(out->name));
}

/* The size of kmm_device_info_t in version 0.1, which the function kmm_device_get fills for ever.
 */
enum { FIRST_INFO_BYTES = offsetof(kmm_device_info_t, whole_arrays) + sizeof(int) };

KMM__API int kmm_device_get_sized(size_t info_bytes, kmm_runtime_t *rt, int device,
                                  kmm_device_info_t *out)
{
    kmm_device_info_t info;
    if (!rt || !out || device < 0 || device >= (int)rt->visible_count)
        return kmm__error_set(KMM_E_NO_DEVICE, "there is no device %d", device);
    if (info_bytes < FIRST_INFO_BYTES)
        return kmm__error_set(KMM_E_INVALID, "kmm_device_info_t has %zu bytes, and not %zu",
                              sizeof(info), info_bytes);
    pthread_mutex_lock(&rt->lock);
    describe(rt->device[device], &info);
    pthread_mutex_unlock(&rt->lock);
    memset(out, 0, info_bytes);
    memcpy(out, &info, info_bytes < sizeof(info) ? info_bytes : sizeof(info));
    return 0;
}

KMM__API int(kmm_device_get)(kmm_runtime_t *rt, int device, kmm_device_info_t *out)
{
    return kmm_device_get_sized(FIRST_INFO_BYTES, rt, device, out);
}

KMM__API int kmm_device_node(kmm_runtime_t *rt, int device)
{
    if (!rt || device < 0 || device >= (int)rt->visible_count)
        return kmm__error_set(KMM_E_NO_DEVICE, "there is no device %d", device);
    return kmm__numa_node(rt->device[device]);
}
