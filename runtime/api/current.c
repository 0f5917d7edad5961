/* SPDX-License-Identifier: Apache-2.0 */
/* The process's runtime, which is created at first use, and the current runtime of each thread. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/block.h"
#include "api/runtime.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/running.h"
#include "launch/builder.h"
#include "memory/host/pagelock.h"
#include "memory/residency/native.h"
#include "observe/stats.h"
#include "observe/trace.h"
#include "observe/watch.h"
#include "task/inside.h"
#include "task/marker.h"
#include "task/task.h"

static pthread_once_t default_once = PTHREAD_ONCE_INIT;
static kmm_runtime_t *default_runtime;
static bool is_registered; /* the functions for exit and fork have been registered */
static bool is_ending; /* the process ends; kernels that are unloaded now are not launched again */
static void (*tell_made)(kmm_runtime_t *rt); /* NULL: nobody is told */
static bool was_on_gpus; /* this process was forked from one whose runtime had GPUs */
static _Thread_local kmm_runtime_t *current;
static _Thread_local bool is_submitter; /* this thread has called libkmm outside of chunks */

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

/* True if some thread runs a function as a chunk. Locked: the chunk's task lives until it ends, for
 * which its thread needs the lock. */
static bool runs_function(void)
{
    enum { MOST = 64 };
    kmm__running_t all[MOST];
    bool found = false;
    for (uint32_t k = 0, count = kmm__running_all(all, MOST); k < count && !found; k++)
        found = all[k].count && all[k].tasks[0]->work && all[k].tasks[0]->work->function;
    return found;
}

/* True if the calling thread may have been started by a chunk that still runs, and that may wait
 * for it: libkmm does not know the thread, and a function runs for longer than a moment. */
static bool may_be_of_chunk(kmm_runtime_t *rt)
{
    enum { ROUNDS = 200 };
    const struct timespec pause = {.tv_nsec = 1000000};
    if (is_submitter || syscall(SYS_gettid) == getpid())
        return false;
    for (int k = 0; k < ROUNDS; k++) {
        pthread_mutex_lock(&rt->lock);
        bool runs = runs_function();
        pthread_mutex_unlock(&rt->lock);
        if (!runs)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Runs when the program ends. It waits for work, unless the caller of exit is part of that work, is
 * a thread that a chunk may have started, or another thread is inside a task. The runtime is not
 * destroyed: other threads may be inside calls, and destructors that run later may free memory. */
static void default_end(void)
{
    kmm_runtime_t *rt = default_runtime;
    bool can_wait = !kmm__is_inside() && !kmm__tasks_open() && !kmm__native_is_plain(rt);
    is_ending = true;
    if (!rt)
        return;
    can_wait = can_wait && !may_be_of_chunk(rt);
    kmm__blocks_exit(rt, can_wait);
    if (can_wait ? kmm_wait(rt) : kmm__error_take(rt)) {
        kmm__log(KMM__LOG_ERROR, "%s", kmm__error_get());
        if (!kmm__error_is_told(rt))
            kmm__exit_unasked();
    }
    if (can_wait) {
        kmm__flush(rt, NULL);
        kmm__pagelock_settle(rt); /* after this the driver ends */
    }
    kmm__watch_rest();
    kmm__stats_print(rt, 0);
    kmm__observe_end();
}

KMM__API void kmm_wait_at_exit(void)
{
    kmm_runtime_t *rt = default_runtime;
    kmm__marker_t *m;
    if (!rt || kmm__is_inside() || kmm__tasks_open() || kmm__native_is_plain(rt) ||
        may_be_of_chunk(rt))
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

void kmm__default_tell(void (*made)(kmm_runtime_t *rt))
{
    tell_made = made;
}

static void default_create(void)
{
    if (was_on_gpus) {
        kmm__log(KMM__LOG_ERROR,
                 "a process cannot use GPUs when it was forked from one that has used them; fork "
                 "first");
        return;
    }
    if (kmm_create(&default_runtime, NULL)) {
        kmm__log(KMM__LOG_ERROR, "%s", kmm__error_get());
        default_runtime = NULL;
        return;
    }
    if (tell_made)
        tell_made(default_runtime);
    if (!is_registered) {
        atexit(default_end);
        pthread_atfork(NULL, NULL, after_fork);
    }
    is_registered = true;
}

KMM__API kmm_runtime_t *kmm_default(void)
{
    is_submitter = true;
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
    is_submitter = true;
    return current ? current : kmm_default();
}
