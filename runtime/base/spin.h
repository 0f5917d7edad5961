/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting by polling instead of sleeping, and the clock. */
#ifndef KMM__SPIN_H
#define KMM__SPIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t kmm__now(void); /* nanoseconds of CLOCK_MONOTONIC */
void kmm__relax(void);   /* tells the core that a loop polls memory */
/* KMM__SPIN_NS is about the cost of sleeping and being woken. KMM__SPIN_DEVICE_NS is how long a
 * thread polls for results of a device, as drivers do, if there are CPUs to spare. */
enum { KMM__SPIN_NS = 30000, KMM__SPIN_DEVICE_NS = 20000000 };
bool kmm__has_cpus_to_spare(void);
/* Not locked: polls until *word is 0, for at most `ns` nanoseconds. */
void kmm__spin_until_zero(const _Atomic uint32_t *word, uint64_t ns);
/* Not locked: polls while *word is `value`, for at most KMM__SPIN_NS. */
void kmm__spin_while(const _Atomic uint64_t *word, uint64_t value);
/* Takes a lock that is held for about a microsecond at a time. Tries for longer than a mutex does
 * before it sleeps. */
void kmm__spin_lock(pthread_mutex_t *lock);

#endif
