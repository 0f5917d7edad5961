/* SPDX-License-Identifier: Apache-2.0 */
/* Allocating and freeing memory of managed programs (wrap.h). */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "managed/wrap.h"

/* True if the real call allocates the memory. Inside a task memory is the device's own, as for
 * intermediate results of libraries. Without a GPU the real call fails as it would without libkmm.
 */
static bool is_own(void)
{
    return kmm_task_active() || internal(is_absent)();
}

/* Frees in native standing, when the work that uses the memory is over, whose result is `error`. */
static int native_free(void *p, int error)
{
    bool is_array = kmm_cuda_native_free(p);
    return error || is_array ? error : real(Free)(p);
}

/* ---- Arrays that are freed in the order of a stream. In native standing such an array is freed
 * when the stream has come to an event. Until then an allocation of its size on the same stream
 * takes it. ---- */

typedef struct leaving {
    void *p;
    size_t bytes;
    bool has_stream; /* `stream` of `device` is the one on which it was freed */
    stream_t stream;
    int device;
    event_t event; /* done when the memory is no longer used */
    struct leaving *next;
} leaving_t;
static leaving_t *leaving;
static pthread_mutex_t leaving_lock = PTHREAD_MUTEX_INITIALIZER;

/* Frees the memory of *at, which is no longer used, and removes it from the list. */
static void leaving_end(leaving_t **at)
{
    leaving_t *l = *at;
    *at = l->next;
    kmm_cuda_native_free(l->p);
    real(EventDestroy)(l->event);
    free(l);
}

/* Frees what is no longer used. may_wait: and the rest when that is so. Returns true if it has
 * freed something. */
static bool leaving_look(bool may_wait)
{
    bool any = false;
    pthread_mutex_lock(&leaving_lock);
    /* Asking may leave an error that says `not ready`, which must not hide one of the program. */
    bool may = leaving && (may_wait || !real(PeekAtLastError)());
    for (leaving_t **at = &leaving; may && *at;) {
        int error =
            may_wait ? real(EventSynchronize)((*at)->event) : real(EventQuery)((*at)->event);
        if (error == KMM_CUDA_NOT_READY) {
            real(GetLastError)();
            at = &(*at)->next;
            continue;
        }
        leaving_end(at);
        any = true;
    }
    pthread_mutex_unlock(&leaving_lock);
    return any;
}

/* Native standing ends, and all work is over. */
static void standing_ends(void)
{
    pthread_mutex_lock(&leaving_lock);
    while (leaving)
        leaving_end(&leaving);
    pthread_mutex_unlock(&leaving_lock);
}

/* Inside a native call: frees the array at p in the order of the stream. */
static int leave(void *p, stream_t s)
{
    kmm_extent_t extent = {NULL, 0};
    leaving_t *l = malloc(sizeof(*l));
    event_t e = NULL;
    int device = 0;
    bool is = l && kmm_array_find(kmm_default(), p, &extent) == 0 && extent.base == p &&
              api(GetDevice)(&device) == 0 && api(EventCreateWithFlags)(&e, DISABLE_TIMING) == 0 &&
              real(EventRecord)(e, s) == 0;
    if (!is) {
        free(l);
        if (e)
            real(EventDestroy)(e);
        return native_free(p, real(StreamSynchronize)(s));
    }
    pthread_mutex_lock(&leaving_lock);
    *l = (leaving_t){p, extent.bytes, s != PER_THREAD, s, device, e, leaving};
    leaving = l;
    pthread_mutex_unlock(&leaving_lock);
    kmm_cuda_native_at_end(standing_ends);
    leaving_look(false);
    return KMM_CUDA_SUCCESS;
}

/* Inside a native call: takes an array of that size that was freed on the stream. NULL: there is
 * none. */
static void *leaving_take(size_t bytes, stream_t s)
{
    void *p = NULL;
    int device = 0;
    pthread_mutex_lock(&leaving_lock);
    if (leaving)
        api(GetDevice)(&device);
    leaving_t **at = &leaving, *l;
    while ((l = *at) &&
           (l->bytes != bytes || !l->has_stream || l->stream != s || l->device != device))
        at = &l->next;
    if (l) {
        p = l->p;
        *at = l->next;
        real(EventDestroy)(l->event);
        free(l);
    }
    pthread_mutex_unlock(&leaving_lock);
    return p;
}

bool internal(is_captured)(stream_t s)
{
    int status = 0;
    return s && s != LEGACY && kmm_cuda_native_is_bound() &&
           api(StreamIsCapturing)(s, &status) == 0 && status;
}

void internal(stream_ends)(stream_t s)
{
    pthread_mutex_lock(&leaving_lock);
    for (leaving_t *l = leaving; l; l = l->next)
        l->has_stream = l->has_stream && l->stream != s; /* another stream may get the handle */
    pthread_mutex_unlock(&leaving_lock);
}

/* ---- The calls ---- */

/* Enters a native call that makes an array. */
static bool enter_to_make(void)
{
    return kmm_cuda_native_enter(KIND) ||
           (kmm_cuda_native_return(KIND) && kmm_cuda_native_enter(KIND));
}

int internal(malloc)(void **out, size_t bytes)
{
    if (out && bytes && enter_to_make()) {
        int fits = kmm_cuda_native_malloc(out, bytes);
        if (!fits && leaving_look(true))
            fits = kmm_cuda_native_malloc(out, bytes);
        kmm_cuda_native_leave();
        if (fits)
            return KMM_CUDA_SUCCESS;
    }
    return kmm_cuda_malloc(out, bytes);
}

int wrap(Malloc)(void **out, size_t bytes)
{
    return is_own() ? real(Malloc)(out, bytes) : internal(malloc)(out, bytes);
}

int wrap(Free)(void *p)
{
    if (p && kmm_cuda_native_enter(KIND)) {
        int error = native_free(p, real(DeviceSynchronize)());
        kmm_cuda_native_leave();
        return error;
    }
    if (kmm_cuda_is_managed(p))
        return kmm_cuda_free(p);
    int error = p ? kmm_cuda_stream_settle(NULL) : 0, freed = real(Free)(p);
    return error ? error : freed;
}

static int malloc_async(void **out, size_t bytes, stream_t s)
{
    if (out && bytes && kmm_cuda_native_enter(KIND)) {
        void *p = leaving_take(bytes, s);
        kmm_cuda_native_leave();
        if (p) {
            *out = p;
            return KMM_CUDA_SUCCESS;
        }
    }
    return internal(malloc)(out, bytes);
}

int wrap(MallocAsync)(void **out, size_t bytes, stream_t s)
{
    return is_own() || internal(is_captured)(s) ? real(MallocAsync)(out, bytes, kmm_task_stream(s))
                                                : malloc_async(out, bytes, s);
}

/* Ignores the pool: it is the driver's, and an array has memory where chunks need it. */
int wrap(MallocFromPoolAsync)(void **out, size_t bytes, void *pool, stream_t s)
{
    return is_own() || internal(is_captured)(s)
               ? real(MallocFromPoolAsync)(out, bytes, pool, kmm_task_stream(s))
               : malloc_async(out, bytes, s);
}

int wrap(FreeAsync)(void *p, stream_t s)
{
    if (p && kmm_cuda_native_enter(KIND)) {
        int error = kmm_cuda_is_managed(p) && !internal(is_captured)(s) ? leave(p, s)
                                                                        : real(FreeAsync)(p, s);
        kmm_cuda_native_leave();
        return error;
    }
    if (kmm_cuda_is_managed(p))
        return kmm_cuda_free(p);
    s = internal(stream)(s);
    return real(FreeAsync)(p, s);
}

int wrap(MallocPitch)(void **out, size_t *pitch, size_t width, size_t height)
{
    if (is_own())
        return real(MallocPitch)(out, pitch, width, height);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return internal(malloc)(out, *pitch * height);
}
