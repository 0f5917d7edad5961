/* SPDX-License-Identifier: Apache-2.0 */
/* The users of an object. Reads are first kept in a list, where a read costs one entry however its
 * boxes lie. They enter the map only when a later task is about to write the object. */
#include "task/users.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* ---- Users ---- */

static kmm__task_t **users_readers(kmm__users_t *u)
{
    return u->reader_capacity ? u->readers.many : u->readers.few;
}

static void users_copy(void *ctx, void *dst, const void *src)
{
    (void)ctx;
    kmm__users_t *to = dst;
    memcpy(to, src, sizeof(*to));
    if (to->writer)
        kmm__task_ref(to->writer);
    if (to->reader_capacity) {
        to->readers.many = kmm__alloc(to->reader_capacity * sizeof(*to->readers.many));
        memcpy(to->readers.many, ((const kmm__users_t *)src)->readers.many,
               to->reader_count * sizeof(*to->readers.many));
    }
    for (uint32_t k = 0; k < to->reader_count; k++)
        kmm__task_ref(users_readers(to)[k]);
}

void kmm__users_drop(void *ctx, void *value)
{
    (void)ctx;
    kmm__users_t *u = value;
    if (u->writer)
        kmm__task_unref(u->writer);
    for (uint32_t k = 0; k < u->reader_count; k++)
        kmm__task_unref(users_readers(u)[k]);
    if (u->reader_capacity)
        free(u->readers.many);
}

static bool users_same(void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const kmm__users_t *x = a, *y = b;
    return x->writer == y->writer && x->homes == y->homes && x->fresh == y->fresh &&
           x->reader_count == y->reader_count &&
           (x->reader_count == 0 || !memcmp(kmm__users_readers(x), kmm__users_readers(y),
                                            x->reader_count * sizeof(kmm__task_t *)));
}

/* Drops users that can no longer matter: tasks that are done, but for writers that failed. */
static void users_purge(kmm__users_t *u)
{
    uint32_t kept = 0;
    kmm__task_t **readers = users_readers(u);
    if (u->writer && u->writer->state == KMM__TASK_DONE && !u->writer->error) {
        kmm__task_unref(u->writer);
        u->writer = NULL;
    }
    for (uint32_t k = 0; k < u->reader_count; k++) {
        if (readers[k]->state == KMM__TASK_DONE)
            kmm__task_unref(readers[k]);
        else
            readers[kept++] = readers[k];
    }
    u->reader_count = kept;
}

static void users_settle(void *ctx, void *value)
{
    (void)ctx;
    users_purge(value);
}

static void users_add_reader(kmm__users_t *u, kmm__task_t *t)
{
    enum { FEW = sizeof(u->readers.few) / sizeof(u->readers.few[0]) };
    if (u->reader_count == (u->reader_capacity ? u->reader_capacity : FEW))
        users_purge(u); /* only when full, so that the cost for each reader is constant */
    if (u->reader_count && users_readers(u)[u->reader_count - 1] == t)
        return;
    if (u->reader_capacity == 0 && u->reader_count == FEW) {
        kmm__task_t **many = kmm__alloc(4 * FEW * sizeof(*many));
        memcpy(many, u->readers.few, sizeof(u->readers.few));
        u->readers.many = many;
        u->reader_capacity = 4 * FEW;
    } else if (u->reader_capacity) {
        u->readers.many = kmm__grow(u->readers.many, u->reader_count, &u->reader_capacity,
                                    sizeof(*u->readers.many));
    }
    users_readers(u)[u->reader_count++] = t;
    kmm__task_ref(t);
}

const kmm__map_ops_t kmm__users_ops = {sizeof(kmm__users_t), users_copy, kmm__users_drop,
                                       users_same, users_settle};

/* ---- Reads that are in no map yet ---- */

/* Drops reads of tasks that are done. */
static void reads_purge(kmm__reads_t *r)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < r->count; k++) {
        if (r->list[k].task->state == KMM__TASK_DONE)
            kmm__task_unref(r->list[k].task);
        else
            r->list[kept++] = r->list[k];
    }
    r->count = kept;
}

void kmm__reads_push(kmm__reads_t *r, kmm__task_t *t, uint32_t access)
{
    enum { LEAST = 16 };
    bool full = r->count == r->capacity;
    if (full)
        reads_purge(r);
    if (full && r->count >= r->capacity / 2) { /* purging again soon would free little */
        r->capacity = r->capacity ? 2 * r->capacity : LEAST;
        kmm__read_t *grown = kmm__alloc(r->capacity * sizeof(*grown));
        if (r->count)
            memcpy(grown, r->list, r->count * sizeof(*grown));
        free(r->list);
        r->list = grown;
    }
    r->list[r->count++] = (kmm__read_t){t, access};
    kmm__task_ref(t);
}

static int enter_reader(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    users_add_reader(value, arg);
    return 0;
}

void kmm__reads_enter(kmm__object_t *o, const kmm__task_t *writer)
{
    kmm__reads_t *r = &o->reads;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < r->count; k++) {
        kmm__task_t *t = r->list[k].task;
        kmm__box_t boxes[2 * KMM__DIMS];
        if (t == writer) {
            r->list[kept++] = r->list[k];
            continue;
        }
        int n = t->state == KMM__TASK_DONE
                    ? 0
                    : kmm__object_boxes(o, &t->accesses[r->list[k].access], boxes);
        for (int b = 0; b < n; b++)
            kmm__map_update(o->users.map, &boxes[b], enter_reader, t);
        kmm__task_unref(t);
    }
    r->count = kept;
}

/* ---- Making and end ---- */

void kmm__object_init(kmm__object_t *o, const kmm__layout_t *flat)
{
    kmm__users_t nobody = {0};
    kmm__box_t whole = kmm__layout_whole(flat);
    o->users = (kmm__shape_map_t){*flat, kmm__map_create(&kmm__users_ops, NULL, &whole, &nobody)};
}

void kmm__object_home(kmm__object_t *o, uint32_t space)
{
    const kmm__users_t users = {.homes = 1u << space};
    const kmm__box_t all = kmm__layout_whole(&o->users.layout);
    kmm__map_assign(o->users.map, &all, &users);
}

void kmm__object_deinit(kmm__object_t *o)
{
    for (uint32_t k = 0; k < o->reads.count; k++)
        kmm__task_unref(o->reads.list[k].task);
    free(o->reads.list);
    o->reads = (kmm__reads_t){0};
    if (o->users.map)
        kmm__map_destroy(o->users.map);
    o->users.map = NULL;
}
