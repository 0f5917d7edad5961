/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the program: launches and copies that it waits for, with a time limit. An event is a
 * list of groups of tasks: its own, or those of the events that it joins. */
#include <stdlib.h>

#include <kmm.h>

#include "base/alloc.h"
#include "base/api.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/spin.h"
#include "base/trace.h"
#include "execute/exact_host.h"
#include "launch/nodes.h"
#include "memory/residency/native.h"
#include "task/group.h"
#include "task/inside.h"
#include "task/task.h"

struct kmm_event {
    kmm_runtime_t *runtime;
    bool holds;            /* the thread that began it keeps the runtime in managed standing */
    kmm__group_t **groups; /* a reference each */
    uint32_t count;
};

static bool is_open(const kmm_event_t *e)
{
    return e->count == 1 && e->groups[0] == kmm__group_opened();
}

static kmm_event_t *event_make(kmm_runtime_t *rt, uint32_t room)
{
    kmm_event_t *e = kmm__alloc(sizeof(*e));
    e->runtime = rt;
    e->groups = kmm__alloc((room ? room : 1) * sizeof(kmm__group_t *));
    return e;
}

KMM__API int kmm_event_begin(kmm_runtime_t *rt, kmm_event_t **out)
{
    bool holds = false;
    if (!rt || !out)
        return kmm__error_set(KMM_E_INVALID, "an event needs a runtime, and a place to put it");
    if (kmm__group_opened())
        return kmm__error_set(KMM_E_STATE, "this thread has begun an event, and not ended it");
    if (kmm__nodes_of(rt))
        return kmm__error_set(KMM_E_UNSUPPORTED,
                              "an event does not see what other nodes run; use kmm_wait");
    if (kmm__inside_refuse("begin of an event"))
        return KMM_E_STATE;
    int error = kmm__native_hold(rt, "an event", &holds);
    if (error)
        return error;
    *out = event_make(rt, 1);
    (*out)->holds = holds;
    (*out)->groups[(*out)->count++] = kmm__group_create();
    kmm__group_open((*out)->groups[0]);
    return 0;
}

KMM__API int kmm_event_end(kmm_event_t *e)
{
    if (!e)
        return kmm__error_set(KMM_E_INVALID, "no event");
    if (!is_open(e))
        return kmm__error_set(KMM_E_STATE, "this thread has not begun the event, or has ended it");
    kmm__group_open(NULL);
    kmm__native_hold_end(&e->holds);
    e->holds = false;
    return 0;
}

KMM__API int kmm_event_join(kmm_runtime_t *rt, kmm_event_t *const *events, uint32_t count,
                            kmm_event_t **out)
{
    uint32_t room = 0;
    if (!rt || !out || (count && !events))
        return kmm__error_set(KMM_E_INVALID, "an event needs a runtime, and a place to put it");
    for (uint32_t k = 0; k < count; k++) {
        if (!events[k] || events[k]->runtime != rt)
            return kmm__error_set(KMM_E_INVALID, "event %u is none of this runtime", k);
        room += events[k]->count;
    }
    kmm_event_t *e = event_make(rt, room);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t j = 0; j < events[k]->count; j++) {
            kmm__group_retain(events[k]->groups[j]);
            e->groups[e->count++] = events[k]->groups[j];
        }
    *out = e;
    return 0;
}

/* Locked: the first error of an event's work, by the order of its groups. */
static int error_of(const kmm_event_t *e)
{
    int error = 0;
    for (uint32_t k = 0; k < e->count && !error; k++)
        error = kmm__group_error(e->runtime, e->groups[k]);
    return error;
}

static int check_ended(const kmm_event_t *e)
{
    if (!e)
        return kmm__error_set(KMM_E_INVALID, "no event");
    return is_open(e) ? kmm__error_set(KMM_E_STATE, "kmm_event_end comes before a wait") : 0;
}

KMM__API int kmm_event_test(kmm_event_t *e)
{
    bool is_done = true;
    int error = check_ended(e);
    if (error)
        return error;
    pthread_mutex_lock(&e->runtime->lock);
    for (uint32_t k = 0; k < e->count; k++)
        is_done = is_done && kmm__group_is_done(e->groups[k]);
    error = is_done ? error_of(e) : KMM_PENDING;
    pthread_mutex_unlock(&e->runtime->lock);
    return error;
}

/* Ends what launches with nowait have left mapped. */
static int maps_end(const kmm_event_t *e)
{
    int error = 0;
    for (uint32_t k = 0; k < e->count; k++)
        for (void *base = e->groups; base;) {
            pthread_mutex_lock(&e->runtime->lock);
            base = kmm__group_take_map(e->groups[k]);
            pthread_mutex_unlock(&e->runtime->lock);
            int ended = base ? kmm_wait_array(e->runtime, base) : 0;
            error = error ? error : ended;
        }
    return error;
}

static int wait_until(const kmm_event_t *e, uint64_t until)
{
    bool is_done = true;
    pthread_mutex_lock(&e->runtime->lock);
    for (uint32_t k = 0; k < e->count; k++)
        if (!kmm__group_is_done(e->groups[k]))
            kmm__tasks_await(e->runtime, kmm__group_end(e->groups[k]));
    for (uint32_t k = 0; k < e->count && is_done; k++)
        is_done = kmm__group_await(e->runtime, e->groups[k], until);
    pthread_mutex_unlock(&e->runtime->lock);
    if (!is_done)
        return KMM_PENDING;
    const int ended = maps_end(e);
    kmm__exact_host_wait();
    kmm__flags_settle(kmm_thread_number());
    pthread_mutex_lock(&e->runtime->lock);
    const int error = error_of(e);
    pthread_mutex_unlock(&e->runtime->lock);
    return error ? error : ended;
}

KMM__API int kmm_event_wait(kmm_event_t *e, int64_t nanoseconds)
{
    int error = check_ended(e);
    if (error)
        return error;
    if (kmm__inside_refuse("wait"))
        return KMM_E_STATE;
    const uint64_t begin = kmm__now();
    error = wait_until(e, nanoseconds < 0 ? UINT64_MAX : begin + (uint64_t)nanoseconds);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "wait for an event", .a = begin);
    return error;
}

KMM__API void kmm_event_destroy(kmm_event_t *e)
{
    if (!e)
        return;
    if (is_open(e))
        kmm_event_end(e);
    for (uint32_t k = 0; k < e->count; k++)
        kmm__group_release(e->groups[k]);
    free(e->groups);
    free(e);
}
