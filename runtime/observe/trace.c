/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the listeners of trace points. */
#include "observe/trace.h"

#include <stdatomic.h>

#include "base/trace.h"
#include "memory/state.h"
#include "observe/chrome.h"
#include "observe/dot.h"
#include "observe/ranges.h"

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool is_started; /* guarded by `starting` */
static atomic_uint runtimes, devices;

/* Runs in a forked process, which has no listeners. */
static void forked(void)
{
    starting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    is_started = false;
    atomic_store(&runtimes, 0);
    atomic_store(&devices, 0);
}

static void register_fork(void)
{
    pthread_atfork(NULL, NULL, forked);
}

static int listeners_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int error = 0;
    pthread_once(&once, register_fork);
    pthread_mutex_lock(&starting);
    if (!is_started)
        kmm__ranges_start();
    if (!is_started)
        error = kmm__chrome_start();
    if (!is_started && !error)
        error = kmm__dot_start();
    is_started = true;
    pthread_mutex_unlock(&starting);
    return error;
}

int kmm__observe_start(kmm_runtime_t *rt)
{
    int error = listeners_start();
    rt->number = atomic_fetch_add(&runtimes, 1);
    for (uint32_t k = 0; k < rt->device_count; k++) {
        kmm__device_t *d = rt->device[k];
        d->number = (uint16_t)atomic_fetch_add(&devices, 1);
        KMM__TRACE(.kind = KMM__EVENT_DEVICE, .device = d->number,
                   .text = kmm__trace_text(d->info.name), .a = d->memory->limit,
                   .b = (uint64_t)rt->number << 32 | k);
    }
    return error;
}

void kmm__observe_end(void)
{
    kmm__trace_flush();
}
