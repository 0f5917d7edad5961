/* SPDX-License-Identifier: Apache-2.0 */
/* The exit status of a program with errors that it has never asked about. */
#include "base/exit_status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_bool is_unasked;  /* an error of a launch or of asynchronous work */
static atomic_bool is_violated; /* a clause, under KMM_CHECK */

void kmm__exit_unasked(void)
{
    atomic_store(&is_unasked, true);
}

void kmm__exit_asked(void)
{
    atomic_store(&is_unasked, false);
}

void kmm__exit_violation(void)
{
    atomic_store(&is_violated, true);
}

void kmm__exit_forget(void)
{
    atomic_store(&is_unasked, false);
    atomic_store(&is_violated, false);
}

/* Changes exit status 0. exit may be called in a handler: it goes on with the remaining handlers,
 * and flushes output. */
static void at_exit(int status, void *arg)
{
    (void)arg;
    if (status == 0 && (atomic_load(&is_unasked) || atomic_load(&is_violated)))
        exit(EXIT_FAILURE);
}

/* Handlers run in the opposite order of their registration. This one is registered before the
 * program's, so that it also sees errors of destructors of static objects. */
__attribute__((constructor(101))) static void exit_watch(void)
{
    on_exit(at_exit, NULL);
    pthread_atfork(NULL, NULL, kmm__exit_forget);
}
