/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes: their making and end, errors, and what the public interface says of them. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute/marker.h"
#include "internal.h"
#include "memory/disk/spill.h"
#include "memory/host/links.h"
#include "memory/host/stage.h"

/* ---- Errors ---- */

static _Thread_local char error_text[512] = "no error";

int kmm__error_set(int code, const char *format, ...)
{
    char text[sizeof(error_text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    memcpy(error_text, text, sizeof(text));
    return code;
}

const char *kmm__error_get(void)
{
    return error_text;
}

bool kmm__error_is_of_disk(int code)
{
    return code == KMM_E_DISK_FULL || code == KMM_E_CORRUPT || code == KMM_E_IO;
}

void kmm__error_note(kmm_runtime_t *rt, int code, const char *format, ...)
{
    va_list args;
    if (rt->error.code || code == KMM_E_POISONED)
        return;
    rt->error.code = code;
    va_start(args, format);
    vsnprintf(rt->error.text, sizeof(rt->error.text), format, args);
    va_end(args);
}

KMM__API const char *kmm_error_text(kmm_runtime_t *rt)
{
    (void)rt;
    return error_text;
}

/* ---- Making and end ---- */

static void runtime_free(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&rt->lock);
    kmm__fault_unwatch(rt);
    rt->stopping = true;
    for (uint32_t k = 0; k < rt->device_count; k++)
        kmm__device_wake(rt->device[k]);
    pthread_mutex_unlock(&rt->lock);
    kmm__spill_stop(rt);
    kmm__pin_stop(rt);
    for (uint32_t k = 0; k < rt->device_count; k++)
        kmm__device_end(rt->device[k]);
    kmm__stage_stop(rt);
    kmm__links_stop(rt);
    kmm__locked_stop(rt);
    kmm__near_stop(rt);
    for (uint32_t k = 0; k < rt->device_count; k++)
        kmm__device_stop(rt->device[k]);
    for (uint32_t k = 0; k < rt->backend_count; k++)
        rt->backends[k]->unload(rt->backends[k]);
    kmm__tasks_settle(rt);
    kmm__lines_free(rt);
    kmm__tasks_free(rt);
    kmm__works_free(rt);
    kmm__tickets_free(rt);
    free(rt->arrays);
    pthread_cond_destroy(&rt->progress);
    pthread_mutex_destroy(&rt->lock);
    free(rt);
}

/* Held for a microsecond or so at a time: a thread that finds it taken spins a little before it
 * sleeps. */
static void lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t adaptive;
    pthread_mutexattr_init(&adaptive);
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
}

KMM__API int kmm_create(kmm_runtime_t **out, const kmm_config_t *config)
{
    if (!out)
        return kmm__error_set(KMM_E_INVALID, "nowhere to put the runtime");
    kmm_runtime_t *rt = kmm__alloc(sizeof(*rt));
    lock_init(&rt->lock);
    pthread_cond_init(&rt->progress, NULL);
    kmm__near_start(rt);
    int error = kmm__config_devices(rt, config);
    kmm__pin_start(rt);
    int bounded = kmm__config_locked(rt, config), staged = kmm__stage_start(rt);
    error = error ? error : bounded ? bounded : staged;
    rt->most_outstanding = rt->has_spaces ? KMM__MAX_OUTSTANDING : KMM__MAX_OUTSTANDING_PLAIN;
    kmm__holders_ops_init(rt);
    if (!error)
        error = kmm__links_start(rt);
    if (!error)
        error = kmm__config_host(rt, config);
    for (uint32_t k = 0; k < rt->device_count; k++)
        kmm__device_init(rt->device[k]);
    for (uint32_t k = 0; k < rt->device_count && !error; k++)
        error = kmm__device_start(rt->device[k]);
    pthread_mutex_lock(&rt->lock);
    if (!error)
        error = kmm__array_new(rt, 1, NULL, KMM_MAP_TOFROM, "all other memory", &rt->globals);
    if (!error)
        rt->globals->is_abstract = true;
    pthread_mutex_unlock(&rt->lock);
    if (error) {
        runtime_free(rt);
        return error;
    }
    kmm__fault_watch(rt);
    *out = rt;
    return 0;
}

int kmm__deferred_end(kmm_runtime_t *rt, uintptr_t begin, uintptr_t end)
{
    uint32_t count = 0;
    if (rt->deferred == 0)
        return 0;
    void **bases = kmm__alloc(rt->deferred * sizeof(*bases));
    for (uint32_t k = 0; k < rt->array_count; k++) {
        kmm__array_t *a = rt->arrays[k];
        uintptr_t base = (uintptr_t)a->base;
        if (!a->is_deferred || base >= end || base + a->bytes <= begin)
            continue;
        a->is_deferred = false;
        bases[count++] = a->base;
    }
    rt->deferred -= count;
    pthread_mutex_unlock(&rt->lock);
    int error = count ? kmm__maps_end(rt, bases, count) : 0;
    free(bases);
    pthread_mutex_lock(&rt->lock);
    return error;
}

KMM__API int kmm_wait(kmm_runtime_t *rt)
{
    kmm__marker_t *m;
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    if (kmm__inline_refuse("wait"))
        return KMM_E_STATE;
    pthread_mutex_lock(&rt->lock);
    kmm__deferred_end(rt, 0, UINTPTR_MAX);
    pthread_mutex_unlock(&rt->lock);
    kmm__marker_create(rt, &kmm__all_streams, &m);
    kmm__marker_wait(m);
    kmm__marker_release(m);
    pthread_mutex_lock(&rt->lock);
    kmm__error_t e = rt->error;
    rt->error.code = 0;
    pthread_mutex_unlock(&rt->lock);
    return e.code ? kmm__error_set(e.code, "%s", e.text) : 0;
}

KMM__API int kmm_destroy(kmm_runtime_t *rt)
{
    if (!rt)
        return 0;
    int error = kmm_wait(rt);
    kmm__stats_print(rt);
    pthread_mutex_lock(&rt->lock);
    while (rt->array_count) {
        kmm__array_t *a = rt->arrays[rt->array_count - 1];
        kmm__array_forget(a);
        kmm__array_unref(a);
    }
    while (rt->live_arrays || rt->outstanding)
        pthread_cond_wait(&rt->progress, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
    runtime_free(rt);
    return error;
}

/* ---- The process's runtime ---- */

static pthread_once_t default_once = PTHREAD_ONCE_INIT;
static kmm_runtime_t *default_runtime;
static bool is_registered; /* what is called at the end and after a fork */
static bool is_ending;     /* the process; what is unloaded now is not used again */
static bool was_on_gpus;   /* the runtime of the process that this one was forked from */
static _Thread_local kmm_runtime_t *current;

static bool has_gpus(const kmm_runtime_t *rt)
{
    for (uint32_t k = 0; k < rt->device_count; k++)
        if (rt->device[k]->backend->kind != KMM_KIND_HOST)
            return true;
    return false;
}

void kmm__flush(kmm_runtime_t *rt, const kmm__device_t *but)
{
    for (uint32_t k = 0; k < rt->device_count; k++) {
        kmm__device_t *d = rt->device[k];
        uint64_t launches = __atomic_load_n(&d->launches, __ATOMIC_RELAXED);
        if (d == but || !d->backend->flush ||
            __atomic_exchange_n(&d->flushed, launches, __ATOMIC_RELAXED) == launches)
            continue;
        d->backend->flush(d->lanes[0].stream);
    }
}

/* The program ends. Its other threads may be in the middle of calls, and what is destroyed after
 * this may free memory, so the runtime stays as it is, and goes with the process. Work is waited
 * for, unless what calls exit is part of it, or another thread is inside a task. */
static void default_end(void)
{
    kmm_runtime_t *rt = default_runtime;
    is_ending = true;
    if (!rt)
        return;
    if (!kmm__is_inside() && !kmm__tasks_open()) {
        if (kmm_wait(rt))
            fprintf(stderr, "kmm: error: %s\n", error_text);
        kmm__flush(rt, NULL);
        kmm__pin_settle(rt); /* the driver ends after this */
    }
    kmm__stats_print(rt);
}

/* The runtime's threads are not there in a forked process. One without GPUs makes itself another
 * runtime. */
static void after_fork(void)
{
    if (!default_runtime)
        return;
    was_on_gpus = has_gpus(default_runtime);
    default_runtime = NULL;
    default_once = (pthread_once_t)PTHREAD_ONCE_INIT;
    kmm__events_clear();
    kmm__launches_clear();
    kmm__tasks_forked();
}

static void default_create(void)
{
    if (was_on_gpus) {
        fprintf(stderr, "kmm: error: a process cannot use GPUs when it was forked from one that "
                        "has used them; fork first\n");
        return;
    }
    if (kmm_create(&default_runtime, NULL)) {
        fprintf(stderr, "kmm: error: %s\n", error_text);
        default_runtime = NULL;
        return;
    }
    if (!is_registered) {
        atexit(default_end);
        pthread_atfork(NULL, NULL, after_fork);
    }
    is_registered = true;
}

KMM__API kmm_runtime_t *kmm_default(void)
{
    pthread_once(&default_once, default_create);
    return default_runtime;
}

KMM__API void kmm_kernels_end(const void *const *handles, uint32_t count)
{
    kmm_runtime_t *rt = is_ending ? NULL : default_runtime;
    kmm__marker_t *m;
    if (!rt || count == 0)
        return;
    if (!kmm__is_inside()) { /* where it cannot be waited for there is none of theirs, as the
                                program knows */
        kmm__marker_create(rt, &kmm__all_streams, &m);
        kmm__marker_wait(m);
        kmm__marker_release(m);
    }
    for (uint32_t k = 0; k < rt->device_count; k++)
        for (uint32_t j = 0; j < count && rt->device[k]->backend->kernel_forget; j++)
            rt->device[k]->backend->kernel_forget(rt->device[k]->gpu, handles[j]);
}

KMM__API void kmm_use(kmm_runtime_t *rt)
{
    current = rt;
}

kmm_runtime_t *kmm__current(void)
{
    return current ? current : kmm_default();
}

/* ---- Arrays ---- */

KMM__API int kmm_array_create(kmm_runtime_t *rt, const kmm_shape_t *shape, void **out)
{
    kmm__array_t *a;
    size_t bytes;
    if (!rt || !shape || !out || shape->dims < 1 || shape->dims > KMM_MAX_DIMS ||
        shape->element_bytes == 0)
        return kmm__error_set(
            KMM_E_INVALID, "an array needs a runtime, 1 to %d dimensions and elements of some size",
            KMM_MAX_DIMS);
    bytes = shape->element_bytes;
    for (uint32_t d = 0; d < shape->dims; d++)
        if (shape->extent[d] < 0 ||
            __builtin_mul_overflow(bytes, (size_t)shape->extent[d], &bytes) || bytes > INT64_MAX)
            return kmm__error_set(KMM_E_RANGE, "extent %lld of an array",
                                  (long long)shape->extent[d]);
    pthread_mutex_lock(&rt->lock);
    int error = kmm__array_new(rt, bytes, NULL, KMM_MAP_TOFROM, shape->label, &a);
    if (!error)
        *out = a->base;
    pthread_mutex_unlock(&rt->lock);
    return error;
}

KMM__API int kmm_array_destroy(kmm_runtime_t *rt, void *base)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, base);
    int error = 0;
    if (!a || a->is_mapped || a->base != base || a == rt->globals) {
        error = kmm__error_set(KMM_E_ADDRESS, "%p is not the base of an array", base);
    } else {
        kmm__array_forget(a);
        kmm__array_unref(a);
    }
    pthread_mutex_unlock(&rt->lock);
    return error;
}

KMM__API void *kmm_malloc(size_t bytes)
{
    void *base = NULL;
    kmm_shape_t shape = {.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1};
    if (kmm_array_create(kmm__current(), &shape, &base)) {
        fprintf(stderr, "kmm: error: %s\n", error_text);
        return NULL;
    }
    return base;
}

KMM__API void kmm_free(void *base)
{
    if (base && kmm_array_destroy(kmm__current(), base))
        fprintf(stderr, "kmm: error: kmm_free: %s\n", error_text);
}

KMM__API int kmm_array_find(kmm_runtime_t *rt, const void *address, kmm_extent_t *out)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, address);
    if (a && out)
        *out = (kmm_extent_t){a->base, a->bytes};
    pthread_mutex_unlock(&rt->lock);
    return a ? 0 : kmm__error_set(KMM_E_ADDRESS, "%p is in no array", address);
}

/* ---- Devices ---- */

KMM__API int kmm_device_count(kmm_runtime_t *rt)
{
    return rt ? (int)rt->visible_count : 0;
}

KMM__API int kmm_device_get(kmm_runtime_t *rt, int device, kmm_device_info_t *out)
{
    if (!rt || !out || device < 0 || device >= (int)rt->visible_count)
        return kmm__error_set(KMM_E_NO_DEVICE, "there is no device %d", device);
    pthread_mutex_lock(&rt->lock);
    const kmm__device_t *d = rt->device[device];
    *out = (kmm_device_info_t){
        .kind = d->backend->kind,
        .ordinal = d->ordinal,
        .memory_bytes = d->limit,
        .used_bytes = d->used,
        .bytes_in = __atomic_load_n(&d->bytes_in, __ATOMIC_RELAXED),
        .bytes_out = __atomic_load_n(&d->bytes_out, __ATOMIC_RELAXED),
        .bytes_peer = __atomic_load_n(&d->bytes_peer, __ATOMIC_RELAXED),
        .launches = __atomic_load_n(&d->launches, __ATOMIC_RELAXED),
        .chunks = d->chunks,
        .whole_arrays = d->info.whole,
    };
    memcpy(out->name, d->info.name, sizeof(out->name));
    pthread_mutex_unlock(&rt->lock);
    return 0;
}

KMM__API int kmm_device_node(kmm_runtime_t *rt, int device)
{
    if (!rt || device < 0 || device >= (int)rt->visible_count)
        return kmm__error_set(KMM_E_NO_DEVICE, "there is no device %d", device);
    return kmm__near_node(rt->device[device]);
}
