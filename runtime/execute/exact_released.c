/* SPDX-License-Identifier: Apache-2.0 */
/* What threads release that run no chunk. */
#include "execute/exact_released.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "task/work.h"

typedef struct block {
    uintptr_t begin, end;
} block_t;

struct kmm__released {
    kmm__released_t *next;
    kmm__work_t *work;
    block_t *at;
    uint32_t capacity;
    _Atomic uint32_t count;
};

/* Guards the list and its members. No other lock is taken while it is held, and no memory that a
 * chunk has used is released. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kmm__released_t *list;
static _Atomic uint32_t list_count;

static void end_work(kmm__work_t *w)
{
    kmm__released_t *found = NULL;
    pthread_mutex_lock(&lock);
    for (kmm__released_t **at = &list; *at && !found;)
        if ((*at)->work == w) {
            found = *at;
            *at = found->next;
            list_count--;
        } else
            at = &(*at)->next;
    pthread_mutex_unlock(&lock);
    free(found ? found->at : NULL);
}

kmm__released_t *kmm__released_make(kmm__work_t *w)
{
    kmm__released_t *r = kmm__work_take(w, sizeof(*r));
    r->work = w;
    w->end = end_work;
    pthread_mutex_lock(&lock);
    r->next = list;
    list = r;
    list_count++;
    pthread_mutex_unlock(&lock);
    return r;
}

void kmm__released_note(const kmm__released_t *own, uintptr_t begin, uintptr_t end)
{
    if (!list_count)
        return;
    pthread_mutex_lock(&lock);
    for (kmm__released_t *r = list; r; r = r->next) {
        if (r == own)
            continue;
        r->at = kmm__grow(r->at, r->count, &r->capacity, sizeof(*r->at));
        r->at[r->count] = (block_t){begin, end};
        r->count++;
    }
    pthread_mutex_unlock(&lock);
}

bool kmm__released_next(kmm__released_t *r, uintptr_t *begin, uintptr_t *end)
{
    bool found = false;
    if (!r->count)
        return false;
    pthread_mutex_lock(&lock);
    if (r->count) {
        const block_t b = r->at[r->count - 1];
        r->count--;
        *begin = b.begin;
        *end = b.end;
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}
