/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of each thread of the program: whether it is inside a task or a chunk's function. */
#include "task/inside.h"

#include <stdatomic.h>

#include "base/error.h"

static _Thread_local kmm__task_t *current;
static _Thread_local bool in_function;
static atomic_uint open_tasks; /* tasks whose statements some thread runs */

void kmm__inside_enter(kmm__task_t *t)
{
    current = t;
    atomic_fetch_add(&open_tasks, 1);
}

void kmm__inside_leave(void)
{
    current = NULL;
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

void kmm__function_begin(void)
{
    in_function = true;
}

void kmm__function_end(void)
{
    in_function = false;
}

bool kmm__is_inside(void)
{
    return current || in_function;
}

int kmm__inside_refuse(const char *call)
{
    return kmm__is_inside()
               ? kmm__error_set(KMM_E_STATE,
                                "%s: inside a task this would wait for what may wait for the task",
                                call)
               : 0;
}
