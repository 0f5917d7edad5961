/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs through their driver, which is opened when the program runs: whatever CUDA and HIP have in
 * common. A thread's current device is left as it was.
 */
#include "backend/gpu/gpu.h"
#include "base/spin.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SPIN_NS = 50000,
    SLEEP_NS = 20000,
    POLL_RELAX = 64,
    PLAIN_SHARED_BYTES = 48 << 10,
    WHOLE_GRANULE = 4096,
    GRANULE = 2 << 20
};
enum {
    PROBE_FRAMES = 3,
    PROBE_BYTES = 4096
}; /* of those that find out whether memory can be mapped */

typedef struct gpu_backend {
    kmm__backend_t base;
    kmm__gpu_driver_t *driver;
    int count;
    kmm__gpu_t *first; /* the first device opened, for calls that need one and care not which */
} gpu_backend_t;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct loaded {
    void *kernel, *function;
    size_t shared_bytes;
} loaded_t;

struct kmm__event {
    kmm__gpu_t *gpu;
    void *handle;
};

typedef struct note {
    void (*fn)(void *arg, int status);
    void *arg;
    void *event; /* NULL: there was none to be had, and the note is for when the stream has nothing
                    to do */
    struct note *next;
} note_t;

struct kmm__stream {
    kmm__gpu_t *gpu;
    void *handle;
    bool is_foreign;      /* the program's; it is never destroyed here */
    note_t *first, *last; /* guarded by gpu->lock */
    kmm__stream_t *next;
};

struct kmm__gpu {
    gpu_backend_t *backend;
    const kmm__gpu_driver_t *driver;
    const kmm__gpu_calls_t *calls;
    kmm__gpu_device_t device;
    pthread_mutex_t load_lock; /* guards the three below */
    loaded_t *loaded;
    int loaded_count;
    size_t granule; /* of frames, bytes */
    unsigned peers; /* devices, by ordinal, that may use memory allocated here */
    /* The thread that watches for the end of work. */
    pthread_t watcher;
    pthread_mutex_t lock;
    pthread_cond_t noted;
    pthread_cond_t delivered;
    kmm__stream_t *streams;
    kmm__stream_t *delivering; /* its note is being delivered, unlocked; not freed meanwhile unless
                                  by that delivery */
    int pending;               /* notes not delivered */
    bool closing;
    void **spare; /* events */
    int spare_count, spare_capacity;
};

/* ---- Errors and the current device ---- */

static _Thread_local char error_text[256] = "no error";

/* What a kernel broke, and what the device does not recover from; the numbers between are of other
 * kinds. */
static bool is_fault(int r)
{
    return r == 700 || r == 702 || r == 710 || (r >= 714 && r <= 719);
}

int kmm__gpu_result(const kmm__gpu_driver_t *driver, int r, const char *call)
{
    const char *name = NULL, *text = NULL,
               *version = strstr(call, "_v"); /* part of the symbol, not of the name */
    if (r == KMM__GPU_SUCCESS)
        return 0;
    if (driver->forget)
        driver->forget();
    driver->describe(r, &name, &text);
    snprintf(error_text, sizeof(error_text), "%.*s: %s (%s)",
             version ? (int)(version - call) : (int)strlen(call), call,
             name ? name : "unknown error", text ? text : "");
    return r == KMM__GPU_OUT_OF_MEMORY ? KMM_E_MEMORY : is_fault(r) ? KMM_E_KERNEL : KMM_E_DEVICE;
}

#define TRY(gpu, call, arguments)                                                                  \
    kmm__gpu_result((gpu)->driver, (gpu)->calls->call arguments, (gpu)->driver->names->call)

/* A result that is an answer, and no error. */
static int answer(const kmm__gpu_t *gpu, int r)
{
    if (r != KMM__GPU_SUCCESS && gpu->driver->forget)
        gpu->driver->forget();
    return r;
}

static bool enter(const kmm__gpu_t *gpu)
{
    return gpu->driver->enter(&gpu->device);
}

static void leave(const kmm__gpu_t *gpu, bool entered)
{
    gpu->driver->leave(entered);
}

/*
 * A program that captures a graph forbids all threads calls that allocate, or that ask how far work
 * is, until it has ended; one that is made all the same fails, and spoils the capture. Ours have
 * nothing to do with what is captured, whichever thread makes them: they stand between relax and
 * restore, which takes what relax returned.
 */
static int relax(const kmm__gpu_t *gpu)
{
    int mode = KMM__GPU_CAPTURE_RELAXED;
    gpu->calls->ThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static void restore(const kmm__gpu_t *gpu, int mode)
{
    gpu->calls->ThreadExchangeStreamCaptureMode(&mode);
}

typedef struct scope {
    bool entered;
    int mode;
} scope_t;

static scope_t enter_relaxed(const kmm__gpu_t *gpu)
{
    return (scope_t){enter(gpu), relax(gpu)};
}

static void leave_relaxed(const kmm__gpu_t *gpu, scope_t scope)
{
    restore(gpu, scope.mode);
    leave(gpu, scope.entered);
}

static const char *gpu_error_text(kmm__backend_t *b)
{
    (void)b;
    return error_text;
}

/* ---- Watching for the end of work ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Keeps an event to be used again; locked. */
static void spare_event(kmm__gpu_t *gpu, void *event)
{
    if (gpu->spare_count == gpu->spare_capacity) {
        int capacity = gpu->spare_capacity ? 2 * gpu->spare_capacity : 64;
        void **grown = realloc(gpu->spare, (size_t)capacity * sizeof(*grown));
        if (!grown) {
            gpu->calls->EventDestroy(event);
            return;
        }
        gpu->spare = grown;
        gpu->spare_capacity = capacity;
    }
    gpu->spare[gpu->spare_count++] = event;
}

/* Takes the first note of a stream off if its work is over; locked. */
static note_t *take_finished(kmm__gpu_t *gpu, kmm__stream_t *s, int *status)
{
    note_t *n = s->first;
    int r = !n         ? KMM__GPU_NOT_READY
            : n->event ? gpu->calls->EventQuery(n->event)
                       : gpu->calls->StreamQuery(s->handle);
    if (r == KMM__GPU_NOT_READY)
        return NULL;
    *status = kmm__gpu_result(gpu->driver, r, "work on the device");
    s->first = n->next;
    if (!s->first)
        s->last = NULL;
    if (n->event)
        spare_event(gpu, n->event);
    return n;
}

/* Delivers what has finished; returns whether anything had. Locked, but for the deliveries. */
static bool deliver(kmm__gpu_t *gpu)
{
    bool any = false;
    for (kmm__stream_t *s = gpu->streams; s; s = s->next) {
        int status = 0;
        for (note_t *n; (n = take_finished(gpu, s, &status));) {
            gpu->delivering = s;
            pthread_mutex_unlock(&gpu->lock);
            n->fn(n->arg, status);
            free(n);
            pthread_mutex_lock(&gpu->lock);
            gpu->pending--;
            any = true;
            if (!gpu->delivering)
                return true; /* the delivery destroyed the stream */
            gpu->delivering = NULL;
            pthread_cond_broadcast(&gpu->delivered);
        }
    }
    return any;
}

static void *watch(void *arg)
{
    kmm__gpu_t *gpu = arg;
    uint64_t idle_since = now_ns(),
             patience = kmm__has_cpus_to_spare() ? KMM__SPIN_DEVICE_NS : SPIN_NS;
    enter_relaxed(gpu); /* for good: the thread is ours */
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->closing || gpu->pending) {
        if (!gpu->pending) {
            pthread_cond_wait(&gpu->noted, &gpu->lock);
            idle_since = now_ns();
            continue;
        }
        if (deliver(gpu)) {
            idle_since = now_ns();
            continue;
        }
        pthread_mutex_unlock(&gpu->lock);
        uint64_t idle = now_ns() - idle_since;
        if (idle > patience)
            nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
        else if (idle > SPIN_NS)
            for (int k = 0; k < POLL_RELAX; k++)
                kmm__relax();
        else
            sched_yield(); /* leaves the lock to those who enqueue */
        pthread_mutex_lock(&gpu->lock);
    }
    pthread_mutex_unlock(&gpu->lock);
    return NULL;
}

/* Locked: an event recorded on the stream; NULL when the driver refuses one. */
static void *record_note(kmm__gpu_t *gpu, void *s)
{
    void *event = NULL;
    if (gpu->spare_count) {
        event = gpu->spare[--gpu->spare_count];
    } else {
        int mode = relax(gpu), r = gpu->calls->EventCreate(&event, KMM__GPU_EVENT_DISABLE_TIMING);
        restore(gpu, mode);
        if (r)
            return NULL;
    }
    if (gpu->calls->EventRecord(event, s) == KMM__GPU_SUCCESS)
        return event;
    gpu->calls->EventDestroy(event);
    return NULL;
}

static int gpu_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg)
{
    kmm__gpu_t *gpu = s->gpu;
    note_t *n = malloc(sizeof(*n));
    if (!n)
        return KMM_E_MEMORY;
    *n = (note_t){.fn = fn, .arg = arg};
    bool entered = enter(gpu);
    pthread_mutex_lock(&gpu->lock);
    n->event = record_note(gpu, s->handle);
    if (s->last)
        s->last->next = n;
    else
        s->first = n;
    s->last = n;
    if (gpu->pending++ == 0)
        pthread_cond_signal(&gpu->noted);
    pthread_mutex_unlock(&gpu->lock);
    leave(gpu, entered);
    return 0;
}

/* ---- Devices ---- */

static int gpu_count(kmm__backend_t *b)
{
    return ((gpu_backend_t *)b)->count;
}

static kmm__gpu_allocation_t frame_properties(const kmm__gpu_t *gpu)
{
    return (kmm__gpu_allocation_t){.type = KMM__GPU_ALLOCATION_PINNED,
                                   .location = {KMM__GPU_LOCATION_DEVICE, gpu->device.ordinal}};
}

static size_t granularity(const kmm__gpu_t *gpu)
{
    kmm__gpu_allocation_t properties = frame_properties(gpu);
    size_t bytes = 0;
    if (answer(gpu, gpu->calls->MemGetAllocationGranularity(&bytes, &properties,
                                                            KMM__GPU_GRANULARITY_MINIMUM)))
        return 0;
    return bytes;
}

static int set_access(const kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, int ordinal)
{
    kmm__gpu_access_t access = {{KMM__GPU_LOCATION_DEVICE, ordinal}, KMM__GPU_ACCESS_READ_WRITE};
    int mode = relax(gpu), error = TRY(gpu, MemSetAccess, (at, bytes, &access, 1));
    restore(gpu, mode);
    return error;
}

static int map(const kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes)
{
    int mode = relax(gpu), error = TRY(gpu, MemMap, (at, bytes, 0, frame, 0));
    if (!error) {
        error = set_access(gpu, at, bytes, gpu->device.ordinal);
        if (error)
            gpu->calls->MemUnmap(at, bytes);
    }
    restore(gpu, mode);
    return error;
}

/* What is mapped to find out whether it can be: a window of three frames. */
typedef struct probe {
    kmm__addr_t window;
    size_t bytes; /* of a frame */
    kmm__frame_handle_t frame[PROBE_FRAMES];
    int created, placed; /* frames; those placed are the first ones */
    void *stream;
} probe_t;

/* Whether bytes of ordinary host memory go there and come back the same. */
static bool make_the_trip(const kmm__gpu_t *gpu, const probe_t *p, kmm__addr_t at, int seed)
{
    unsigned char out[PROBE_BYTES], back[PROBE_BYTES];
    for (int k = 0; k < PROBE_BYTES; k++) {
        out[k] = (unsigned char)(seed + k * 31 + k / 251);
        back[k] = (unsigned char)~out[k];
    }
    int r = answer(gpu, gpu->calls->MemcpyHtoD(at, out, sizeof(out), p->stream)), end;
    r = r ? r : answer(gpu, gpu->calls->MemcpyDtoH(back, at, sizeof(back), p->stream));
    while ((end = answer(gpu, gpu->calls->StreamQuery(p->stream))) == KMM__GPU_NOT_READY)
        sched_yield();
    return !r && !end && !memcmp(out, back, sizeof(out));
}

/* All that is done with windows later: frames are placed and given access to in a run, copies cross
 * their borders, and one goes and comes back while the others stay. */
static bool use_probe(const kmm__gpu_t *gpu, probe_t *p)
{
    const kmm__gpu_calls_t *c = gpu->calls;
    kmm__gpu_allocation_t properties = frame_properties(gpu);
    kmm__addr_t second = p->window + p->bytes, third = second + p->bytes;
    for (; p->created < PROBE_FRAMES; p->created++)
        if (answer(gpu, c->MemCreate(&p->frame[p->created], p->bytes, &properties, 0)))
            return false;
    for (; p->placed < PROBE_FRAMES; p->placed++)
        if (answer(gpu, c->MemMap(p->window + (kmm__addr_t)p->placed * p->bytes, p->bytes, 0,
                                  p->frame[p->placed], 0)))
            return false;
    if (set_access(gpu, p->window, PROBE_FRAMES * p->bytes, gpu->device.ordinal))
        return false;
    if (!make_the_trip(gpu, p, second - PROBE_BYTES / 2, 1))
        return false;
    if (answer(gpu, c->MemUnmap(second, p->bytes)) || map(gpu, second, p->frame[1], p->bytes)) {
        answer(gpu, c->MemUnmap(third, p->bytes));
        p->placed = 1;
        return false;
    }
    return make_the_trip(gpu, p, second - PROBE_BYTES / 2, 2) &&
           make_the_trip(gpu, p, third - PROBE_BYTES / 2, 3);
}

/* Whether all was given back. */
static bool end_probe(const kmm__gpu_t *gpu, probe_t *p)
{
    int bad = 0;
    while (p->placed > 0)
        bad |= answer(
            gpu, gpu->calls->MemUnmap(p->window + (kmm__addr_t)--p->placed * p->bytes, p->bytes));
    while (p->created > 0)
        bad |= answer(gpu, gpu->calls->MemRelease(p->frame[--p->created]));
    if (p->stream)
        bad |= answer(gpu, gpu->calls->StreamDestroy(p->stream));
    bad |= answer(gpu, gpu->calls->MemAddressFree(p->window, PROBE_FRAMES * p->bytes));
    return !bad;
}

/* Whether memory can be mapped here, which is found out by doing it: what devices say of themselves
 * differs with the driver's version, and ROCm 6.1 says success where it maps a frame at the
 * window's base in place of where it was told. */
static bool can_map(const kmm__gpu_t *gpu)
{
    probe_t p = {.bytes = gpu->calls->MemMap ? granularity(gpu) : 0};
    if (p.bytes < PROBE_BYTES ||
        answer(gpu, gpu->calls->MemAddressReserve(&p.window, PROBE_FRAMES * p.bytes, 0, 0, 0)))
        return false;
    bool can = !answer(gpu, gpu->calls->StreamCreate(&p.stream, KMM__GPU_STREAM_NON_BLOCKING)) &&
               use_probe(gpu, &p);
    return end_probe(gpu, &p) && can;
}

static int watch_begin(kmm__gpu_t *gpu)
{
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_mutex_init(&gpu->load_lock, NULL);
    pthread_cond_init(&gpu->noted, NULL);
    pthread_cond_init(&gpu->delivered, NULL);
    return pthread_create(&gpu->watcher, NULL, watch, gpu) ? KMM_E_MEMORY : 0;
}

static int gpu_open(kmm__backend_t *backend, int ordinal, kmm__gpu_t **out)
{
    gpu_backend_t *b = (gpu_backend_t *)backend;
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
    scope_t scope = enter_relaxed(gpu);
    gpu->device.maps = gpu->device.maps && (b->driver->must_map || can_map(gpu));
    gpu->granule = gpu->device.maps ? granularity(gpu) : WHOLE_GRANULE;
    gpu->granule = gpu->granule ? gpu->granule : GRANULE;
    leave_relaxed(gpu, scope);
    error = watch_begin(gpu);
    if (error) {
        b->driver->close(&gpu->device);
        free(gpu);
        return error;
    }
    if (!b->first)
        b->first = gpu;
    *out = gpu;
    return 0;
}

static void streams_free(kmm__gpu_t *gpu)
{
    for (kmm__stream_t *s; (s = gpu->streams);) {
        gpu->streams = s->next; /* the program's: others have been destroyed */
        free(s);
    }
}

static void gpu_close(kmm__gpu_t *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->closing = true;
    pthread_cond_signal(&gpu->noted);
    pthread_mutex_unlock(&gpu->lock);
    pthread_join(gpu->watcher, NULL);
    scope_t scope = enter_relaxed(gpu);
    for (int k = 0; k < gpu->spare_count; k++)
        gpu->calls->EventDestroy(gpu->spare[k]);
    leave_relaxed(gpu, scope);
    streams_free(gpu);
    gpu->driver->close(&gpu->device);
    pthread_mutex_destroy(&gpu->lock);
    pthread_mutex_destroy(&gpu->load_lock);
    pthread_cond_destroy(&gpu->noted);
    pthread_cond_destroy(&gpu->delivered);
    free(gpu->spare);
    free(gpu->loaded);
    free(gpu);
}

static void gpu_info(kmm__gpu_t *gpu, kmm__gpu_info_t *out)
{
    size_t free_bytes = 0, total = 0;
    scope_t scope = enter_relaxed(gpu);
    gpu->calls->MemGetInfo(&free_bytes, &total);
    leave_relaxed(gpu, scope);
    *out = (kmm__gpu_info_t){.memory_total = total,
                             .memory_free = free_bytes,
                             .granularity = gpu->granule,
                             .compute_streams = 1,
                             .whole = !gpu->device.maps,
                             .away = gpu->device.maps && gpu->device.host_node >= 0,
                             .pci = gpu->device.pci};
    gpu->calls->DeviceGetName(out->name, sizeof(out->name), gpu->device.ordinal);
}

static void gpu_unload(kmm__backend_t *b)
{
    free(b); /* the library stays: the program may use it too */
}

/* ---- The program's own use ---- */

static int gpu_current(kmm__backend_t *b)
{
    return ((gpu_backend_t *)b)->driver->current();
}

static void *gpu_native(kmm__stream_t *s)
{
    return s->handle;
}

static bool gpu_enter(kmm__gpu_t *gpu)
{
    return enter(gpu);
}

/* The program's stream as one whose notes are delivered. */
static kmm__stream_t *foreign_stream(kmm__gpu_t *gpu, void *native)
{
    pthread_mutex_lock(&gpu->lock);
    kmm__stream_t *s = gpu->streams;
    while (s && !(s->is_foreign && s->handle == native))
        s = s->next;
    if (!s && (s = calloc(1, sizeof(*s)))) {
        *s =
            (kmm__stream_t){.gpu = gpu, .handle = native, .is_foreign = true, .next = gpu->streams};
        gpu->streams = s;
    }
    pthread_mutex_unlock(&gpu->lock);
    return s;
}

/* Whether something is on the program's stream, or on another that it waits for: the default stream
 * and those that were not made to be free of it wait for each other as soon as something is put
 * there, such as an event. Errors show in the work itself. */
static bool is_busy(kmm__gpu_t *gpu, void *native)
{
    scope_t scope = enter_relaxed(gpu);
    int r = answer(gpu, gpu->calls->StreamQuery(native));
    if (r == KMM__GPU_SUCCESS) {
        pthread_mutex_lock(&gpu->lock);
        void *event = record_note(gpu, native);
        r = event ? answer(gpu, gpu->calls->EventQuery(event)) : r;
        if (event)
            spare_event(gpu, event);
        pthread_mutex_unlock(&gpu->lock);
    }
    leave_relaxed(gpu, scope);
    return r == KMM__GPU_NOT_READY;
}

static int gpu_follow(kmm__gpu_t *gpu, void *native, void (*fn)(void *arg, int status), void *arg)
{
    if (!is_busy(gpu, native))
        return 0;
    if (!fn)
        return 1;
    kmm__stream_t *s = foreign_stream(gpu, native);
    int error = s ? gpu_notify(s, fn, arg) : KMM_E_MEMORY;
    return error ? error : 1;
}

static int gpu_precede(kmm__stream_t *s, void *native)
{
    const kmm__gpu_t *gpu = s->gpu;
    void *event = NULL;
    scope_t scope = enter_relaxed(gpu);
    int error = TRY(gpu, EventCreate, (&event, KMM__GPU_EVENT_DISABLE_TIMING));
    if (!error)
        error = TRY(gpu, EventRecord, (event, s->handle));
    leave_relaxed(gpu, scope);
    if (!error) /* as the program would: the default stream is that of its current device */
        error = TRY(gpu, StreamWaitEvent, (native, event, 0));
    scope = enter_relaxed(gpu);
    if (event)
        gpu->calls->EventDestroy(event); /* drivers keep it as long as something waits for it */
    leave_relaxed(gpu, scope);
    return error;
}

static int gpu_succeed(kmm__stream_t *s, void *native)
{
    const kmm__gpu_t *gpu = s->gpu;
    void *event = NULL;
    scope_t scope = enter_relaxed(gpu);
    int error = TRY(gpu, EventCreate, (&event, KMM__GPU_EVENT_DISABLE_TIMING));
    if (!error)
        error = TRY(gpu, EventRecord, (event, native));
    if (!error)
        error = TRY(gpu, StreamWaitEvent, (s->handle, event, 0));
    if (event)
        gpu->calls->EventDestroy(event);
    leave_relaxed(gpu, scope);
    return error;
}

static int gpu_finish(kmm__gpu_t *gpu)
{
    scope_t scope = enter_relaxed(gpu);
    int error = TRY(gpu, Synchronize, ());
    leave_relaxed(gpu, scope);
    return error;
}

static void gpu_flush(kmm__stream_t *s)
{
    scope_t scope = enter_relaxed(s->gpu);
    answer(s->gpu, s->gpu->calls->StreamSynchronize(s->handle));
    leave_relaxed(s->gpu, scope);
}

/* ---- Windows and frames ---- */

static int gpu_window_reserve(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out)
{
    int mode = relax(gpu), error = TRY(gpu, MemAddressReserve, (out, bytes, 0, 0, 0));
    restore(gpu, mode);
    return error;
}

static void gpu_window_release(kmm__gpu_t *gpu, kmm__addr_t window, size_t bytes)
{
    int mode = relax(gpu);
    gpu->calls->MemAddressFree(window, bytes);
    restore(gpu, mode);
}

static int gpu_frame_create(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out)
{
    kmm__gpu_allocation_t properties = frame_properties(gpu);
    scope_t scope = enter_relaxed(gpu);
    int error = gpu->device.maps ? TRY(gpu, MemCreate, (out, bytes, &properties, 0))
                                 : TRY(gpu, MemAlloc, (out, bytes));
    leave_relaxed(gpu, scope);
    return error;
}

static int gpu_frame_create_away(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out)
{
    kmm__gpu_allocation_t properties = frame_properties(gpu);
    properties.location = (kmm__gpu_location_t){KMM__GPU_LOCATION_HOST_NODE, gpu->device.host_node};
    if (!gpu->device.maps || gpu->device.host_node < 0) {
        snprintf(error_text, sizeof(error_text),
                 "the host's memory cannot be mapped for the device");
        return KMM_E_UNSUPPORTED;
    }
    int mode = relax(gpu), error = TRY(gpu, MemCreate, (out, bytes, &properties, 0));
    restore(gpu, mode);
    return error;
}

static void gpu_frame_destroy(kmm__gpu_t *gpu, kmm__frame_handle_t frame, size_t bytes)
{
    (void)bytes;
    scope_t scope = enter_relaxed(gpu);
    if (gpu->device.maps)
        gpu->calls->MemRelease(frame);
    else
        gpu->calls->MemFree(frame);
    leave_relaxed(gpu, scope);
}

static int gpu_frame_map(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes)
{
    return map(gpu, at, frame, bytes);
}

static int gpu_frame_place(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes)
{
    int mode = relax(gpu), error = TRY(gpu, MemMap, (at, bytes, 0, frame, 0));
    restore(gpu, mode);
    return error;
}

static int gpu_frames_allow(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    return set_access(gpu, at, bytes, gpu->device.ordinal);
}

static int gpu_frame_unmap(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    int mode = relax(gpu), error = TRY(gpu, MemUnmap, (at, bytes));
    restore(gpu, mode);
    return error;
}

static int allow_peer(kmm__gpu_t *gpu, const kmm__gpu_t *peer)
{
    int error = 0;
    pthread_mutex_lock(&gpu->load_lock);
    if (!(gpu->peers & 1u << peer->device.ordinal)) {
        scope_t scope = enter_relaxed(peer);
        error = gpu->driver->allow_peer(&gpu->device, &peer->device);
        leave_relaxed(peer, scope);
        gpu->peers |= error ? 0 : 1u << peer->device.ordinal;
    }
    pthread_mutex_unlock(&gpu->load_lock);
    return error;
}

static int gpu_frame_share(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer)
{
    int can = 0;
    int error = TRY(gpu, DeviceCanAccessPeer, (&can, peer->device.ordinal, gpu->device.ordinal));
    if (error)
        return error;
    if (!can)
        return KMM_E_UNSUPPORTED;
    return gpu->device.maps ? set_access(gpu, at, bytes, peer->device.ordinal)
                            : allow_peer(gpu, peer);
}

static int gpu_host_register(kmm__backend_t *b, void *base, size_t bytes)
{
    const kmm__gpu_t *gpu = ((gpu_backend_t *)b)->first;
    scope_t scope = enter_relaxed(gpu);
    int r = answer(gpu, gpu->calls->HostRegister(base, bytes, KMM__GPU_REGISTER_PORTABLE));
    leave_relaxed(gpu, scope);
    return r == KMM__GPU_ALREADY_REGISTERED
               ? KMM_E_STATE
               : kmm__gpu_result(gpu->driver, r, gpu->driver->names->HostRegister);
}

static int gpu_host_unregister(kmm__backend_t *b, void *base)
{
    const kmm__gpu_t *gpu = ((gpu_backend_t *)b)->first;
    scope_t scope = enter_relaxed(gpu);
    int error = TRY(gpu, HostUnregister, (base));
    leave_relaxed(gpu, scope);
    return error;
}

/* ---- Streams and events ---- */

static int gpu_stream_create(kmm__gpu_t *gpu, kmm__stream_t **out)
{
    kmm__stream_t *s = calloc(1, sizeof(*s));
    if (!s)
        return KMM_E_MEMORY;
    scope_t scope = enter_relaxed(gpu);
    int error = TRY(gpu, StreamCreate, (&s->handle, KMM__GPU_STREAM_NON_BLOCKING));
    leave_relaxed(gpu, scope);
    if (error) {
        free(s);
        return error;
    }
    s->gpu = gpu;
    pthread_mutex_lock(&gpu->lock);
    s->next = gpu->streams;
    gpu->streams = s;
    pthread_mutex_unlock(&gpu->lock);
    *out = s;
    return 0;
}

static void gpu_stream_destroy(kmm__stream_t *s)
{
    kmm__gpu_t *gpu = s->gpu;
    pthread_mutex_lock(&gpu->lock);
    /* Whom the last note woke may be here before its delivery has returned. */
    while (gpu->delivering == s && !pthread_equal(pthread_self(), gpu->watcher))
        pthread_cond_wait(&gpu->delivered, &gpu->lock);
    if (gpu->delivering == s)
        gpu->delivering = NULL;
    kmm__stream_t **at = &gpu->streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pthread_mutex_unlock(&gpu->lock);
    scope_t scope = enter_relaxed(gpu);
    gpu->calls->StreamDestroy(s->handle);
    leave_relaxed(gpu, scope);
    free(s);
}

static int gpu_event_create(kmm__gpu_t *gpu, kmm__event_t **out)
{
    kmm__event_t *e = calloc(1, sizeof(*e));
    if (!e)
        return KMM_E_MEMORY;
    e->gpu = gpu;
    scope_t scope = enter_relaxed(gpu);
    int error = TRY(gpu, EventCreate, (&e->handle, KMM__GPU_EVENT_DISABLE_TIMING));
    leave_relaxed(gpu, scope);
    if (error)
        free(e);
    else
        *out = e;
    return error;
}

static void gpu_event_destroy(kmm__event_t *e)
{
    const kmm__gpu_t *gpu = e->gpu;
    scope_t scope = enter_relaxed(gpu);
    gpu->calls->EventDestroy(e->handle);
    leave_relaxed(gpu, scope);
    free(e);
}

static int gpu_event_record(kmm__event_t *e, kmm__stream_t *s)
{
    bool entered = enter(s->gpu);
    int error = TRY(s->gpu, EventRecord, (e->handle, s->handle));
    leave(s->gpu, entered);
    return error;
}

static int gpu_stream_wait(kmm__stream_t *s, kmm__event_t *e)
{
    bool entered = enter(s->gpu);
    int error = TRY(s->gpu, StreamWaitEvent, (s->handle, e->handle, 0));
    leave(s->gpu, entered);
    return error;
}

static int gpu_event_query(kmm__event_t *e)
{
    const kmm__gpu_t *gpu = e->gpu;
    scope_t scope = enter_relaxed(gpu);
    int r = answer(gpu, gpu->calls->EventQuery(e->handle));
    leave_relaxed(gpu, scope);
    return r == KMM__GPU_SUCCESS ? 1
           : r == KMM__GPU_NOT_READY
               ? 0
               : kmm__gpu_result(gpu->driver, r, gpu->driver->names->EventQuery);
}

/* ---- Work ---- */

static const kmm__gpu_device_t *device_of(const kmm__gpu_t *gpu)
{
    return gpu ? &gpu->device : NULL;
}

static int copy_run(const kmm__stream_t *s, const kmm__copy_t *c, int64_t row, size_t bytes)
{
    kmm__addr_t dst = c->dst + (uint64_t)(row * c->dst_pitch),
                src = c->src + (uint64_t)(row * c->src_pitch);
    if (c->dst_gpu && c->src_gpu && c->dst_gpu != c->src_gpu)
        return s->gpu->driver->copy_peer(s->handle, dst, &c->dst_gpu->device, src,
                                         &c->src_gpu->device, bytes);
    if (c->dst_gpu && c->src_gpu)
        return TRY(s->gpu, MemcpyDtoD, (dst, src, bytes, s->handle));
    if (c->dst_gpu)
        return TRY(s->gpu, MemcpyHtoD, (dst, (const void *)(uintptr_t)src, bytes, s->handle));
    return TRY(s->gpu, MemcpyDtoH, ((void *)(uintptr_t)dst, src, bytes, s->handle));
}

/* Whether copies of rows can have this side. Where there is room for a frame between two rows it
 * need not be mapped, and CUDA refuses copies across what is not, though no row lies there. HIP
 * refuses those that do not lie in one frame, and a granule does. */
static bool can_have_rows(const kmm__stream_t *s, const kmm__gpu_t *side, kmm__addr_t at,
                          int64_t pitch, const kmm__copy_t *c)
{
    if (pitch > s->gpu->device.max_pitch)
        return false;
    if (!side || !side->device.maps)
        return true;
    kmm__addr_t last = at + (kmm__addr_t)((c->rows - 1) * pitch + c->width - 1);
    if (side->driver->rows_in_a_frame && at / side->granule != last / side->granule)
        return false;
    return pitch - c->width < (int64_t)side->granule;
}

static int gpu_copy(kmm__stream_t *s, const kmm__copy_t *c)
{
    int error = 0;
    bool entered = enter(s->gpu);
    if (c->rows == 1)
        error = copy_run(s, c, 0, (size_t)c->width);
    else if (c->dst_pitch == c->width && c->src_pitch == c->width)
        error = copy_run(s, c, 0, (size_t)(c->width * c->rows));
    else if (can_have_rows(s, c->dst_gpu, c->dst, c->dst_pitch, c) &&
             can_have_rows(s, c->src_gpu, c->src, c->src_pitch, c))
        error =
            s->gpu->driver->copy_rows(s->handle, c, device_of(c->dst_gpu), device_of(c->src_gpu));
    else
        for (int64_t row = 0; row < c->rows && !error; row++)
            error = copy_run(s, c, row, (size_t)c->width);
    leave(s->gpu, entered);
    return error;
}

static int gpu_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes)
{
    bool entered = enter(s->gpu);
    int error = TRY(s->gpu, MemsetD8, (dst, (unsigned char)value, bytes, s->handle));
    leave(s->gpu, entered);
    return error;
}

/* The function of a kernel on this device, loaded before the first launch, since lazy loading may
 * synchronize, and allowed the dynamic shared memory of this launch. */
static int load(kmm__gpu_t *gpu, void *kernel, size_t shared_bytes, void **out)
{
    loaded_t *l = NULL;
    for (int k = 0; k < gpu->loaded_count && !l; k++)
        if (gpu->loaded[k].kernel == kernel)
            l = &gpu->loaded[k];
    if (!l) {
        loaded_t *grown = realloc(gpu->loaded, ((size_t)gpu->loaded_count + 1) * sizeof(*grown));
        if (!grown)
            return KMM_E_MEMORY;
        gpu->loaded = grown;
        l = &grown[gpu->loaded_count];
        *l = (loaded_t){kernel, NULL, PLAIN_SHARED_BYTES};
        int mode = relax(gpu), error = gpu->driver->kernel_load(kernel, &l->function);
        restore(gpu, mode);
        if (error)
            return error;
        gpu->loaded_count++;
    }
    if (shared_bytes > l->shared_bytes) {
        int mode = relax(gpu),
            error = gpu->driver->kernel_allow_shared(kernel, shared_bytes, &gpu->device);
        restore(gpu, mode);
        if (error)
            return error;
        l->shared_bytes = shared_bytes;
    }
    *out = l->function;
    return 0;
}

static void gpu_kernel_forget(kmm__gpu_t *gpu, const void *handle)
{
    pthread_mutex_lock(&gpu->load_lock);
    for (int k = 0; k < gpu->loaded_count; k++)
        if (gpu->loaded[k].kernel == handle)
            gpu->loaded[k--] = gpu->loaded[--gpu->loaded_count];
    pthread_mutex_unlock(&gpu->load_lock);
}

static int gpu_launch(kmm__stream_t *s, const kmm__run_t *r)
{
    const kmm__gpu_driver_t *driver = s->gpu->driver;
    void *function;
    if (!r->kernel || r->kernel->kind != driver->kind) {
        snprintf(error_text, sizeof(error_text), "%s was not built for %s",
                 r->kernel ? r->kernel->name : "a plain function", driver->product);
        return KMM_E_INVALID;
    }
    bool entered = enter(s->gpu);
    pthread_mutex_lock(&s->gpu->load_lock);
    int error = load(s->gpu, r->kernel->handle, r->geometry.shared_bytes, &function);
    pthread_mutex_unlock(&s->gpu->load_lock);
    if (!error)
        error = driver->kernel_launch(function, r->count, r->geometry.block,
                                      r->geometry.shared_bytes, s->handle, r->args);
    leave(s->gpu, entered);
    return error;
}

/* ---- Loading ---- */

static const kmm__backend_t functions = {
    .count = gpu_count,
    .open = gpu_open,
    .close = gpu_close,
    .info = gpu_info,
    .error_text = gpu_error_text,
    .unload = gpu_unload,
    .window_reserve = gpu_window_reserve,
    .window_release = gpu_window_release,
    .frame_create = gpu_frame_create,
    .frame_create_away = gpu_frame_create_away,
    .frame_destroy = gpu_frame_destroy,
    .frame_map = gpu_frame_map,
    .frame_place = gpu_frame_place,
    .frames_allow = gpu_frames_allow,
    .frame_unmap = gpu_frame_unmap,
    .frame_share = gpu_frame_share,
    .host_register = gpu_host_register,
    .host_unregister = gpu_host_unregister,
    .stream_create = gpu_stream_create,
    .stream_destroy = gpu_stream_destroy,
    .event_create = gpu_event_create,
    .event_destroy = gpu_event_destroy,
    .event_record = gpu_event_record,
    .stream_wait = gpu_stream_wait,
    .event_query = gpu_event_query,
    .current = gpu_current,
    .native = gpu_native,
    .enter = gpu_enter,
    .follow = gpu_follow,
    .precede = gpu_precede,
    .succeed = gpu_succeed,
    .finish = gpu_finish,
    .flush = gpu_flush,
    .kernel_forget = gpu_kernel_forget,
    .copy = gpu_copy,
    .fill = gpu_fill,
    .launch = gpu_launch,
    .notify = gpu_notify,
};

/* The library of that name in the folders of the driver's, or NULL. */
static void *open_in_folders(const kmm__gpu_driver_t *d, const char *name)
{
    char path[PATH_MAX];
    void *library = NULL;
    for (const kmm__gpu_folder_t *f = d->folders; f && f->folder && !library; f++) {
        const char *root = f->variable ? getenv(f->variable) : "";
        int n = root ? snprintf(path, sizeof(path), "%s%s/%s", root, f->folder, name) : -1;
        if (n > 0 && (size_t)n < sizeof(path) && path[0] == '/')
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* One that the program has loaded already is preferred: there must be one only. */
static void *open_library(const kmm__gpu_driver_t *d)
{
    void *library = NULL;
    for (const char *const *name = d->libraries; *name && !library; name++)
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (const char *const *name = d->libraries; *name && !library; name++) {
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        library = library ? library : open_in_folders(d, *name);
    }
    return library;
}

/* The name of a call that must be there and is not, or NULL. */
static const char *load_symbols(kmm__gpu_driver_t *d, void *library)
{
    const char *missing = NULL, *unmapped = NULL;
#define KMM_X(member, parameters)                                                                  \
    *(void **)(&d->calls.member) = dlsym(library, d->names->member);                               \
    if (!d->calls.member)                                                                          \
        missing = d->names->member;
    KMM__GPU_CALLS(KMM_X)
#undef KMM_X
#define KMM_X(member, parameters)                                                                  \
    *(void **)(&d->calls.member) = dlsym(library, d->names->member);                               \
    if (!d->calls.member)                                                                          \
        unmapped = d->names->member;
    KMM__GPU_MAP_CALLS(KMM_X)
#undef KMM_X
    if (unmapped)
        d->calls.MemMap = NULL; /* all or none */
    if (unmapped && d->must_map)
        missing = unmapped;
    return missing ? missing : d->load(library);
}

static int load_driver(gpu_backend_t *b, const char **reason)
{
    kmm__gpu_driver_t *d = b->driver;
    void *library = open_library(d);
    *reason = error_text;
    if (!library) {
        *reason = d->absent;
        return KMM_E_NO_DEVICE;
    }
    const char *missing = load_symbols(d, library);
    if (missing) {
        snprintf(error_text, sizeof(error_text),
                 "the driver is too old: it has no %s; %s or newer is needed", missing, d->needed);
        return KMM_E_NO_DEVICE;
    }
    int r = d->calls.Init(0);
    if (r == KMM__GPU_SUCCESS)
        r = d->calls.DeviceGetCount(&b->count);
    if (r == KMM__GPU_SUCCESS && b->count > 0)
        return 0;
    kmm__gpu_result(d, r ? r : KMM__GPU_NO_DEVICE, d->names->Init);
    return KMM_E_NO_DEVICE;
}

int kmm__gpu_backend_create(kmm__gpu_driver_t *driver, kmm__backend_t **out, const char **reason)
{
    gpu_backend_t *b = calloc(1, sizeof(*b));
    if (!b)
        return KMM_E_MEMORY;
    b->driver = driver;
    pthread_mutex_lock(&load_lock);
    int error = load_driver(b, reason);
    pthread_mutex_unlock(&load_lock);
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
