/* SPDX-License-Identifier: Apache-2.0 */
/* Launches with a pragma in native standing: their order across the program's streams (wrap.h). */
#include <pthread.h>
#include <stdbool.h>

#include "managed/wrap.h"

/* They keep their order across streams, as if each were submitted when the one before it is done.
 * `last_stream` is the stream of the latest one, on `last_device`. No other thread can name a
 * thread's own default stream, so `last_event` is recorded there behind each of them. */
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static stream_t last_stream;
static int last_device;
static pthread_t last_thread;
static event_t last_event; /* NULL: last_stream can be asked for one */
static bool has_last;

/* Makes later work on `s`, a stream of the current device, wait for what is on the stream of the
 * latest such launch. */
static int order_after_last(stream_t s, int device)
{
    event_t e = NULL;
    if (!has_last || (s == last_stream && device == last_device &&
                      (s != PER_THREAD || pthread_equal(pthread_self(), last_thread))))
        return 0;
    if (last_stream == PER_THREAD)
        return real(StreamWaitEvent)(s, last_event, 0);
    /* An event belongs to the device of the stream on which it is recorded. */
    int error = device != last_device ? real(SetDevice)(last_device) : 0;
    if (!error)
        error = api(EventCreateWithFlags)(&e, DISABLE_TIMING);
    if (!error)
        error = real(EventRecord)(e, last_stream);
    if (device != last_device)
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
static timing_t timings[TIMINGS];
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
static void note_last(stream_t s, int device)
{
    int error = 0;
    if (last_event)
        real(EventDestroy)(last_event); /* the driver keeps it as long as a stream waits for it */
    last_event = NULL;
    if (s == PER_THREAD && internal(is_captured)(s)) { /* no others may wait for a graph's event */
        has_last = false;
        return;
    }
    if (s == PER_THREAD) {
        error = api(EventCreateWithFlags)(&last_event, DISABLE_TIMING);
        if (!error)
            error = real(EventRecord)(last_event, s);
        if (error) /* nobody can wait for it later */
            real(StreamSynchronize)(s);
    }
    last_stream = s;
    last_device = device;
    last_thread = pthread_self();
    has_last = !error;
}

/* Calls the runtime's own launch. */
static int launch_as_written(const void *handle, const kmm_geometry_t *g, void **args)
{
    const dim3_t grid = {g->grid[0], g->grid[1], g->grid[2]},
                 block = {g->block[0], g->block[1], g->block[2]};
    return real(LaunchKernel)(handle, grid, block, args, g->shared_bytes, g->stream);
}

int internal(launch_natively)(int how, const void *handle, const kmm_geometry_t *g, void **args)
{
    int device = 0;
    api(GetDevice)(&device);
    pthread_mutex_lock(&order_lock);
    timings_look();
    int error = order_after_last(g->stream, device), sample = kmm_cuda_native_sample();
    timing_t *t = sample ? timing_begin(sample) : NULL;
    int timed = t ? real(EventRecord)(t->begin, g->stream) : 0;
    if (how == KMM_CUDA_IN_CHUNKS)
        error = kmm_cuda_native_chunks(error);
    else if (!error)
        error = launch_as_written(handle, g, args);
    if (t && (error || timed || real(EventRecord)(t->end, g->stream)))
        timing_end(t, 0);
    note_last(g->stream, device);
    pthread_mutex_unlock(&order_lock);
    kmm_cuda_native_leave();
    return error;
}

static void stream_ends(stream_t s)
{
    kmm_cuda_native_stream_ends(s);
    pthread_mutex_lock(&order_lock);
    if (has_last && s == last_stream) {
        real(StreamSynchronize)(s);
        has_last = false;
    }
    pthread_mutex_unlock(&order_lock);
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
