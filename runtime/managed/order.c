/* SPDX-License-Identifier: Apache-2.0 */
/* Launches with a pragma in native standing: their order across the program's streams (wrap.h). */
#include <pthread.h>
#include <stdbool.h>

#include "managed/wrap.h"

/* They keep their order across streams, as if each were submitted when the one before it is done.
 * libkmm has the latest one (kmm_cuda_native_order), which may be that of another library. No other
 * thread can name a thread's own default stream, so an event is recorded there behind each of
 * them. */

static uint64_t this_thread(void)
{
    return (uint64_t)(uintptr_t)pthread_self();
}

/* Makes later work on `s`, a stream of the current device, wait for what is on the stream of the
 * latest such launch. */
static int order_after(const kmm_cuda_order_t *last, stream_t s, int device)
{
    event_t e = NULL;
    if (!last->has || (s == last->stream && device == last->device &&
                       (s != PER_THREAD || last->thread == this_thread())))
        return 0;
    if (last->stream == PER_THREAD)
        return real(StreamWaitEvent)(s, last->event, 0);
    /* An event belongs to the device of the stream on which it is recorded. */
    int error = device != last->device ? real(SetDevice)(last->device) : 0;
    if (!error)
        error = api(EventCreateWithFlags)(&e, DISABLE_TIMING);
    if (!error)
        error = real(EventRecord)(e, last->stream);
    if (device != last->device)
        real(SetDevice)(device);
    if (!error)
        error = real(StreamWaitEvent)(s, e, 0);
    if (e)
        real(EventDestroy)(e); /* the driver keeps it as long as a stream waits for it */
    return error;
}

/* ---- Times of launches ---- */

/* A launch that is being timed. */
typedef struct timing {
    int sample; /* libkmm's number of it; 0: none */
    event_t begin, end;
    uint64_t launches, next; /* launches since; after which of them it is looked at again */
} timing_t;
enum { TIMINGS = 8 };
static timing_t timings[TIMINGS]; /* of launches of this library; guarded by the order's lock */
static int timing_count;

static void timing_end(timing_t *t, float milliseconds)
{
    const double nanoseconds = (double)milliseconds * 1e6;
    if (t->begin)
        real(EventDestroy)(t->begin);
    if (t->end)
        real(EventDestroy)(t->end);
    kmm_cuda_native_measured(t->sample, nanoseconds >= 1 ? (uint64_t)nanoseconds : 0);
    *t = (timing_t){0};
    timing_count--;
}

/* Returns a free slot with two events; NULL: there is none. */
static timing_t *timing_begin(int sample)
{
    timing_t *t = timings;
    while (t < timings + TIMINGS && t->sample)
        t++;
    if (t == timings + TIMINGS) {
        kmm_cuda_native_measured(sample, 0);
        return NULL;
    }
    *t = (timing_t){.sample = sample, .next = 1};
    timing_count++;
    if (api(EventCreateWithFlags)(&t->begin, 0) || api(EventCreateWithFlags)(&t->end, 0)) {
        timing_end(t, 0);
        return NULL;
    }
    return t;
}

/* Takes the times of launches that are over. Asks the driver as seldom as the launch takes long,
 * and not at all while the program has an error to find: asking may leave one that says `not
 * ready`. */
static void timings_look(void)
{
    for (timing_t *t = timings; t < timings + TIMINGS && timing_count; t++) {
        float milliseconds = 0;
        if (!t->sample || ++t->launches < t->next || real(PeekAtLastError)())
            continue;
        t->next *= 2;
        int error = real(EventQuery)(t->end);
        if (error)
            real(GetLastError)();
        if (error == KMM_CUDA_NOT_READY)
            continue;
        if (!error && (error = real(EventElapsedTime)(&milliseconds, t->begin, t->end)))
            real(GetLastError)();
        timing_end(t, error ? 0 : milliseconds);
    }
}

/* Notes the launch that was made last. Called behind it. */
static void note(kmm_cuda_order_t *last, stream_t s, int device)
{
    event_t e = NULL;
    int error = 0;
    if (last->event)
        real(EventDestroy)(last->event); /* the driver keeps it as long as a stream waits for it */
    last->event = NULL;
    if (s == PER_THREAD && internal(is_captured)(s)) { /* no others may wait for a graph's event */
        last->has = 0;
        return;
    }
    if (s == PER_THREAD) {
        error = api(EventCreateWithFlags)(&e, DISABLE_TIMING);
        if (!error)
            error = real(EventRecord)(e, s);
        if (error) /* nobody can wait for it later */
            real(StreamSynchronize)(s);
    }
    *last = (kmm_cuda_order_t){!error, device, s, e, this_thread()};
}

/* Makes the call that <<<>>> becomes. CUDA's LaunchKernel looks for a host function first. */
static int launch_as_written(const void *handle, const kmm_geometry_t *g, void **args)
{
    const dim3_t grid = {g->grid[0], g->grid[1], g->grid[2]},
                 block = {g->block[0], g->block[1], g->block[2]};
#if !KMM__WRAP_HIP
    if (__real___cudaLaunchKernel)
        return __real___cudaLaunchKernel(handle, grid, block, args, g->shared_bytes, g->stream);
#endif
    return real(LaunchKernel)(handle, grid, block, args, g->shared_bytes, g->stream);
}

/* Most launches come again on the stream of the latest one, and are next there without events. */
static int launch_again(kmm_cuda_order_t *last, int device, const void *handle,
                        const kmm_geometry_t *g, void **args)
{
    const bool is_next = last->has && last->stream == g->stream && last->device == device &&
                         g->stream != PER_THREAD && !last->event;
    int error = is_next ? 0 : order_after(last, g->stream, device);
    if (!error)
        error = launch_as_written(handle, g, args);
    if (!is_next)
        note(last, g->stream, device);
    kmm_cuda_launch_again_end();
    return error;
}

int internal(launch_natively)(int how, kmm_cuda_order_t *last, const void *handle,
                              const kmm_geometry_t *g, void **args)
{
    int device = 0;
    if (last)
        return launch_again(last, how, handle, g, args);
    api(GetDevice)(&device);
    last = kmm_cuda_native_order();
    timings_look();
    int error = order_after(last, g->stream, device), sample = kmm_cuda_native_sample();
    timing_t *t = sample ? timing_begin(sample) : NULL;
    int timed = t ? real(EventRecord)(t->begin, g->stream) : 0;
    if (how == KMM_CUDA_IN_CHUNKS)
        error = kmm_cuda_native_chunks(error);
    else if (!error)
        error = launch_as_written(handle, g, args);
    if (t && (error || timed || real(EventRecord)(t->end, g->stream)))
        timing_end(t, 0);
    note(last, g->stream, device);
    kmm_cuda_native_order_end();
    kmm_cuda_native_leave();
    return error;
}

static void stream_ends(stream_t s)
{
    kmm_cuda_native_stream_ends(s);
    kmm_cuda_order_t *last = kmm_cuda_native_order();
    if (last->has && s == last->stream) {
        real(StreamSynchronize)(s);
        last->has = 0;
    }
    kmm_cuda_native_order_end();
}

int wrap(StreamDestroy)(stream_t s)
{
    internal(stream_ends)(s);
    if (kmm_cuda_native(KIND)) {
        stream_ends(s);
        return kmm_cuda_native_synced(real(StreamDestroy)(s));
    }
    int error = kmm_cuda_stream_synchronize(s), destroyed = real(StreamDestroy)(s);
    return error ? error : destroyed;
}
