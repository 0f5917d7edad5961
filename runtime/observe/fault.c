/* SPDX-License-Identifier: Apache-2.0 */
/* The fault handler. If nothing is mapped at an array's addresses, a program that dereferences
 * one faults. The handler names the array before the program dies. */
#include "observe/fault.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/array.h"

static _Atomic(kmm_runtime_t *) watched; /* the first runtime that was created */
static struct sigaction before;

/* Prints the array that contains an address. Runs in a signal handler, so it does not wait for a
 * lock. */
static void say(kmm_runtime_t *rt, const char *address)
{
    char text[400];
    if (pthread_mutex_trylock(&rt->lock))
        return;
    const kmm__array_t *a = kmm__array_find(rt, address);
    int length =
        a ? snprintf(text, sizeof(text),
                     "kmm: error: nothing is mapped at %p, byte %zu of the array %s%sof %zu bytes "
                     "at %p: an array is used in launches whose arguments "
                     "name it, in tasks and in calls of the runtime, and not by addresses that a "
                     "kernel finds in memory, or elsewhere\n",
                     (const void *)address, (size_t)(address - a->base), a->label ? a->label : "",
                     a->label ? " " : "", a->bytes, (void *)a->base)
          : 0;
    pthread_mutex_unlock(&rt->lock);
    if (length > 0 && write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    kmm_runtime_t *rt = atomic_exchange(&watched, NULL);
    (void)context;
    if (rt)
        say(rt, info->si_addr);
    sigaction(number, &before, NULL); /* the faulting instruction runs again, and ends the program
                                         as it would have without this handler */
}

void kmm__fault_watch(kmm_runtime_t *rt)
{
    kmm_runtime_t *nobody = NULL;
    struct sigaction now = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, there;
    if (sigaction(SIGSEGV, NULL, &there) || there.sa_handler != SIG_DFL ||
        !atomic_compare_exchange_strong(&watched, &nobody, rt))
        return; /* leaves the program's own handler, or another runtime's, in place */
    before = there;
    sigemptyset(&now.sa_mask);
    sigaction(SIGSEGV, &now, NULL);
}

void kmm__fault_unwatch(kmm_runtime_t *rt)
{
    struct sigaction now;
    if (!atomic_compare_exchange_strong(&watched, &rt, NULL))
        return;
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_fault)
        sigaction(SIGSEGV, &before, NULL);
}
