/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a device can map memory into address space, by doing it once. */
#include "backend/gpu/probe.h"

#include <sched.h>
#include <string.h>

#include "backend/gpu/device.h"
#include "backend/gpu/memory.h"

enum { PROBE_FRAMES = 3, PROBE_BYTES = 4096 };

/* A window of three frames, for the trial. */
typedef struct probe {
    kmm__addr_t window;
    size_t bytes; /* bytes of a frame */
    kmm__frame_handle_t frame[PROBE_FRAMES];
    int created; /* frames created */
    bool is_mapped[PROBE_FRAMES];
    void *stream;
} probe_t;

/* True if bytes of ordinary host memory come back unchanged from `at`. */
static bool make_the_trip(kmm__gpu_t *gpu, const probe_t *p, kmm__addr_t at, int seed)
{
    unsigned char out[PROBE_BYTES], back[PROBE_BYTES];
    for (int k = 0; k < PROBE_BYTES; k++) {
        out[k] = (unsigned char)(seed + k * 31 + k / 251);
        back[k] = (unsigned char)~out[k];
    }
    int r = kmm__gpu_answer(gpu, gpu->calls->MemcpyHtoD(at, out, sizeof(out), p->stream)), end;
    r = r ? r : kmm__gpu_answer(gpu, gpu->calls->MemcpyDtoH(back, at, sizeof(back), p->stream));
    while ((end = kmm__gpu_answer(gpu, gpu->calls->StreamQuery(p->stream))) == KMM__GPU_NOT_READY)
        sched_yield();
    return !r && !end && !memcmp(out, back, sizeof(out));
}

/* Does all that is done with windows later: maps neighbouring frames, gives access to all at once,
 * copies across their borders, and maps one anew while the others stay. False: something failed. */
static bool use_probe(kmm__gpu_t *gpu, probe_t *p)
{
    const kmm__gpu_calls_t *c = gpu->calls;
    kmm__gpu_allocation_t properties = kmm__gpu_frame_properties(gpu);
    kmm__addr_t second = p->window + p->bytes, third = second + p->bytes;
    for (; p->created < PROBE_FRAMES; p->created++)
        if (kmm__gpu_answer(gpu, c->MemCreate(&p->frame[p->created], p->bytes, &properties, 0)))
            return false;
    for (int k = 0; k < PROBE_FRAMES; k++) {
        if (kmm__gpu_answer(
                gpu, c->MemMap(p->window + (kmm__addr_t)k * p->bytes, p->bytes, 0, p->frame[k], 0)))
            return false;
        p->is_mapped[k] = true;
    }
    if (kmm__gpu_set_access(gpu, p->window, PROBE_FRAMES * p->bytes, gpu->device.ordinal))
        return false;
    if (!make_the_trip(gpu, p, second - PROBE_BYTES / 2, 1))
        return false;
    if (kmm__gpu_answer(gpu, c->MemUnmap(second, p->bytes)))
        return false;
    p->is_mapped[1] = kmm__gpu_frame_map(gpu, second, p->frame[1], p->bytes) == 0;
    return p->is_mapped[1] && make_the_trip(gpu, p, second - PROBE_BYTES / 2, 2) &&
           make_the_trip(gpu, p, third - PROBE_BYTES / 2, 3);
}

/* Releases all. False: something failed. What the driver does not unmap stays, and so does the
 * window. */
static bool end_probe(kmm__gpu_t *gpu, probe_t *p)
{
    int bad = 0;
    bool is_stuck = false;
    for (int k = 0; k < p->created; k++) {
        if (p->is_mapped[k]) {
            kmm__addr_t at = p->window + (kmm__addr_t)k * p->bytes;
            int error = KMM__GPU_TRY(gpu, MemUnmap, (at, p->bytes));
            bad |= error;
            p->is_mapped[k] = error && error != KMM_E_KERNEL; /* a lost device has no mappings */
        }
        is_stuck |= p->is_mapped[k];
        if (!p->is_mapped[k])
            bad |= kmm__gpu_answer(gpu, gpu->calls->MemRelease(p->frame[k]));
    }
    if (p->stream)
        bad |= kmm__gpu_answer(gpu, gpu->calls->StreamDestroy(p->stream));
    if (!is_stuck)
        bad |= kmm__gpu_answer(gpu, gpu->calls->MemAddressFree(p->window, PROBE_FRAMES * p->bytes));
    return !bad && !is_stuck;
}

/* The trial is needed because what drivers say of devices differs with their version. ROCm 6.1
 * returns success but maps a frame at the window's base instead of where it was told. */
bool kmm__gpu_can_map(kmm__gpu_t *gpu)
{
    probe_t p = {.bytes = gpu->calls->MemMap ? kmm__gpu_granularity(gpu) : 0};
    if (p.bytes < PROBE_BYTES ||
        kmm__gpu_answer(gpu,
                        gpu->calls->MemAddressReserve(&p.window, PROBE_FRAMES * p.bytes, 0, 0, 0)))
        return false;
    bool can =
        !kmm__gpu_answer(gpu, gpu->calls->StreamCreate(&p.stream, KMM__GPU_STREAM_NON_BLOCKING)) &&
        use_probe(gpu, &p);
    return end_probe(gpu, &p) && can;
}
