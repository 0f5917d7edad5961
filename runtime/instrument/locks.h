/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that runtime/instrument/locks.c wraps; kmmcc's driver/link.c, too, includes this
 * list. */
#ifndef KMM__INSTRUMENT_LOCKS_H
#define KMM__INSTRUMENT_LOCKS_H

/* TAKE(name, lock, taken): takes a lock if `taken`, where `result` is what it returns. `lock` is
 * the lock's address, made of the arguments `a` and `b`, or a number where the process has one such
 * lock. SHARE(name, lock, taken): takes it beside other readers. RELEASE(name, lock). WAIT(name,
 * lock): releases the lock while it waits for a condition. ONCE(name): calls a function once in the
 * process. BEGIN(name): what follows, until END(name), is done once in the process if it returns 1.
 * C++'s locks, conditions, its call_once, and the first value of a local static variable use these,
 * too. */
#define KMM_LOCK_CALLS(TAKE, SHARE, RELEASE, WAIT, ONCE, BEGIN, END)                               \
    TAKE(pthread_mutex_lock, a, result == 0)                                                       \
    TAKE(pthread_mutex_trylock, a, result == 0)                                                    \
    TAKE(pthread_mutex_timedlock, a, result == 0)                                                  \
    TAKE(pthread_mutex_clocklock, a, result == 0)                                                  \
    RELEASE(pthread_mutex_unlock, a)                                                               \
    TAKE(pthread_spin_lock, a, result == 0)                                                        \
    TAKE(pthread_spin_trylock, a, result == 0)                                                     \
    RELEASE(pthread_spin_unlock, a)                                                                \
    SHARE(pthread_rwlock_rdlock, a, result == 0)                                                   \
    SHARE(pthread_rwlock_tryrdlock, a, result == 0)                                                \
    SHARE(pthread_rwlock_timedrdlock, a, result == 0)                                              \
    SHARE(pthread_rwlock_clockrdlock, a, result == 0)                                              \
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
    TAKE(GOMP_atomic_start, (any_t)16, true)                                                       \
    RELEASE(GOMP_atomic_end, (any_t)16)                                                            \
    TAKE(GOMP_ordered_start, (any_t)32, true)                                                      \
    RELEASE(GOMP_ordered_end, (any_t)32)                                                           \
    TAKE(omp_set_lock, a, true)                                                                    \
    TAKE(omp_test_lock, a, result != 0)                                                            \
    RELEASE(omp_unset_lock, a)                                                                     \
    TAKE(omp_set_nest_lock, a, true)                                                               \
    TAKE(omp_test_nest_lock, a, result != 0)                                                       \
    RELEASE(omp_unset_nest_lock, a)                                                                \
    WAIT(pthread_cond_wait, b)                                                                     \
    WAIT(pthread_cond_timedwait, b)                                                                \
    WAIT(pthread_cond_clockwait, b)                                                                \
    WAIT(cnd_wait, b)                                                                              \
    WAIT(cnd_timedwait, b)                                                                         \
    WAIT(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE, *(any_t *)b)                   \
    BEGIN(__cxa_guard_acquire)                                                                     \
    END(__cxa_guard_release)                                                                       \
    END(__cxa_guard_abort)                                                                         \
    ONCE(pthread_once)                                                                             \
    ONCE(call_once)

#endif
