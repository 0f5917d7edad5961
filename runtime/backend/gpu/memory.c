/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows and frames of a GPU, and page-locking of host memory.
 */
#include "backend/gpu/memory.h"

#include "backend/gpu/device.h"

kmm__gpu_allocation_t kmm__gpu_frame_properties(const kmm__gpu_t *gpu)
{
    return (kmm__gpu_allocation_t){.type = KMM__GPU_ALLOCATION_PINNED,
                                   .location = {KMM__GPU_LOCATION_DEVICE, gpu->device.ordinal}};
}

size_t kmm__gpu_granularity(const kmm__gpu_t *gpu)
{
    kmm__gpu_allocation_t properties = kmm__gpu_frame_properties(gpu);
    size_t bytes = 0;
    if (kmm__gpu_answer(gpu, gpu->calls->MemGetAllocationGranularity(&bytes, &properties,
                                                                     KMM__GPU_GRANULARITY_MINIMUM)))
        return 0;
    return bytes;
}

int kmm__gpu_set_access(const kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, int ordinal)
{
    kmm__gpu_access_t access = {{KMM__GPU_LOCATION_DEVICE, ordinal}, KMM__GPU_ACCESS_READ_WRITE};
    int mode = kmm__gpu_relax(gpu),
        error = KMM__GPU_TRY(gpu, MemSetAccess, (at, bytes, &access, 1));
    kmm__gpu_restore(gpu, mode);
    return error;
}

int kmm__gpu_window_reserve(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out)
{
    int mode = kmm__gpu_relax(gpu),
        error = KMM__GPU_TRY(gpu, MemAddressReserve, (out, bytes, 0, 0, 0));
    kmm__gpu_restore(gpu, mode);
    return error;
}

void kmm__gpu_window_release(kmm__gpu_t *gpu, kmm__addr_t window, size_t bytes)
{
    int mode = kmm__gpu_relax(gpu);
    gpu->calls->MemAddressFree(window, bytes);
    kmm__gpu_restore(gpu, mode);
}

int kmm__gpu_frame_create(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out)
{
    kmm__gpu_allocation_t properties = kmm__gpu_frame_properties(gpu);
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = gpu->device.maps ? KMM__GPU_TRY(gpu, MemCreate, (out, bytes, &properties, 0))
                                 : KMM__GPU_TRY(gpu, MemAlloc, (out, bytes));
    kmm__gpu_scope_leave(gpu, scope);
    return error;
}

int kmm__gpu_frame_create_host_backed(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out)
{
    kmm__gpu_allocation_t properties = kmm__gpu_frame_properties(gpu);
    properties.location = (kmm__gpu_location_t){KMM__GPU_LOCATION_HOST_NODE, gpu->device.host_node};
    if (!gpu->device.maps || gpu->device.host_node < 0)
        return kmm__gpu_fail(KMM_E_UNSUPPORTED,
                             "the host's memory cannot be mapped for the device");
    int mode = kmm__gpu_relax(gpu),
        error = KMM__GPU_TRY(gpu, MemCreate, (out, bytes, &properties, 0));
    kmm__gpu_restore(gpu, mode);
    return error;
}

void kmm__gpu_frame_destroy(kmm__gpu_t *gpu, kmm__frame_handle_t frame, size_t bytes)
{
    (void)bytes;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    if (gpu->device.maps)
        gpu->calls->MemRelease(frame);
    else
        gpu->calls->MemFree(frame);
    kmm__gpu_scope_leave(gpu, scope);
}

int kmm__gpu_frame_map(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes)
{
    int mode = kmm__gpu_relax(gpu), error = KMM__GPU_TRY(gpu, MemMap, (at, bytes, 0, frame, 0));
    if (!error) {
        error = kmm__gpu_set_access(gpu, at, bytes, gpu->device.ordinal);
        if (error)
            gpu->calls->MemUnmap(at, bytes);
    }
    kmm__gpu_restore(gpu, mode);
    return error;
}

int kmm__gpu_frame_map_without_access(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame,
                                      size_t bytes)
{
    int mode = kmm__gpu_relax(gpu), error = KMM__GPU_TRY(gpu, MemMap, (at, bytes, 0, frame, 0));
    kmm__gpu_restore(gpu, mode);
    return error;
}

int kmm__gpu_frames_allow(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    return kmm__gpu_set_access(gpu, at, bytes, gpu->device.ordinal);
}

int kmm__gpu_frame_unmap(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    int mode = kmm__gpu_relax(gpu), error = KMM__GPU_TRY(gpu, MemUnmap, (at, bytes));
    kmm__gpu_restore(gpu, mode);
    return error;
}

static int allow_peer(kmm__gpu_t *gpu, const kmm__gpu_t *peer)
{
    int error = 0;
    pthread_mutex_lock(&gpu->load_lock);
    if (!(gpu->peers & 1u << peer->device.ordinal)) {
        kmm__gpu_scope_t scope = kmm__gpu_scope_enter(peer);
        error = gpu->driver->allow_peer(&gpu->device, &peer->device);
        kmm__gpu_scope_leave(peer, scope);
        gpu->peers |= error ? 0 : 1u << peer->device.ordinal;
    }
    pthread_mutex_unlock(&gpu->load_lock);
    return error;
}

int kmm__gpu_frame_share(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer)
{
    int can = 0;
    int error =
        KMM__GPU_TRY(gpu, DeviceCanAccessPeer, (&can, peer->device.ordinal, gpu->device.ordinal));
    if (error)
        return error;
    if (!can)
        return KMM_E_UNSUPPORTED;
    return gpu->device.maps ? kmm__gpu_set_access(gpu, at, bytes, peer->device.ordinal)
                            : allow_peer(gpu, peer);
}

int kmm__gpu_host_register(kmm__backend_t *b, void *base, size_t bytes)
{
    const kmm__gpu_t *gpu = ((kmm__gpu_backend_t *)b)->first;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int r = kmm__gpu_answer(gpu, gpu->calls->HostRegister(base, bytes, KMM__GPU_REGISTER_PORTABLE));
    kmm__gpu_scope_leave(gpu, scope);
    return r == KMM__GPU_ALREADY_REGISTERED
               ? KMM_E_STATE
               : kmm__gpu_result(gpu->driver, r, gpu->driver->names->HostRegister);
}

int kmm__gpu_host_unregister(kmm__backend_t *b, void *base)
{
    const kmm__gpu_t *gpu = ((kmm__gpu_backend_t *)b)->first;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = KMM__GPU_TRY(gpu, HostUnregister, (base));
    kmm__gpu_scope_leave(gpu, scope);
    return error;
}
