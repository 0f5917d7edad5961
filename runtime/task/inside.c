/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of each thread of the program: whether it is inside a task or a chunk's function, and
 * its number. */
#include "task/inside.h"

#include <stdatomic.h>

#include <kmm/launch.h>

#include "base/api.h"
#include "base/error.h"
#include "base/running.h"

static _Thread_local kmm__task_t *current;
static _Thread_local const kmm__task_t *statements; /* the list of one that `running` has */
static _Thread_local kmm__running_t running;
static atomic_uint open_tasks; /* tasks whose statements some thread runs */

void kmm__inside_enter(kmm__task_t *t)
{
    current = t;
    statements = t;
    running = (kmm__running_t){&statements, 1};
    kmm__running_watch(NULL, 0);
    kmm__running_set(&running);
    atomic_fetch_add(&open_tasks, 1);
}

void kmm__inside_leave(void)
{
    current = NULL;
    kmm__running_set(NULL);
    atomic_fetch_sub(&open_tasks, 1);
}

kmm__task_t *kmm__inside_task(void)
{
    return current;
}

bool kmm__tasks_open(void)
{
    return atomic_load(&open_tasks) > 0;
}

void kmm__tasks_forked(void)
{
    atomic_store(&open_tasks, current != NULL);
}

bool kmm__is_inside(void)
{
    return current || (kmm__running && kmm__running->count);
}

int kmm__inside_refuse(const char *call)
{
    return kmm__is_inside()
               ? kmm__error_set(KMM_E_STATE,
                                "%s: inside a task this would wait for what may wait for the task",
                                call)
               : 0;
}

KMM__API int64_t kmm_thread_number(void)
{
    static atomic_int_least64_t last;
    static _Thread_local int64_t number;
    if (!number)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}
