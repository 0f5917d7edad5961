/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of pretend devices. A window is address space without access. A frame is private memory
 * that is mapped over a part of it. An unmapped frame loses its contents, and access to its place
 * faults. */
#include "backend/host/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/host/device.h"
#include "backend/host/error.h"

/* The byte that undefined contents consist of under KMM_CHECK=frames. */
enum { UNDEFINED_BYTE = 0xA5 };

static int needs_pretend(kmm__gpu_t *gpu)
{
    if (gpu->host->pretend > 0)
        return 0;
    return kmm__host_error(KMM_E_UNSUPPORTED, "the host device has no memory of its own");
}

static int check_size(uint64_t at, size_t bytes)
{
    if (bytes > 0 && bytes % KMM__HOST_GRANULARITY == 0 && at % KMM__HOST_GRANULARITY == 0)
        return 0;
    return kmm__host_error(KMM_E_INVALID, "%zu bytes at 0x%llx are no multiple of %d", bytes,
                           (unsigned long long)at, KMM__HOST_GRANULARITY);
}

int kmm__host_window_reserve(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out)
{
    int error = needs_pretend(gpu);
    if (error || (error = check_size(0, bytes)))
        return error;
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return kmm__host_error(KMM_E_MEMORY, "no address space for a window of %zu bytes: %s",
                               bytes, strerror(errno));
    pthread_mutex_lock(&gpu->lock);
    gpu->windows++;
    pthread_mutex_unlock(&gpu->lock);
    *out = (kmm__addr_t)(uintptr_t)p;
    return 0;
}

/* Returns a frame that is mapped somewhere in [at, at + bytes), or NULL. Called with the device's
 * lock. */
static kmm__host_frame_t *mapped_in(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    for (kmm__host_frame_t *f = gpu->frames; f; f = f->next)
        if (f->at && f->at < at + bytes && at < f->at + f->bytes)
            return f;
    return NULL;
}

void kmm__host_window_release(kmm__gpu_t *gpu, kmm__addr_t window, size_t bytes)
{
    pthread_mutex_lock(&gpu->lock);
    assert(!mapped_in(gpu, window, bytes) && gpu->windows > 0);
    gpu->windows--;
    pthread_mutex_unlock(&gpu->lock);
    munmap((void *)(uintptr_t)window, bytes);
}

/* Makes a frame. `counted`: it counts as the device's memory; otherwise it is host-backed. */
static int frame_create(kmm__gpu_t *gpu, size_t bytes, bool counted, kmm__frame_handle_t *out)
{
    int error = needs_pretend(gpu);
    if (error || (error = check_size(0, bytes)))
        return error;
    kmm__host_frame_t *f = calloc(1, sizeof(*f));
    if (!f)
        return kmm__host_error(KMM_E_MEMORY, "no memory for a frame");
    f->bytes = bytes;
    f->counted = counted ? bytes : 0;
    pthread_mutex_lock(&gpu->lock);
    uint64_t left = gpu->host->mem - gpu->used;
    if (f->counted <= left) {
        gpu->used += f->counted;
        f->next = gpu->frames;
        gpu->frames = f;
    }
    pthread_mutex_unlock(&gpu->lock);
    if (f->counted > left) {
        free(f);
        return kmm__host_error(
            KMM_E_MEMORY, "device %d has %llu bytes left of %llu, a frame needs %zu", gpu->ordinal,
            (unsigned long long)left, (unsigned long long)gpu->host->mem, bytes);
    }
    *out = (kmm__frame_handle_t)(uintptr_t)f;
    return 0;
}

int kmm__host_frame_create(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out)
{
    return frame_create(gpu, bytes, true, out);
}

int kmm__host_frame_create_host_backed(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out)
{
    return frame_create(gpu, bytes, false, out);
}

void kmm__host_frame_destroy(kmm__gpu_t *gpu, kmm__frame_handle_t frame, size_t bytes)
{
    kmm__host_frame_t *f = (kmm__host_frame_t *)(uintptr_t)frame;
    (void)bytes;
    assert(f->at == 0 && f->bytes == bytes);
    pthread_mutex_lock(&gpu->lock);
    kmm__host_frame_t **at = &gpu->frames;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    gpu->used -= f->counted;
    pthread_mutex_unlock(&gpu->lock);
    free(f);
}

static int map_pages(kmm__addr_t at, size_t bytes, int protection, int flags)
{
    void *p = mmap((void *)(uintptr_t)at, bytes, protection,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0);
    if (p != MAP_FAILED)
        return 0;
    return kmm__host_error(KMM_E_MEMORY, "mapping %zu bytes failed: %s", bytes, strerror(errno));
}

int kmm__host_frame_map(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes)
{
    kmm__host_frame_t *f = (kmm__host_frame_t *)(uintptr_t)frame;
    int error = check_size(at, bytes);
    if (error)
        return error;
    pthread_mutex_lock(&gpu->lock);
    if (f->bytes != bytes || f->at || mapped_in(gpu, at, bytes))
        error = kmm__host_error(KMM_E_STATE, "frame of %llu bytes, or its place, is in use already",
                                (unsigned long long)f->bytes);
    else if (!(error = map_pages(at, bytes, PROT_READ | PROT_WRITE, 0)))
        f->at = at;
    pthread_mutex_unlock(&gpu->lock);
    if (!error && gpu->host->check_frames)
        memset((void *)(uintptr_t)at, UNDEFINED_BYTE, bytes);
    return error;
}

int kmm__host_frame_unmap(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    pthread_mutex_lock(&gpu->lock);
    kmm__host_frame_t *f = mapped_in(gpu, at, bytes);
    assert(f && f->at == at && f->bytes == bytes);
    int error = map_pages(at, bytes, PROT_NONE, MAP_NORESERVE);
    gpu->is_stuck |= error != 0;
    if (!error && f)
        f->at = 0;
    pthread_mutex_unlock(&gpu->lock);
    return error;
}

int kmm__host_frames_allow(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    (void)gpu, (void)at, (void)bytes;
    return 0;
}

/* All addresses are the process's own, so every device reaches every frame. */
int kmm__host_frame_share(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer)
{
    (void)gpu, (void)at, (void)bytes, (void)peer;
    return 0;
}
