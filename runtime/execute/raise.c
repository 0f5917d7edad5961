/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raise() in a chunk of a plain function. In the program without pragmas, the signal is for the
 * thread that calls the function. Threads of libkmm block signals, so it goes to the thread that
 * launched. This definition of raise stands before the C library's.
 */
#include "execute/raise.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/api.h"
#include "base/running.h"
#include "task/task.h"

static atomic_bool was_sent; /* to a thread that may not have handled it yet */

/* Faults are those of the thread that has them. */
static bool is_of_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP || number == SIGABRT || number == SIGSYS;
}

KMM__API int raise(int number)
{
    const kmm__running_t *r = kmm__running;
    const kmm__task_t *t = r && r->count ? r->tasks[0] : NULL;
    if (!t || !t->work->function || is_of_fault(number))
        return (int)syscall(SYS_tgkill, getpid(), gettid(), number);
    atomic_store(&was_sent, true);
    if (syscall(SYS_tgkill, getpid(), t->work->launcher, number) == 0)
        return 0;
    return kill(getpid(), number); /* that thread has ended */
}

int kmm__raise_launcher(void)
{
    return gettid();
}

void kmm__raise_settle(void)
{
    if (atomic_load_explicit(&was_sent, memory_order_relaxed) && atomic_exchange(&was_sent, false))
        sched_yield(); /* signals are handled when a system call returns */
}
