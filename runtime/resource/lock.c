/* SPDX-License-Identifier: Apache-2.0 */
/* The slow paths of the pool's lock: spinning, sleeping and waking. The fast paths are inline in
 * lock.h. */
#include "resource/lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/spin.h"

enum { SPINS = 100, SLEEP_NS = 200000 };

static bool spin(kmm__lock_t *l)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&l->state, memory_order_relaxed) == KMM__LOCK_OPEN &&
            kmm__lock_try(l))
            return true;
        kmm__relax();
    }
    return false;
}

/* Sleeps until the lock is released, or for SLEEP_NS. True: the lock was free, and this thread has
 * taken it. */
static bool sleep_briefly(kmm__lock_t *l)
{
    const struct timespec most = {.tv_nsec = SLEEP_NS};
    atomic_fetch_add(&l->sleepers, 1);
    const bool taken = kmm__lock_try(l);
    if (!taken)
        syscall(SYS_futex, &l->state, FUTEX_WAIT_PRIVATE, KMM__LOCK_TAKEN, &most, NULL, 0);
    atomic_fetch_sub(&l->sleepers, 1);
    return taken;
}

void kmm__lock_wait(kmm__lock_t *l)
{
    while (!spin(l) && !sleep_briefly(l))
        continue;
}

void kmm__lock_wake(kmm__lock_t *l)
{
    syscall(SYS_futex, &l->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
