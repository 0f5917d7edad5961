/* SPDX-License-Identifier: Apache-2.0 */
/* Ordering of managed work with other work on the same streams, and copies between managed and
 * other memory (wrap.h). */
#include <stdbool.h>
#include <stdlib.h>

#include "managed/wrap.h"

/* Waits through an event, which completes after everything that the stream waits for. On the
 * default stream the event also waits for other streams, since the driver orders them with it. */
void internal(await_others)(stream_t s)
{
    event_t e = NULL;
    if (api(EventCreateWithFlags)(&e, DISABLE_TIMING)) {
        real(StreamSynchronize)(s);
        return;
    }
    if (real(EventRecord)(e, s) == 0) {
        real(EventSynchronize)(e);
    } else { /* the stream and the event belong to different devices */
        real(GetLastError)();
        real(StreamSynchronize)(s);
    }
    real(EventDestroy)(e);
}

stream_t internal(stream)(stream_t s)
{
    kmm_cuda_stream_catch_up(s);
    return kmm_task_stream(s);
}

stream_t internal(task_default)(void)
{
    return kmm_task_stream(NULL);
}

int internal(wait_for)(stream_t own, int error)
{
    return error ? error : real(StreamSynchronize)(own);
}

/* ---- Copies between managed memory and other memory ---- */

enum { BY_ADDRESS = 4, PIECE = 4 << 20, ON_DEVICE = 2 };

/* Kinds of memory that is not managed. Kernels cannot access MEMORY_ORDINARY. Host and kernels
 * share MEMORY_SHARED. The host cannot read MEMORY_DEVICE, a device's memory as libraries
 * allocate it. HIP's numbers of the kinds differ between releases, except that of ordinary
 * memory; so with HIP shared memory counts as a device's unless the copy's direction says
 * otherwise. */
typedef enum memory_kind { MEMORY_ORDINARY, MEMORY_SHARED, MEMORY_DEVICE } memory_kind_t;

static memory_kind_t memory_kind_of(const void *p, int kind)
{
    int attributes[64] = {0}; /* the structure's first field is the kind of memory */
    if (kind == DEVICE_TO_DEVICE)
        return MEMORY_DEVICE;
    if (real(PointerGetAttributes)(attributes, p)) {
        real(GetLastError)(); /* older runtimes return an error for ordinary memory */
        return MEMORY_ORDINARY;
    }
    if (attributes[0] == 0)
        return MEMORY_ORDINARY;
    return attributes[0] == ON_DEVICE || (KMM__WRAP_HIP && kind == BY_ADDRESS) ? MEMORY_DEVICE
                                                                               : MEMORY_SHARED;
}

bool internal(is_memory)(const void *p)
{
    return memory_kind_of(p, BY_ADDRESS) != MEMORY_ORDINARY;
}

/* Sets the kind of the side of a copy that is not managed; MEMORY_ORDINARY if both or neither
 * are managed. Other kinds of memory may be used by earlier launches, so their end is awaited
 * first. */
static int kind_ready(const void *dst, const void *src, int kind, stream_t s, memory_kind_t *out)
{
    bool to = kmm_cuda_is_managed(dst), from = kmm_cuda_is_managed(src);
    *out = to == from ? MEMORY_ORDINARY : memory_kind_of(to ? src : dst, kind);
    return *out == MEMORY_ORDINARY ? 0 : kmm_cuda_stream_settle(s);
}

static int through_host(char *dst, const char *src, size_t n)
{
    bool into = kmm_cuda_is_managed(dst);
    size_t piece = n < PIECE ? n : PIECE;
    char *buffer = malloc(piece ? piece : 1);
    int error = buffer ? 0 : KMM_CUDA_MEMORY_ALLOCATION;
    for (size_t at = 0, m; at < n && !error; at += m) {
        m = n - at < piece ? n - at : piece;
        error = into ? real(Memcpy)(buffer, src + at, m, DEVICE_TO_HOST)
                     : kmm_cuda_memcpy(buffer, src + at, m, DEVICE_TO_HOST);
        if (!error)
            error = into ? kmm_cuda_memcpy(dst + at, buffer, m, HOST_TO_DEVICE)
                         : real(Memcpy)(dst + at, buffer, m, HOST_TO_DEVICE);
    }
    free(buffer);
    return error;
}

int internal(copy)(void *dst, const void *src, size_t n, int kind, stream_t s)
{
    memory_kind_t memory;
    int error = kind_ready(dst, src, kind, s, &memory);
    if (error)
        return error;
    if (memory == MEMORY_DEVICE)
        return through_host(dst, src, n);
    return s ? kmm_cuda_memcpy_async(dst, src, n, kind, s) : kmm_cuda_memcpy(dst, src, n, kind);
}

int internal(copy_2d)(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h,
                      int kind, stream_t s)
{
    memory_kind_t memory;
    int error = kind_ready(dst, src, kind, s, &memory);
    if (!error && (!h || memory != MEMORY_DEVICE))
        return kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, kind);
    for (size_t row = 0; row < h && !error; row++)
        error = through_host((char *)dst + row * dp, (const char *)src + row * sp, w);
    return error;
}
