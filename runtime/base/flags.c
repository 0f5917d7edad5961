/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps floating-point flags for threads until they have waited for their chunks. */
#include "base/flags.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"

/* What is kept for a thread. */
typedef struct kept {
    int64_t thread;
    int flags;
} kept_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept_t *list; /* `count` entries, one for each thread; grows with threads that never wait */
static uint32_t capacity;
static _Atomic uint32_t count; /* changed only by who holds the lock */

void kmm__flags_note(int64_t thread, int flags)
{
    uint32_t k = 0;
    pthread_mutex_lock(&lock);
    while (k < count && list[k].thread != thread)
        k++;
    if (k == count) {
        list = kmm__grow(list, k, &capacity, sizeof(*list));
        list[k] = (kept_t){.thread = thread};
        count = k + 1;
    }
    list[k].flags |= flags;
    pthread_mutex_unlock(&lock);
}

static int take(int64_t thread)
{
    int flags = 0;
    pthread_mutex_lock(&lock);
    for (uint32_t k = 0; k < count; k++)
        if (list[k].thread == thread) {
            flags = list[k].flags;
            list[k] = list[count - 1];
            count--;
            break;
        }
    pthread_mutex_unlock(&lock);
    return flags;
}

static _Thread_local int depth; /* of begin and end */

void kmm__flags_settle(int64_t thread)
{
    const int flags =
        !depth && atomic_load_explicit(&count, memory_order_relaxed) ? take(thread) : 0;
    if (flags)
        kmm__flags_set(kmm__flags_now() | flags);
}

int kmm__flags_begin(void)
{
    depth++;
    return kmm__flags_now();
}

void kmm__flags_end(int flags, int64_t thread)
{
    depth--;
    kmm__flags_change(flags);
    kmm__flags_settle(thread);
}
