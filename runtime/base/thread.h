/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of libkmm. */
#ifndef KMM__BASE_THREAD_H
#define KMM__BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Starts a thread of libkmm. It blocks all signals but those for faults and profiling, so that
 * others are delivered to the program's own threads. Returns 0 or an error of pthread_create. */
int kmm__thread_create(pthread_t *out, void *(*main)(void *arg), void *arg);

/* pthread_cond_wait in which a thread of the program is not cancelled: it would keep the lock. */
static inline int kmm__cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    int error = pthread_cond_wait(condition, lock);
    pthread_setcancelstate(before, &before);
    return error;
}

/* The same, at most until CLOCK_MONOTONIC has passed `until`, in nanoseconds; UINT64_MAX: without a
 * limit. False: the time has passed. */
static inline bool kmm__cond_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock,
                                        uint64_t until)
{
    enum { NS = 1000000000 };
    const struct timespec at = {.tv_sec = (time_t)(until / NS), .tv_nsec = (long)(until % NS)};
    int before;
    if (until == UINT64_MAX)
        return kmm__cond_wait(condition, lock) == 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    int error = pthread_cond_clockwait(condition, lock, CLOCK_MONOTONIC, &at);
    pthread_setcancelstate(before, &before);
    return error == 0;
}

#endif
