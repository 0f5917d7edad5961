/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a GPU. Events tell the time between them. An event on an idle stream, of which the
 * host sees at once that it is done, ties that to the host's clock. */
#include "backend/gpu/clock.h"

#include "backend/gpu/device.h"
#include "base/spin.h"

enum { TRIES = 8, VALID_NS = 1000000000 };

static bool begin(kmm__gpu_t *gpu)
{
    kmm__gpu_clock_t *c = &gpu->clock;
    if (!c->stream && gpu->calls->StreamCreate(&c->stream, KMM__GPU_STREAM_NON_BLOCKING))
        c->stream = NULL;
    if (!c->event && gpu->calls->EventCreate(&c->event, KMM__GPU_EVENT_TIMED))
        c->event = NULL;
    if (!c->other && gpu->calls->EventCreate(&c->other, KMM__GPU_EVENT_TIMED))
        c->other = NULL;
    return c->stream && c->event && c->other;
}

/* Records the event `other` and polls it until it is done. *from and *to: times of the host before
 * and after that. False: the driver refuses, or the device is not there in time. */
static bool record(const kmm__gpu_t *gpu, uint64_t *from, uint64_t *to)
{
    const kmm__gpu_clock_t *c = &gpu->clock;
    const uint64_t start = *from = *to = kmm__now();
    if (gpu->calls->EventRecord(c->other, c->stream))
        return false;
    for (;;) {
        const int r = gpu->calls->EventQuery(c->other);
        const uint64_t now = kmm__now();
        if (r == KMM__GPU_SUCCESS) {
            *to = now;
            return true;
        }
        if (r != KMM__GPU_NOT_READY || now - start > VALID_NS)
            return false;
        *from = *to;
        *to = now;
    }
}

/* Ties the clocks to each other by the event whose time is known best of several. */
static bool compare(kmm__gpu_t *gpu)
{
    kmm__gpu_clock_t *c = &gpu->clock;
    uint64_t best = UINT64_MAX, from, to;
    for (int k = 0; k < TRIES; k++) {
        if (!record(gpu, &from, &to))
            return false;
        if (to - from > best)
            continue;
        void *event = c->event;
        c->event = c->other;
        c->other = event;
        best = to - from;
        c->at = from + best / 2;
    }
    return true;
}

uint64_t kmm__gpu_clock_read(kmm__gpu_t *gpu, void *event)
{
    kmm__gpu_clock_t *c = &gpu->clock;
    const uint64_t now = kmm__now();
    float ms = 0;
    if (!begin(gpu) || ((!c->at || now - c->at > VALID_NS) && !compare(gpu)) ||
        gpu->calls->EventElapsedTime(&ms, c->event, event))
        return 0;
    const uint64_t time = c->at + (uint64_t)(int64_t)(1e6 * (double)ms);
    return time < now ? time : now; /* the clocks differ by less than a poll */
}

void kmm__gpu_clock_end(kmm__gpu_t *gpu)
{
    kmm__gpu_clock_t *c = &gpu->clock;
    if (c->event)
        gpu->calls->EventDestroy(c->event);
    if (c->other)
        gpu->calls->EventDestroy(c->other);
    if (c->stream)
        gpu->calls->StreamDestroy(c->stream);
}
