/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that submissions share and comparisons have alone. */
#include "launch/gate.h"

#include <pthread.h>

#include "base/runtime.h"
#include "task/inside.h"

static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
static _Thread_local bool is_within, has_closed;

void kmm__gate_enter(const kmm_runtime_t *rt)
{
    if (!rt || !rt->checks_result || is_within || has_closed || kmm__is_inside())
        return;
    pthread_rwlock_rdlock(&gate);
    is_within = true;
}

void kmm__gate_leave(void)
{
    if (is_within)
        pthread_rwlock_unlock(&gate);
    is_within = false;
}

void kmm__gate_close(void)
{
    kmm__gate_leave();
    pthread_rwlock_wrlock(&gate);
    has_closed = true;
}

void kmm__gate_open(void)
{
    has_closed = false;
    pthread_rwlock_unlock(&gate);
}

bool kmm__gate_is_closed_here(void)
{
    return has_closed;
}
