/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that runtime/instrument/locks.c wraps; kmmcc's driver/link.c, too, includes this
 * list. */
#ifndef KMM__INSTRUMENT_LOCKS_H
#define KMM__INSTRUMENT_LOCKS_H

/* TAKE(name, lock, taken): takes a lock if `taken`, where `result` is what it returns. `lock` is
 * the lock's address: `a`, the first argument, or NULL. RELEASE(name, lock). ONCE(name): calls a
 * function once in the process. BEGIN(name): what follows, until END(name), is done once in the
 * process if it returns 1. C++'s locks, its call_once, and the first value of a local static
 * variable use these, too. */
#define KMM_LOCK_CALLS(TAKE, RELEASE, ONCE, BEGIN, END)                                            \
    TAKE(pthread_mutex_lock, a, result == 0)                                                       \
    TAKE(pthread_mutex_trylock, a, result == 0)                                                    \
    TAKE(pthread_mutex_timedlock, a, result == 0)                                                  \
    TAKE(pthread_mutex_clocklock, a, result == 0)                                                  \
    RELEASE(pthread_mutex_unlock, a)                                                               \
    TAKE(pthread_spin_lock, a, result == 0)                                                        \
    TAKE(pthread_spin_trylock, a, result == 0)                                                     \
    RELEASE(pthread_spin_unlock, a)                                                                \
    TAKE(pthread_rwlock_rdlock, a, result == 0)                                                    \
    TAKE(pthread_rwlock_tryrdlock, a, result == 0)                                                 \
    TAKE(pthread_rwlock_timedrdlock, a, result == 0)                                               \
    TAKE(pthread_rwlock_clockrdlock, a, result == 0)                                               \
    TAKE(pthread_rwlock_wrlock, a, result == 0)                                                    \
    TAKE(pthread_rwlock_trywrlock, a, result == 0)                                                 \
    TAKE(pthread_rwlock_timedwrlock, a, result == 0)                                               \
    TAKE(pthread_rwlock_clockwrlock, a, result == 0)                                               \
    RELEASE(pthread_rwlock_unlock, a)                                                              \
    TAKE(mtx_lock, a, result == 0)                                                                 \
    TAKE(mtx_trylock, a, result == 0)                                                              \
    TAKE(mtx_timedlock, a, result == 0)                                                            \
    RELEASE(mtx_unlock, a)                                                                         \
    TAKE(sem_wait, a, result == 0)                                                                 \
    TAKE(sem_trywait, a, result == 0)                                                              \
    TAKE(sem_timedwait, a, result == 0)                                                            \
    TAKE(sem_clockwait, a, result == 0)                                                            \
    RELEASE(sem_post, a)                                                                           \
    TAKE(flockfile, a, true)                                                                       \
    TAKE(ftrylockfile, a, result == 0)                                                             \
    RELEASE(funlockfile, a)                                                                        \
    TAKE(GOMP_critical_start, NULL, true)                                                          \
    RELEASE(GOMP_critical_end, NULL)                                                               \
    TAKE(GOMP_critical_name_start, a, true)                                                        \
    RELEASE(GOMP_critical_name_end, a)                                                             \
    TAKE(GOMP_atomic_start, NULL, true)                                                            \
    RELEASE(GOMP_atomic_end, NULL)                                                                 \
    TAKE(GOMP_ordered_start, NULL, true)                                                           \
    RELEASE(GOMP_ordered_end, NULL)                                                                \
    TAKE(omp_set_lock, a, true)                                                                    \
    TAKE(omp_test_lock, a, result != 0)                                                            \
    RELEASE(omp_unset_lock, a)                                                                     \
    TAKE(omp_set_nest_lock, a, true)                                                               \
    TAKE(omp_test_nest_lock, a, result != 0)                                                       \
    RELEASE(omp_unset_nest_lock, a)                                                                \
    BEGIN(__cxa_guard_acquire)                                                                     \
    END(__cxa_guard_release)                                                                       \
    END(__cxa_guard_abort)                                                                         \
    ONCE(pthread_once)                                                                             \
    ONCE(call_once)

#endif
