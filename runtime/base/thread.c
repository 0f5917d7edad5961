/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads of libkmm. */
#include "base/thread.h"

#include <signal.h>
#include <stddef.h>

int kmm__thread_create(pthread_t *out, void *(*main)(void *arg), void *arg)
{
    static const int keep[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t k = 0; k < sizeof(keep) / sizeof(keep[0]); k++)
        sigdelset(&blocked, keep[k]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int error = pthread_create(out, NULL, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
