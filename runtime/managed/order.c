/* SPDX-License-Identifier: Apache-2.0 */
/* Launches with a pragma in native standing: their order across the program's streams (wrap.h). */
#include <pthread.h>
#include <stdbool.h>

#include "managed/wrap.h"

/* They keep their order across streams, as if each were submitted when the one before it is done.
 * `last_stream` is the stream of the latest one, on `last_device`. */
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static stream_t last_stream;
static int last_device;
static bool has_last;

/* Makes later work on `s`, a stream of the current device, wait for what is on the stream of the
 * latest such launch. */
static int order_after_last(stream_t s, int device)
{
    event_t e = NULL;
    if (!has_last || (s == last_stream && device == last_device))
        return 0;
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
    int error = order_after_last(g->stream, device);
    if (how == KMM_CUDA_IN_CHUNKS)
        error = kmm_cuda_native_chunks(error);
    else if (!error)
        error = launch_as_written(handle, g, args);
    last_stream = g->stream;
    last_device = device;
    has_last = true;
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
    if (kmm_cuda_native(KIND)) {
        stream_ends(s);
        return kmm_cuda_native_synced(real(StreamDestroy)(s));
    }
    int error = kmm_cuda_stream_synchronize(s), destroyed = real(StreamDestroy)(s);
    return error ? error : destroyed;
}
