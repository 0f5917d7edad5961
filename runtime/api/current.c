/* SPDX-License-Identifier: Apache-2.0 */
/* The process's runtime, which is created at first use, and the current runtime of each thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/block.h"
#include "api/runtime.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "launch/builder.h"
#include "memory/host/pagelock.h"
#include "memory/residency/native.h"
#include "observe/stats.h"
#include "task/inside.h"
#include "task/marker.h"

static pthread_once_t default_once = PTHREAD_ONCE_INIT;
static kmm_runtime_t *default_runtime;
static bool is_registered; /* the functions for exit and fork have been registered */
static bool is_ending; /* the process ends; kernels that are unloaded now are not launched again */
static bool was_on_gpus; /* this process was forked from one whose runtime had GPUs */
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
        uint64_t launches = kmm__counted(&d->counters.launches);
        if (d == but || !d->backend->flush || atomic_exchange(&d->flushed, launches) == launches)
            continue;
        d->backend->flush(d->compute_streams[0].stream);
    }
}

/* Runs when the program ends. It waits for work, unless the caller of exit is part of that work
 * or another thread is inside a task. The runtime is not destroyed: other threads may be inside
 * calls, and destructors that run later may free memory. */
static void default_end(void)
{
    kmm_runtime_t *rt = default_runtime;
    bool can_wait = !kmm__is_inside() && !kmm__tasks_open() && !kmm__native_is_plain(rt);
    is_ending = true;
    if (!rt)
        return;
    kmm__blocks_exit(rt, can_wait);
    if (can_wait ? kmm_wait(rt) : kmm__error_take(rt)) {
        fprintf(stderr, "kmm: error: %s\n", kmm__error_get());
        if (!kmm__error_is_told(rt))
            kmm__exit_unasked();
    }
    if (can_wait) {
        kmm__flush(rt, NULL);
        kmm__pagelock_settle(rt); /* after this the driver ends */
    }
    kmm__stats_print(rt);
}

KMM__API void kmm_wait_at_exit(void)
{
    kmm_runtime_t *rt = default_runtime;
    kmm__marker_t *m;
    if (!rt || kmm__is_inside() || kmm__tasks_open() || kmm__native_is_plain(rt))
        return;
    if (kmm__marker_create(rt, &kmm__all_streams, &m))
        return;
    kmm__marker_wait(m);
    kmm__marker_release(m);
}

/* Runs in a forked process, which has none of the runtime's threads. The process creates a new
 * runtime if the old one had no GPUs. */
static void after_fork(void)
{
    if (!default_runtime)
        return;
    was_on_gpus = has_gpus(default_runtime);
    kmm__blocks_forget(NULL);
    default_runtime = NULL;
    default_once = (pthread_once_t)PTHREAD_ONCE_INIT;
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
        fprintf(stderr, "kmm: error: %s\n", kmm__error_get());
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
    if (!kmm__is_inside()) { /* inside work of libkmm it cannot wait; the program then unloads
                                kernels only if they are not in use */
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
    if (rt && default_runtime && rt != default_runtime)
        kmm__native_end(default_runtime, "another runtime");
    current = rt;
}

kmm_runtime_t *kmm__current(void)
{
    return current ? current : kmm_default();
}
