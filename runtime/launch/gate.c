/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that submissions share and comparisons have alone, unless that would last for ever. */
#include "launch/gate.h"

#include <pthread.h>
#include <time.h>

#include "backend/device.h"
#include "base/runtime.h"
#include "task/inside.h"

enum {
    LOOK_MS = 100,    /* between two looks at the processor time */
    IDLE_LOOKS = 10,  /* as many without work of the process: its threads wait for each other */
    MOST_LOOKS = 600, /* chunks that wait in a loop do work */
    WORK_MS = 2       /* of processor time between two looks that is work */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_changed = PTHREAD_COND_INITIALIZER;
static uint32_t within; /* threads */
static bool is_closed, was_passed;
static _Thread_local bool is_within, has_closed;

static bool is_all_of_cpu(const kmm_runtime_t *rt)
{
    for (uint32_t k = 0; k < rt->backend_count; k++)
        if (rt->backends[k]->kind != KMM_KIND_HOST)
            return false;
    return true;
}

static int64_t milliseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Locked: waits until *count and *shut are 0. False: what it waits for seems to wait for this
 * thread. A process with GPUs may do nothing for a long time while a kernel runs. */
static bool await(const kmm_runtime_t *rt, const uint32_t *count, const bool *shut)
{
    int64_t worked = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int looks = 0, idle = 0; *count || *shut; looks++) {
        int64_t until = milliseconds(CLOCK_REALTIME) + LOOK_MS;
        struct timespec t = {until / 1000, until % 1000 * 1000000};
        if (pthread_cond_timedwait(&has_changed, &lock, &t) == 0) {
            looks--;
            continue;
        }
        int64_t now = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
        idle = now - worked < WORK_MS && is_all_of_cpu(rt) ? idle + 1 : 0;
        worked = now;
        if (idle == IDLE_LOOKS || looks == MOST_LOOKS)
            return false;
    }
    return true;
}

void kmm__gate_enter(const kmm_runtime_t *rt)
{
    static const uint32_t none = 0;
    if (!rt || !rt->checks_result || is_within || has_closed || kmm__is_inside())
        return;
    pthread_mutex_lock(&lock);
    if (!await(rt, &none, &is_closed))
        was_passed = true;
    within++;
    is_within = true;
    pthread_mutex_unlock(&lock);
}

void kmm__gate_leave(void)
{
    if (!is_within)
        return;
    pthread_mutex_lock(&lock);
    within--;
    is_within = false;
    pthread_cond_broadcast(&has_changed);
    pthread_mutex_unlock(&lock);
}

bool kmm__gate_close(const kmm_runtime_t *rt)
{
    kmm__gate_leave();
    pthread_mutex_lock(&lock);
    bool can = await(rt, &within, &is_closed);
    if (can) {
        is_closed = has_closed = true;
        was_passed = false;
    }
    pthread_mutex_unlock(&lock);
    return can;
}

void kmm__gate_open(void)
{
    pthread_mutex_lock(&lock);
    is_closed = has_closed = false;
    pthread_cond_broadcast(&has_changed);
    pthread_mutex_unlock(&lock);
}

bool kmm__gate_is_closed_here(void)
{
    return has_closed;
}

bool kmm__gate_was_passed(void)
{
    pthread_mutex_lock(&lock);
    bool passed = was_passed;
    pthread_mutex_unlock(&lock);
    return passed;
}
