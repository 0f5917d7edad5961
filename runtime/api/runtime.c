/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a runtime, waits for all its work, and destroys it. */
#include "api/runtime.h"

#include <stdlib.h>
#include <string.h>

#include <kmm/launch.h>

#include "api/block.h"
#include "api/config.h"
#include "api/version.h"
#include "base/alloc.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/units.h"
#include "execute/completion.h"
#include "execute/device_thread.h"
#include "execute/exact_host.h"
#include "launch/maps.h"
#include "launch/memo.h"
#include "launch/nodes.h"
#include "launch/state.h"
#include "memory/disk/spill.h"
#include "memory/holders.h"
#include "memory/host/links.h"
#include "memory/host/locked.h"
#include "memory/host/numa.h"
#include "memory/host/pagelock.h"
#include "memory/host/stager.h"
#include "memory/lifetime.h"
#include "memory/residency/native.h"
#include "observe/fault.h"
#include "observe/stats.h"
#include "observe/trace.h"
#include "observe/watch.h"
#include "task/inside.h"
#include "task/marker.h"
#include "transport/load.h"

static void runtime_free(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&rt->lock);
    kmm__fault_unwatch(rt);
    rt->stopping = true;
    for (uint32_t k = 0; k < rt->device_count; k++)
        kmm__device_wake(rt->device[k]);
    pthread_mutex_unlock(&rt->lock);
    kmm__spill_stop(rt);
    kmm__pagelock_stop(rt);
    for (uint32_t k = 0; k < rt->device_count; k++)
        kmm__device_end(rt->device[k]);
    kmm__stage_stop(rt);
    kmm__links_stop(rt);
    kmm__locked_stop(rt);
    kmm__numa_stop(rt);
    for (uint32_t k = 0; k < rt->device_count; k++) {
        kmm__order_drop(rt->device[k]);
        kmm__device_close(rt->device[k]);
        kmm__device_queue_stop(rt->device[k]);
        kmm__device_memory_stop(rt->device[k]);
        free(rt->device[k]);
    }
    for (uint32_t k = 0; k < rt->backend_count; k++)
        rt->backends[k]->unload(rt->backends[k]);
    kmm__tasks_settle(rt);
    kmm__memos_free(rt);
    kmm__launches_stop(rt);
    kmm__tasks_stop(rt);
    kmm__memory_stop(rt);
    kmm__stats_stop(rt);
    pthread_cond_destroy(&rt->progress);
    pthread_mutex_destroy(&rt->lock);
    free(rt);
}

/* Initializes a lock that is held for about a microsecond at a time: a thread that finds it taken
 * spins a little before it sleeps. */
static void lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t adaptive;
    pthread_mutexattr_init(&adaptive);
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
}

/* Opens the devices and reads the configuration of devices and host memory. Parts are created in
 * this order, also if one fails, so that runtime_free finds all of them. */
static int runtime_configure(kmm_runtime_t *rt, const kmm_config_t *config)
{
    int error = kmm__config_devices(rt, config);
    kmm__pagelock_start(rt);
    int bounded = kmm__config_locked(rt, config), staged = kmm__stage_start(rt);
    error = error ? error : bounded ? bounded : staged;
    kmm__holders_ops_init(rt);
    if (!error)
        error = kmm__links_start(rt);
    if (!error)
        error = kmm__config_host(rt, config);
    if (!error)
        error = kmm__observe_start(rt);
    return error;
}

/* Starts the devices' threads, unless `error` says that the runtime could not be created. */
static int devices_start(kmm_runtime_t *rt, int error)
{
    for (uint32_t k = 0; k < rt->device_count; k++) {
        kmm__device_init(rt->device[k]);
        kmm__device_queue_start(rt->device[k]);
    }
    for (uint32_t k = 0; k < rt->device_count && !error; k++)
        error = kmm__device_start(rt->device[k]);
    return error;
}

static void devices_log(const kmm_runtime_t *rt)
{
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        const kmm__device_t *d = rt->device[k];
        if (d->space == KMM__HOST)
            kmm__log(KMM__LOG_INFO, "device %u: %s, %u threads", k, d->info.name,
                     d->compute_stream_count);
        else
            kmm__log(KMM__LOG_INFO, "device %u: %s, at most %s for arrays, of %s", k, d->info.name,
                     KMM__BYTES(d->memory->limit), KMM__BYTES(d->info.memory_total));
    }
}

static int runtime_create(kmm_runtime_t **out, const kmm_config_t *config)
{
    kmm__environment_check();
    kmm__launcher_t launcher;
    if (kmm__launcher_is_wanted(&launcher))
        return kmm__error_set(
            KMM_E_STATE, "KMM_NODES=1 makes one program of several processes only where kmmcc "
                         "has linked one with pragmas, or main calls kmm_nodes_start, and where no "
                         "static initializer has used libkmm before");
    kmm_runtime_t *rt = kmm__alloc(sizeof(*rt));
    lock_init(&rt->lock);
    pthread_cond_init(&rt->progress, NULL);
    kmm__stats_start(rt);
    kmm__tasks_start(rt, &kmm__execute_hooks);
    kmm__memory_start(rt);
    kmm__launches_start(rt);
    kmm__numa_start(rt);
    int error = devices_start(rt, runtime_configure(rt, config));
    pthread_mutex_lock(&rt->lock);
    if (!error)
        error =
            kmm__array_new(rt, 1, NULL, KMM_MAP_TOFROM, "all other memory", &rt->memory->globals);
    if (!error)
        rt->memory->globals->object.is_abstract = true;
    pthread_mutex_unlock(&rt->lock);
    if (error) {
        runtime_free(rt);
        return error;
    }
    kmm__fault_watch(rt);
    kmm__watch_begin(rt);
    if (kmm__log_says(KMM__LOG_INFO))
        devices_log(rt);
    *out = rt;
    return 0;
}

/* The size of kmm_config_t in version 0.1, which the function kmm_create takes for ever. */
enum { FIRST_CONFIG_BYTES = offsetof(kmm_config_t, pinned_mem) + sizeof(uint64_t) };

KMM__API int kmm_create_version(int version, size_t config_bytes, kmm_runtime_t **out,
                                const kmm_config_t *config)
{
    kmm_config_t whole = {0};
    if (!out)
        return kmm__error_set(KMM_E_INVALID, "nowhere to put the runtime");
    int error = kmm__version_check(version);
    if (error)
        return error;
    if (config_bytes < FIRST_CONFIG_BYTES || config_bytes > sizeof(whole))
        return kmm__error_set(KMM_E_INVALID, "kmm_config_t has %zu bytes, and not %zu",
                              sizeof(whole), config_bytes);
    if (config)
        memcpy(&whole, config, config_bytes);
    return runtime_create(out, &whole);
}

KMM__API int(kmm_create)(kmm_runtime_t **out, const kmm_config_t *config)
{
    return kmm_create_version(KMM_VERSION_NUMBER, FIRST_CONFIG_BYTES, out, config);
}

KMM__API int kmm_wait(kmm_runtime_t *rt)
{
    kmm__marker_t *m;
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    if (kmm__inside_refuse("wait"))
        return KMM_E_STATE;
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(rt);
    int failed = kmm__native_finish(rt);
    if (!failed && nodes)
        failed = nodes->wait(rt);
    if (failed)
        return failed;
    pthread_mutex_lock(&rt->lock);
    int ended = kmm__deferred_end(rt, 0, UINTPTR_MAX);
    pthread_mutex_unlock(&rt->lock);
    kmm__marker_create(rt, &kmm__all_streams, &m);
    kmm__marker_wait(m);
    kmm__marker_release(m);
    kmm__exact_host_wait();
    kmm__flags_settle(kmm_thread_number());
    int error = kmm__error_take(rt);
    return error ? error : ended;
}

KMM__API int kmm_destroy(kmm_runtime_t *rt)
{
    if (!rt)
        return 0;
    kmm__native_end(rt, "the end of the runtime");
    int error = kmm_wait(rt);
    kmm__blocks_forget(rt);
    kmm__watch_end(rt);
    kmm__stats_print(rt, 0);
    pthread_mutex_lock(&rt->lock);
    while (rt->memory->array_count) {
        kmm__array_t *a = rt->memory->arrays[rt->memory->array_count - 1];
        kmm__array_forget(a);
        kmm__array_unref(a);
    }
    while (rt->memory->live_arrays || rt->tasks->outstanding)
        kmm__cond_wait(&rt->progress, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
    runtime_free(rt);
    kmm__observe_end();
    return error;
}
