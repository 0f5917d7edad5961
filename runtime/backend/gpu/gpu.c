/* SPDX-License-Identifier: Apache-2.0 */
/* The backend of GPUs: opening and closing devices, facts about them, and the struct of functions,
 * most of which are in the other files of this folder. */
#include "backend/gpu/gpu.h"

#include <stdlib.h>

#include "backend/gpu/copy.h"
#include "backend/gpu/device.h"
#include "backend/gpu/foreign.h"
#include "backend/gpu/kernel.h"
#include "backend/gpu/memory.h"
#include "backend/gpu/notify.h"
#include "backend/gpu/probe.h"
#include "backend/gpu/stream.h"

/* Bytes of which frames are multiples: where memory cannot be mapped; where the driver does not
 * say. */
enum { WHOLE_GRANULE = 4096, GRANULE = 2 << 20 };

static int gpu_count(kmm__backend_t *b)
{
    return ((kmm__gpu_backend_t *)b)->count;
}

static int gpu_open(kmm__backend_t *backend, int ordinal, kmm__gpu_t **out)
{
    kmm__gpu_backend_t *b = (kmm__gpu_backend_t *)backend;
    kmm__gpu_t *gpu = calloc(1, sizeof(*gpu));
    if (!gpu)
        return KMM_E_MEMORY;
    *gpu = (kmm__gpu_t){.backend = b,
                        .driver = b->driver,
                        .calls = &b->driver->calls,
                        .device = {.ordinal = ordinal, .host_node = -1}};
    int error = b->driver->open(&gpu->device);
    if (error) {
        free(gpu);
        return error;
    }
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    gpu->device.maps = gpu->device.maps && (b->driver->must_map || kmm__gpu_can_map(gpu));
    gpu->granule = gpu->device.maps ? kmm__gpu_granularity(gpu) : WHOLE_GRANULE;
    gpu->granule = gpu->granule ? gpu->granule : GRANULE;
    kmm__gpu_scope_leave(gpu, scope);
    pthread_mutex_init(&gpu->load_lock, NULL);
    error = kmm__gpu_watch_start(gpu);
    if (error) {
        pthread_mutex_destroy(&gpu->load_lock);
        b->driver->close(&gpu->device);
        free(gpu);
        return error;
    }
    if (!b->first)
        b->first = gpu;
    *out = gpu;
    return 0;
}

static void gpu_close(kmm__gpu_t *gpu)
{
    kmm__gpu_watch_stop(gpu);
    kmm__gpu_streams_free(gpu);
    gpu->driver->close(&gpu->device);
    pthread_mutex_destroy(&gpu->load_lock);
    free(gpu->loaded);
    free(gpu);
}

static void gpu_info(kmm__gpu_t *gpu, kmm__gpu_info_t *out)
{
    size_t free_bytes = 0, total = 0;
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    gpu->calls->MemGetInfo(&free_bytes, &total);
    kmm__gpu_scope_leave(gpu, scope);
    *out = (kmm__gpu_info_t){.memory_total = total,
                             .memory_free = free_bytes,
                             .granularity = gpu->granule,
                             .compute_streams = 1,
                             .whole = !gpu->device.maps,
                             .host_backed = gpu->device.maps && gpu->device.host_node >= 0,
                             .pci = gpu->device.pci,
                             .compute_major = gpu->device.compute_major,
                             .compute_minor = gpu->device.compute_minor,
                             .multiprocessors = gpu->device.multiprocessors};
    gpu->calls->DeviceGetName(out->name, sizeof(out->name), gpu->device.ordinal);
}

static void gpu_unload(kmm__backend_t *b)
{
    free(b); /* the library stays loaded, because the program may use it, too */
}

static const char *gpu_error_text(kmm__backend_t *b)
{
    (void)b;
    return kmm__gpu_error_text();
}

static bool gpu_enter(kmm__gpu_t *gpu)
{
    return kmm__gpu_enter(gpu);
}

static bool gpu_is_capturing(kmm__gpu_t *gpu, void *native)
{
    return gpu->driver->is_capturing && gpu->driver->is_capturing(native);
}

static const kmm__backend_t functions = {
    .count = gpu_count,
    .open = gpu_open,
    .close = gpu_close,
    .info = gpu_info,
    .error_text = gpu_error_text,
    .unload = gpu_unload,
    .window_reserve = kmm__gpu_window_reserve,
    .window_release = kmm__gpu_window_release,
    .frame_create = kmm__gpu_frame_create,
    .frame_create_host_backed = kmm__gpu_frame_create_host_backed,
    .frame_destroy = kmm__gpu_frame_destroy,
    .frame_map = kmm__gpu_frame_map,
    .frame_map_without_access = kmm__gpu_frame_map_without_access,
    .frames_allow = kmm__gpu_frames_allow,
    .frame_unmap = kmm__gpu_frame_unmap,
    .frame_share = kmm__gpu_frame_share,
    .host_register = kmm__gpu_host_register,
    .host_unregister = kmm__gpu_host_unregister,
    .stream_create = kmm__gpu_stream_create,
    .stream_destroy = kmm__gpu_stream_destroy,
    .event_create = kmm__gpu_event_create,
    .event_destroy = kmm__gpu_event_destroy,
    .event_record = kmm__gpu_event_record,
    .stream_wait = kmm__gpu_stream_wait,
    .event_query = kmm__gpu_event_query,
    .current = kmm__gpu_current,
    .native = kmm__gpu_native,
    .enter = gpu_enter,
    .follow = kmm__gpu_follow,
    .precede = kmm__gpu_precede,
    .succeed = kmm__gpu_succeed,
    .finish = kmm__gpu_finish,
    .flush = kmm__gpu_flush,
    .is_capturing = gpu_is_capturing,
    .launch_on = kmm__gpu_launch_on,
    .code_load = kmm__gpu_code_load,
    .kernel_forget = kmm__gpu_kernel_forget,
    .copy = kmm__gpu_copy,
    .fill = kmm__gpu_fill,
    .launch = kmm__gpu_launch,
    .notify = kmm__gpu_notify,
    .notify_event = kmm__gpu_notify_event,
    .notify_timed = kmm__gpu_notify_timed,
};

int kmm__gpu_backend_create(kmm__gpu_driver_t *driver, kmm__backend_t **out, const char **reason)
{
    kmm__gpu_backend_t *b = calloc(1, sizeof(*b));
    if (!b)
        return KMM_E_MEMORY;
    b->driver = driver;
    int error = kmm__gpu_driver_load(driver, &b->count, reason);
    if (error) {
        free(b);
        return error;
    }
    b->base = functions;
    b->base.name = driver->name;
    b->base.kind = driver->kind;
    b->base.leave = driver->leave;
    *out = &b->base;
    return 0;
}
