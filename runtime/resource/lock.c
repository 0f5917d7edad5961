/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 100 };

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A thread that has slept takes it as awaited, since it does not know whether others sleep too. */
void kmm__lock_wait(kmm__lock_t *l)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&l->state, memory_order_relaxed) == KMM__LOCK_OPEN && kmm__lock_try(l))
            return;
        pause_briefly();
    }
    while (atomic_exchange_explicit(&l->state, KMM__LOCK_AWAITED, memory_order_acquire) != KMM__LOCK_OPEN)
        syscall(SYS_futex, &l->state, FUTEX_WAIT_PRIVATE, KMM__LOCK_AWAITED, NULL, NULL, 0);
}

void kmm__lock_wake(kmm__lock_t *l) { syscall(SYS_futex, &l->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
