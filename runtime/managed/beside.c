/* SPDX-License-Identifier: Apache-2.0 */
/* Managed work beside that of others: what they have put on streams, and copies from and to their memory (wrap.h). */
#include <stdbool.h>
#include <stdlib.h>

#include "wrap.h"

int API(EventCreateWithFlags)(event_t *out, unsigned flags);
enum { DISABLE_TIMING = 2 };

/* An event comes after all that the stream waits for: the default stream waits for others, and they for it, when something is put there. */
void OWN(await_others)(stream_t s)
{
    event_t e = NULL;
    if (API(EventCreateWithFlags)(&e, DISABLE_TIMING)) {
        REAL(StreamSynchronize)(s);
        return;
    }
    if (REAL(EventRecord)(e, s) == 0)
        REAL(EventSynchronize)(e);
    REAL(EventDestroy)(e);
}

/* ---- Copies between managed memory and what is not ---- */

enum { BY_ADDRESS = 4, PIECE = 4 << 20, ON_DEVICE = 2 };

/* Whether memory that is not managed is a device's, as libraries have it: the host cannot read that. HIP's numbers of kinds of memory have
 * changed, but that of ordinary memory; other memory of the host may go that way, too. */
static bool is_on_device(const void *p, int kind)
{
    int attributes[64] = { 0 }; /* the structure begins with the kind of memory */
    if (kind != BY_ADDRESS)
        return kind == DEVICE_TO_DEVICE;
    if (REAL(PointerGetAttributes)(attributes, p)) {
        REAL(GetLastError)(); /* older runtimes say so of ordinary memory */
        return false;
    }
    return KMM__WRAP_HIP ? attributes[0] != 0 : attributes[0] == ON_DEVICE;
}

/* Whether one side is managed and the other a device's. */
static bool goes_through_host(const void *dst, const void *src, int kind)
{
    bool to = kmm_cuda_is_managed(dst), from = kmm_cuda_is_managed(src);
    return to != from && is_on_device(to ? src : dst, kind);
}

static int through_host(char *dst, const char *src, size_t n)
{
    bool into = kmm_cuda_is_managed(dst);
    size_t piece = n < PIECE ? n : PIECE;
    char *buffer = malloc(piece ? piece : 1);
    int error = buffer ? 0 : KMM_CUDA_MEMORY_ALLOCATION;
    for (size_t at = 0, m; at < n && !error; at += m) {
        m = n - at < piece ? n - at : piece;
        error = into ? REAL(Memcpy)(buffer, src + at, m, DEVICE_TO_HOST) : kmm_cuda_memcpy(buffer, src + at, m, DEVICE_TO_HOST);
        if (!error)
            error = into ? kmm_cuda_memcpy(dst + at, buffer, m, HOST_TO_DEVICE) : REAL(Memcpy)(dst + at, buffer, m, HOST_TO_DEVICE);
    }
    free(buffer);
    return error;
}

int OWN(copy)(void *dst, const void *src, size_t n, int kind)
{
    return goes_through_host(dst, src, kind) ? through_host(dst, src, n) : kmm_cuda_memcpy(dst, src, n, kind);
}

int OWN(copy_2d)(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind)
{
    int error = 0;
    if (!h || !goes_through_host(dst, src, kind))
        return kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, kind);
    for (size_t row = 0; row < h && !error; row++)
        error = through_host((char *)dst + row * dp, (const char *)src + row * sp, w);
    return error;
}
