/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that poll before they sleep, the clock, and locks that are held for about a microsecond. */
#include "base/spin.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { POLLS_PER_YIELD = 32, LOCK_TRIES = 64, POLLS_PER_TRY = 8 };

uint64_t kmm__now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void kmm__relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

bool kmm__has_cpus_to_spare(void)
{
    enum { MANY_CPUS = 8 };
    static _Atomic int many = -1;
    int known = many;
    if (known < 0)
        many = known = sysconf(_SC_NPROCESSORS_ONLN) >= MANY_CPUS;
    return known;
}

void kmm__spin_until_zero(const _Atomic uint32_t *word, uint64_t ns)
{
    uint64_t end = kmm__now() + ns;
    do {
        for (int k = 0; k < POLLS_PER_YIELD; k++) {
            if (atomic_load_explicit(word, memory_order_relaxed) == 0)
                return;
            kmm__relax();
        }
        sched_yield(); /* the thread that sets the word may need this core */
    } while (kmm__now() < end);
}

void kmm__spin_while(const _Atomic uint64_t *word, uint64_t value)
{
    uint64_t end = kmm__now() + KMM__SPIN_NS;
    do {
        for (int k = 0; k < POLLS_PER_YIELD; k++) {
            if (atomic_load_explicit(word, memory_order_relaxed) != value)
                return;
            kmm__relax();
        }
        sched_yield();
    } while (kmm__now() < end);
}

void kmm__spin_lock(pthread_mutex_t *lock)
{
    for (int k = 0; k < LOCK_TRIES; k++) {
        if (pthread_mutex_trylock(lock) == 0)
            return;
        for (int p = 0; p < POLLS_PER_TRY; p++)
            kmm__relax();
    }
    pthread_mutex_lock(lock);
}
