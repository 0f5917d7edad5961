/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that runtime/instrument/locks.c wraps; kmmcc's driver/link.c, too, includes this
 * list. */
#ifndef KMM__INSTRUMENT_LOCKS_H
#define KMM__INSTRUMENT_LOCKS_H

/* TAKE(name, taken): takes a lock if `taken`, where `result` is what it returns. RELEASE(name).
 * ONCE(name): calls a function once in the process. C++'s locks, its call_once, and the first value
 * of a local static variable use these, too. */
#define KMM_LOCK_CALLS(TAKE, RELEASE, ONCE)                                                        \
    TAKE(pthread_mutex_lock, result == 0)                                                          \
    TAKE(pthread_mutex_trylock, result == 0)                                                       \
    TAKE(pthread_mutex_timedlock, result == 0)                                                     \
    TAKE(pthread_mutex_clocklock, result == 0)                                                     \
    RELEASE(pthread_mutex_unlock)                                                                  \
    TAKE(pthread_spin_lock, result == 0)                                                           \
    TAKE(pthread_spin_trylock, result == 0)                                                        \
    RELEASE(pthread_spin_unlock)                                                                   \
    TAKE(pthread_rwlock_rdlock, result == 0)                                                       \
    TAKE(pthread_rwlock_tryrdlock, result == 0)                                                    \
    TAKE(pthread_rwlock_timedrdlock, result == 0)                                                  \
    TAKE(pthread_rwlock_clockrdlock, result == 0)                                                  \
    TAKE(pthread_rwlock_wrlock, result == 0)                                                       \
    TAKE(pthread_rwlock_trywrlock, result == 0)                                                    \
    TAKE(pthread_rwlock_timedwrlock, result == 0)                                                  \
    TAKE(pthread_rwlock_clockwrlock, result == 0)                                                  \
    RELEASE(pthread_rwlock_unlock)                                                                 \
    TAKE(mtx_lock, result == 0)                                                                    \
    TAKE(mtx_trylock, result == 0)                                                                 \
    TAKE(mtx_timedlock, result == 0)                                                               \
    RELEASE(mtx_unlock)                                                                            \
    TAKE(sem_wait, result == 0)                                                                    \
    TAKE(sem_trywait, result == 0)                                                                 \
    TAKE(sem_timedwait, result == 0)                                                               \
    TAKE(sem_clockwait, result == 0)                                                               \
    RELEASE(sem_post)                                                                              \
    TAKE(flockfile, true)                                                                          \
    TAKE(ftrylockfile, result == 0)                                                                \
    RELEASE(funlockfile)                                                                           \
    TAKE(GOMP_critical_start, true)                                                                \
    RELEASE(GOMP_critical_end)                                                                     \
    TAKE(GOMP_critical_name_start, true)                                                           \
    RELEASE(GOMP_critical_name_end)                                                                \
    TAKE(omp_set_lock, true)                                                                       \
    TAKE(omp_test_lock, result != 0)                                                               \
    RELEASE(omp_unset_lock)                                                                        \
    TAKE(omp_set_nest_lock, true)                                                                  \
    TAKE(omp_test_nest_lock, result != 0)                                                          \
    RELEASE(omp_unset_nest_lock)                                                                   \
    TAKE(__cxa_guard_acquire, result != 0)                                                         \
    RELEASE(__cxa_guard_release)                                                                   \
    RELEASE(__cxa_guard_abort)                                                                     \
    ONCE(pthread_once)                                                                             \
    ONCE(call_once)

#endif
