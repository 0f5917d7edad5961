/* SPDX-License-Identifier: Apache-2.0 */
/* The check of chunks against each other. */
#include "execute/exact_order.h"

#include "execute/exact_text.h"

#define SEVERAL UINT32_MAX

/* Which chunks have used a byte of an array. Chunks count from 1; 0: none. */
typedef struct users {
    uint32_t storer, reader; /* reader may be SEVERAL */
} users_t;

/* Of one array of a launch. Locked. */
struct kmm__work_order {
    struct kmm__work_order *next;
    const kmm__array_t *array;
    users_t *users; /* of each byte */
};

/* A chunk's use of a byte, with another chunk's. */
typedef struct conflict {
    int64_t at; /* byte of the array; -1: there is none */
    bool reads; /* the chunk reads what the other one stores; else the other way round */
    uint32_t other;
} conflict_t;

/* ---- Before the chunk ---- */

void kmm__exact_order_open(kmm__check_t *c)
{
    const kmm__task_t *t = c->task;
    for (uint32_t k = 0; k < c->count && t->work->function && t->work->chunk_count > 1; k++) {
        bool is_read = false, is_written = false;
        for (uint32_t i = 0; i < t->access_count; i++) {
            const kmm__access_t *a = &t->accesses[i];
            if (a->array != c->shadows[k].array)
                continue;
            is_read |= a->mode == KMM_READ;
            is_written |= a->mode == KMM_WRITE || a->mode == KMM_UPDATE;
        }
        c->shadows[k].is_ordered = is_read && is_written;
    }
}

/* ---- The end of the chunk ---- */

static struct kmm__work_order *order_of(kmm__work_t *w, const kmm__shadow_t *s)
{
    struct kmm__work_order *o = w->orders;
    while (o && o->array != s->array)
        o = o->next;
    if (o)
        return o;
    o = kmm__work_take(w, sizeof(*o));
    *o = (struct kmm__work_order){.next = w->orders, .array = s->array};
    o->users = kmm__work_take(w, s->bytes * sizeof(users_t));
    return w->orders = o;
}

static void use_byte(users_t *u, int64_t at, unsigned may, uint32_t chunk, conflict_t *found)
{
    if (may & KMM__STORED) {
        if (u->reader && u->reader != chunk && found->at < 0)
            *found = (conflict_t){at, false, u->reader};
        u->storer = chunk;
    }
    if (may & KMM__LOADED) {
        if (u->storer && u->storer != chunk && found->at < 0)
            *found = (conflict_t){at, true, u->storer};
        u->reader = u->reader && u->reader != chunk ? SEVERAL : chunk;
    }
}

static conflict_t find_conflict(kmm__check_t *c, const kmm__shadow_t *s)
{
    conflict_t found = {.at = -1};
    pthread_mutex_lock(&c->task->runtime->lock);
    struct kmm__work_order *o = order_of(c->task->work, s);
    for (size_t b = 0; b < s->bytes; b++)
        if (s->may[b] & (KMM__STORED | KMM__LOADED))
            use_byte(&o->users[b], (int64_t)b, s->may[b], c->task->part.chunk + 1, &found);
    pthread_mutex_unlock(&c->task->runtime->lock);
    return found;
}

void kmm__exact_order_report(kmm__check_t *c)
{
    for (uint32_t k = 0; k < c->count; k++) {
        if (!c->shadows[k].is_ordered)
            continue;
        conflict_t found = find_conflict(c, &c->shadows[k]);
        int64_t other = found.other == SEVERAL ? -1 : (int64_t)found.other - 1;
        if (found.at >= 0)
            kmm__exact_say_order(c, &c->shadows[k], found.at, found.reads, other);
    }
}
