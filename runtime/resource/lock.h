/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that are held for well under a microsecond, by many threads. */
#ifndef KMM__RESOURCE_LOCK_H
#define KMM__RESOURCE_LOCK_H

#include <pthread.h>

/* Spins before it sleeps, where the C library can: to sleep and be woken costs more than it ever waits. */
static inline int kmm__lock_init(pthread_mutex_t *lock)
{
#ifdef __GLIBC__
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    int error = pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error;
#else
    return pthread_mutex_init(lock, NULL);
#endif
}

#endif
