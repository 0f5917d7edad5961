/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting without sleeping. */
#ifndef KMM__SPIN_H
#define KMM__SPIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t kmm__now(void); /* nanoseconds of CLOCK_MONOTONIC */
void kmm__relax(void);   /* tells the core that a loop polls memory */
/* About what sleeping and being woken costs; and, where CPUs are to spare, for how long results of
 * a device are awaited without sleeping, as drivers do. */
enum { KMM__SPIN_NS = 30000, KMM__SPIN_DEVICE_NS = 20000000 };
bool kmm__has_cpus_to_spare(void);
/* Not locked: waits so long at most until *word is 0. */
void kmm__spin_until_zero(const _Atomic uint32_t *word, uint64_t ns);
/* The same for KMM__SPIN_NS, while it has that value. */
void kmm__spin_while(const _Atomic uint64_t *word, uint64_t value);
/* Takes a lock that is held for about a microsecond at a time: tries for longer than a mutex does
 * before it sleeps. */
void kmm__spin_lock(pthread_mutex_t *lock);

#endif
