/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks and their order. Each array maps every element to the task that wrote it last and those
 * that have read it since; a new task follows the writers of what it touches and the readers of
 * what it writes.
 *
 * Two devices of one driver are ordered by events, so a successor may be issued once its
 * predecessor is; work on the host, and of another driver, starts only when the predecessor is
 * done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "memory/disk/spill.h"

/* ---- Tasks ---- */

/* A cleared task: a new one, or a spare one, which keeps its empty arrays. */
static kmm__task_t *task_obtain(kmm_runtime_t *rt)
{
    kmm__task_t *t = rt->spare_tasks;
    if (!t)
        return kmm__alloc(sizeof(*t));
    rt->spare_tasks = t->next;
    memset(t, 0, offsetof(kmm__task_t, successors));
    return t;
}

void kmm__tasks_free(kmm_runtime_t *rt)
{
    while (rt->spare_tasks) {
        kmm__task_t *t = rt->spare_tasks;
        rt->spare_tasks = t->next;
        free(t->successors);
        free(t->waits);
        free(t->copies);
        free(t->pinned);
        free(t->many);
        free(t);
    }
}

/* Room for accesses. */
static kmm__access_t *task_room(kmm__task_t *t, uint32_t count)
{
    if (count <= KMM__FEW_ACCESSES)
        return t->few;
    if (count > t->many_capacity) {
        free(t->many);
        t->many = kmm__alloc(count * sizeof(*t->many));
        t->many_capacity = count;
    }
    return t->many;
}

kmm__task_t *kmm__task_create(kmm_runtime_t *rt, kmm__work_t *work, uint32_t access_count)
{
    kmm__tasks_settle(rt);
    kmm__task_t *t = task_obtain(rt);
    t->refs = 1;
    t->sequence = rt->next_sequence++;
    t->runtime = rt;
    t->work = work;
    t->work_id = work->id;
    t->issue_left = 1; /* until kmm__dag_release */
    t->accesses = task_room(t, access_count);
    kmm__work_ref(work);
    rt->outstanding++;
    return t;
}

void kmm__task_place(kmm__task_t *t, kmm__device_t *device)
{
    kmm__task_place_on(t, device, (uint32_t)(t->sequence % device->lane_count));
}

void kmm__task_place_on(kmm__task_t *t, kmm__device_t *device, uint32_t lane)
{
    t->device = device;
    t->lane = lane;
    for (uint32_t k = 0; k < t->access_count; k++) {
        kmm__array_t *a = t->accesses[k].array;
        a->writers += t->accesses[k].mode != KMM_READ;
        if (!t->runtime->has_spaces)
            continue;
        a->unfinished[device->space]++;
        t->bytes += a->is_abstract ? 0 : (uint64_t)kmm__box_volume(&t->accesses[k].box);
    }
    kmm__order_push(device, t);
    t->ticket = kmm__ticket_create(
        device, device->space == KMM__HOST ? NULL : device->lanes[t->lane].stream);
}

void kmm__task_ref(kmm__task_t *t)
{
    t->refs++;
}

void kmm__task_unref(kmm__task_t *t)
{
    if (--t->refs)
        return;
    kmm_runtime_t *rt = t->runtime;
    kmm__ticket_unref(t->ticket);
    t->next = rt->spare_tasks;
    rt->spare_tasks = t;
}

void kmm__describe(const kmm__task_t *t, char *out, size_t size)
{
    const kmm__work_t *w = t->work;
    int n = 0;
    if (w->file)
        n = snprintf(out, size, "%s:%d: ", w->file, w->line);
    if (t->last_chunk > t->chunk)
        snprintf(out + n, size - (size_t)n, "%s: chunks %u to %u of %u", w->name, t->chunk,
                 t->last_chunk, w->chunk_count);
    else if (w->chunk_count > 1)
        snprintf(out + n, size - (size_t)n, "%s: chunk %u of %u", w->name, t->chunk,
                 w->chunk_count);
    else
        snprintf(out + n, size - (size_t)n, "%s", w->name);
}

/* ---- The map of users ---- */

static kmm__task_t **users_readers(kmm__users_t *u)
{
    return u->reader_capacity ? u->readers.many : u->readers.few;
}

kmm__task_t *const *kmm__users_readers(const kmm__users_t *u)
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

static void users_drop(void *ctx, void *value)
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

/* Drops the users that can no longer matter: all that are done, but for writers that failed. */
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
        users_purge(u); /* now and then, so that many readers cost no more than few */
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

/* What one item stores whole another may read. */
static bool is_fresh(const kmm__task_t *t, const kmm__access_t *a)
{
    bool fresh = a->mode == KMM_WRITE;
    for (uint32_t k = 0; fresh && k < t->access_count; k++)
        fresh = t->accesses[k].array != a->array || t->accesses[k].mode == KMM_WRITE;
    return fresh;
}

static kmm__users_t written_by(kmm__task_t *t, const kmm__access_t *a)
{
    return (kmm__users_t){.writer = t, .homes = 1u << t->device->space, .fresh = is_fresh(t, a)};
}

/* Somebody has written what they used. */
static void users_replace(kmm__users_t *u, const kmm__users_t *written)
{
    kmm__task_ref(written->writer);
    users_drop(NULL, u);
    *u = *written;
}

const kmm__map_ops_t kmm__users_ops = {sizeof(kmm__users_t), users_copy, users_drop, users_same,
                                       users_settle};

/* ---- Reads that are in no map yet ---- */

/* Drops those that can no longer matter. */
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

static void reads_push(kmm__reads_t *r, kmm__task_t *t, uint32_t access)
{
    enum { LEAST = 16 };
    bool full = r->count == r->capacity;
    if (full)
        reads_purge(r);
    if (full && r->count >= r->capacity / 2) { /* so that purging is rare */
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

void kmm__reads_free(kmm__array_t *a)
{
    for (uint32_t k = 0; k < a->reads.count; k++)
        kmm__task_unref(a->reads.list[k].task);
    free(a->reads.list);
    a->reads = (kmm__reads_t){0};
}

/* ---- Data that nobody will read ---- */

typedef struct dead {
    const kmm__device_t *device;
    uint64_t work;    /* of the tasks that will overwrite the frame */
    uint64_t first;   /* the least of their numbers */
    bool all_done;    /* nobody that has not finished touches it */
    bool overwritten; /* all of it, by tasks of one launch, and no task of that reads it */
    bool all_ready;   /* what those tasks follow is on streams */
} dead_t;

static int dead_part(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    dead_t *d = arg;
    const kmm__users_t *u = value;
    const kmm__task_t *w = u->writer;
    d->all_done &= !w || w->state == KMM__TASK_DONE;
    for (uint32_t k = 0; k < u->reader_count; k++) {
        d->all_done &= kmm__users_readers(u)[k]->state == KMM__TASK_DONE;
        d->overwritten &= w && kmm__users_readers(u)[k]->work_id != w->work_id;
    }
    d->overwritten &= w && u->fresh && w->state < KMM__TASK_ISSUED && !w->error &&
                      (d->work == 0 || d->work == w->work_id + 1);
    if (!d->overwritten)
        return 0;
    d->work = w->work_id + 1;
    d->first = w->sequence < d->first ? w->sequence : d->first;
    d->all_ready &= w->state == KMM__TASK_READY;
    return 0;
}

static bool touches(const kmm__access_t *a, int64_t begin, int64_t end)
{
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = kmm__layout_split(a->layout, begin, end, boxes);
    for (int b = 0; b < n; b++) {
        kmm__box_t common = kmm__box_intersect(&boxes[b], &a->box);
        if (!kmm__box_empty(&common))
            return true;
    }
    return false;
}

/* The same for reads of [begin, end) that are in no map. */
static void dead_reads(dead_t *d, const kmm__array_t *a, int64_t begin, int64_t end)
{
    for (uint32_t k = 0; k < a->reads.count && (d->all_done || d->overwritten); k++) {
        const kmm__task_t *t = a->reads.list[k].task;
        if (t->state == KMM__TASK_DONE ||
            !touches(&t->accesses[a->reads.list[k].access], begin, end))
            continue;
        d->all_done = false;
        d->overwritten &= d->work != t->work_id + 1;
    }
}

bool kmm__dag_is_dead(const kmm__frame_t *f)
{
    kmm__array_t *a = f->array;
    dead_t d = {f->device, 0, UINT64_MAX, true, true, true};
    kmm__box_t boxes[2 * KMM__DIMS];
    uint32_t elsewhere = 0;
    int64_t begin = (int64_t)(f->index * a->frame_bytes), end = begin + (int64_t)a->frame_bytes;
    end = end < (int64_t)a->bytes ? end : (int64_t)a->bytes;
    int n = kmm__layout_split(&a->users.layout, begin, end, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(a->users.map, &boxes[b], dead_part, &d);
    dead_reads(&d, a, begin, end);
    if (d.all_done)
        return a->is_forgotten;
    for (uint32_t s = 0; s < a->runtime->space_count; s++)
        elsewhere += s == f->device->space ? 0 : a->unfinished[s];
    return d.overwritten && (d.all_ready || (elsewhere == 0 && kmm__uses_next_is(f, d.first)));
}

/* ---- Edges ---- */

static bool on_streams(const kmm__task_t *t)
{
    return t->device->space != KMM__HOST;
}

/* Whether `to` can be issued once `from` is: a stream, or a ticket's waiter, does the rest. */
static bool follows_issue(const kmm__task_t *from, const kmm__task_t *to)
{
    return on_streams(from) && (!on_streams(to) || from->device->backend == to->device->backend);
}

static void task_push_wait(kmm__task_t *t, kmm__ticket_t *ticket)
{
    if (ticket->state == KMM__TICKET_DONE || ticket->stream == t->ticket->stream)
        return;
    t->waits = kmm__grow(t->waits, t->wait_count, &t->wait_capacity, sizeof(*t->waits));
    t->waits[t->wait_count++] = ticket;
    kmm__ticket_ref(ticket);
}

/* `from` has been issued and `to` may be as far as it is concerned. */
static void edge_after_issue(kmm__task_t *from, kmm__task_t *to)
{
    if (on_streams(to))
        task_push_wait(to, from->ticket);
    else if (from->ticket->state != KMM__TICKET_DONE)
        kmm__ticket_add_waiter(from->ticket, (kmm__edge_t){to, false});
}

static void edge_add(kmm__task_t *from, kmm__task_t *to, bool data)
{
    if (from == to)
        return;
    if (from->state == KMM__TASK_DONE) {
        if (from->error && data)
            to->error = KMM_E_POISONED;
        return;
    }
    if (from->successor_count && from->successors[from->successor_count - 1].to == to) {
        from->successors[from->successor_count - 1].data |= data;
        return;
    }
    from->successors = kmm__grow(from->successors, from->successor_count, &from->successor_capacity,
                                 sizeof(*from->successors));
    from->successors[from->successor_count++] = (kmm__edge_t){to, data};
    kmm__task_ref(to);
    to->finish_left++;
    if (from->state == KMM__TASK_ISSUED && follows_issue(from, to))
        edge_after_issue(from, to);
    else
        to->issue_left++;
}

/* ---- Following and recording ---- */

typedef struct follow {
    kmm__task_t *task;
    const kmm__access_t *access;
    bool siblings_only;
    int error;
} follow_t;

/* Another chunk of the same launch writes what this one writes. Hulls may overlap where the
 * elements do not: then the chunks take turns. */
static void follow_sibling(follow_t *f, kmm__task_t *writer)
{
    if (f->access->exact && writer->exact)
        f->error = KMM_E_OVERLAP;
    edge_add(writer, f->task, true);
}

static int follow_part(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    follow_t *f = arg;
    const kmm__users_t *u = value;
    bool writes = f->access->mode != KMM_READ, reads = f->access->mode != KMM_WRITE;
    bool sibling = u->writer && u->writer->work_id == f->task->work_id;
    if (sibling && writes && u->writer != f->task)
        follow_sibling(f, u->writer);
    if (f->siblings_only)
        return 0;
    if (u->writer && !sibling)
        edge_add(u->writer, f->task, reads);
    kmm__task_t *const *readers = kmm__users_readers(u);
    for (uint32_t k = 0; writes && k < u->reader_count; k++)
        if (readers[k]->work_id != f->task->work_id)
            edge_add(readers[k], f->task, false);
    return 0;
}

static int enter_reader(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    users_add_reader(value, arg);
    return 0;
}

/* `writer` is about to write: who reads what matters from here on. What it reads itself matters to
 * the next one. */
static void reads_enter(kmm__array_t *a, const kmm__task_t *writer)
{
    kmm__reads_t *r = &a->reads;
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
                    : kmm__shape_map_boxes(&a->users, &kmm__users_ops, NULL,
                                           &t->accesses[r->list[k].access], boxes);
        for (int b = 0; b < n; b++)
            kmm__map_update(a->users.map, &boxes[b], enter_reader, t);
        kmm__task_unref(t);
    }
    r->count = kept;
}

/* What following an access came to. */
static int follow_result(const follow_t *f)
{
    const kmm__task_t *t = f->task;
    char where[256];
    if (!f->error)
        return 0;
    kmm__describe(t, where, sizeof(where));
    return kmm__error_set(
        f->error, "%s: argument %s: another chunk of this launch writes the same elements", where,
        f->access->item < t->work->item_count ? t->work->item_text[f->access->item] : "?");
}

/* Whether t, which reads there, can neither follow anybody nor has to be noted in the map at once:
 * nobody writes the array now, its writers have not failed, and no chunks are placed by who reads
 * it. */
static bool reads_freely(const kmm__task_t *t, const kmm__access_t *a)
{
    const kmm__array_t *x = a->array;
    return a->mode == KMM_READ && x->writers == 0 && !x->failed &&
           (x->is_abstract || t->runtime->visible_count < 2);
}

static int follow(kmm__task_t *t, bool siblings_only)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        follow_t f = {t, a, siblings_only, 0};
        kmm__box_t boxes[2 * KMM__DIMS];
        if ((siblings_only && a->mode == KMM_READ) || reads_freely(t, a))
            continue;
        if (a->mode != KMM_READ)
            reads_enter(a->array, t);
        int n = kmm__shape_map_boxes(&a->array->users, &kmm__users_ops, NULL, a, boxes);
        if (n < 0)
            return n;
        for (int b = 0; b < n; b++)
            kmm__map_visit(a->array->users.map, &boxes[b], follow_part, &f);
        if (f.error)
            return follow_result(&f);
    }
    return 0;
}

int kmm__dag_follow(kmm__task_t *t)
{
    return follow(t, false);
}

int kmm__dag_conflicts(kmm__task_t *t)
{
    return follow(t, true);
}

static bool is_home(const kmm__task_t *t, const kmm__users_t *u)
{
    return u->homes >> t->device->space & 1;
}

static int away_from_home(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    return !is_home(arg, value);
}

static int make_home(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    ((kmm__users_t *)value)->homes |= 1u << ((const kmm__task_t *)arg)->device->space;
    return 0;
}

/* Notes that t reads what access k says, and where: chunks are placed by that. */
static int record_read(kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = t->runtime->has_spaces && !reads_freely(t, a)
                ? kmm__shape_map_boxes(&a->array->users, &kmm__users_ops, NULL, a, boxes)
                : 0;
    for (int b = 0; b < n; b++)
        if (kmm__map_visit(a->array->users.map, &boxes[b], away_from_home, t))
            kmm__map_update(a->array->users.map, &boxes[b], make_home, t);
    reads_push(&a->array->reads, t, k);
    return n < 0 ? n : 0;
}

void kmm__dag_record(kmm__task_t *t, bool writes)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        kmm__box_t boxes[2 * KMM__DIMS];
        if ((a->mode != KMM_READ) != writes)
            continue;
        if (!writes) {
            record_read(t, k);
            continue;
        }
        int n = kmm__shape_map_boxes(&a->array->users, &kmm__users_ops, NULL, a, boxes);
        kmm__users_t written = written_by(t, a);
        for (int b = 0; b < n; b++)
            kmm__map_assign(a->array->users.map, &boxes[b], &written);
    }
}

typedef struct enter {
    follow_t follow;
    kmm__users_t written;
    uint32_t parts;
} enter_t;

static int enter_part(void *arg, const kmm__box_t *part, void *value)
{
    enter_t *e = arg;
    follow_part(&e->follow, part, value);
    e->parts++;
    users_replace(value, &e->written);
    return 0;
}

typedef struct enter_read {
    follow_t follow;
    bool away;
} enter_read_t;

static int enter_read_part(void *arg, const kmm__box_t *part, const void *value)
{
    enter_read_t *e = arg;
    e->away |= !is_home(e->follow.task, value);
    return follow_part(&e->follow, part, value);
}

static int enter_read(kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    if (reads_freely(t, a)) {
        reads_push(&a->array->reads, t, k);
        return 0;
    }
    enter_read_t e = {{t, a, false, 0}, false};
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = kmm__shape_map_boxes(&a->array->users, &kmm__users_ops, NULL, a, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(a->array->users.map, &boxes[b], enter_read_part, &e);
    for (int b = 0; b < n && e.away && t->runtime->has_spaces; b++)
        kmm__map_update(a->array->users.map, &boxes[b], make_home, t);
    if (n >= 0)
        reads_push(&a->array->reads, t, k);
    return n < 0 ? n : 0;
}

static int enter_write(kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    enter_t e = {{t, a, false, 0}, written_by(t, a), 0};
    kmm__box_t boxes[2 * KMM__DIMS];
    if (a->array->reads.count)
        reads_enter(a->array, t);
    int n = kmm__shape_map_boxes(&a->array->users, &kmm__users_ops, NULL, a, boxes);
    kmm__map_t *map = a->array->users.map; /* which the call before may have made anew */
    for (int b = 0; b < n; b++) {
        e.parts = 0;
        kmm__map_update(map, &boxes[b], enter_part, &e);
        if (e.parts > 1)
            kmm__map_assign(map, &boxes[b], &e.written);
    }
    return n < 0 ? n : follow_result(&e.follow);
}

/* What reads comes before what only stores: whose values t needs shows no more when t itself is the
 * writer. */
int kmm__dag_enter(kmm__task_t *t)
{
    int result = 0;
    bool stores = false;
    for (uint32_t k = 0; k < t->access_count; k++) {
        int error = t->accesses[k].mode == KMM_READ ? enter_read(t, k) : 0;
        result = result ? result : error;
    }
    for (uint32_t k = 0; k < t->access_count; k++) {
        int error = t->accesses[k].mode == KMM_UPDATE ? enter_write(t, k) : 0;
        stores |= t->accesses[k].mode == KMM_WRITE;
        result = result ? result : error;
    }
    for (uint32_t k = 0; stores && k < t->access_count; k++) {
        int error = t->accesses[k].mode == KMM_WRITE ? enter_write(t, k) : 0;
        result = result ? result : error;
    }
    return result;
}

static void issue_left_fall(kmm__task_t *t)
{
    if (--t->issue_left)
        return;
    t->state = KMM__TASK_READY;
    kmm__ready_push(t);
}

void kmm__dag_release(kmm__task_t *t)
{
    issue_left_fall(t);
}

void kmm__task_issued(kmm__task_t *t)
{
    t->state = KMM__TASK_ISSUED;
    if (t->device->backend->precede)
        kmm__line_issued(t);
    for (uint32_t k = 0; k < t->successor_count; k++) {
        kmm__task_t *to = t->successors[k].to;
        if (!follows_issue(t, to))
            continue;
        edge_after_issue(t, to);
        issue_left_fall(to);
    }
}

/* ---- Completion ---- */

static void accesses_drop(kmm__task_t *t)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        t->accesses[k].array->writers -= t->accesses[k].mode != KMM_READ;
        kmm__array_unref(t->accesses[k].array);
    }
    t->accesses = NULL;
    t->access_count = 0;
}

void kmm__tasks_settle(kmm_runtime_t *rt)
{
    for (kmm__task_t *t; (t = rt->left_over);) {
        kmm__work_t *w = t->left;
        rt->left_over = t->next_left;
        t->left = NULL;
        accesses_drop(t);
        kmm__work_unref(w);
    }
}

/* Memory that the program has freed is not kept waiting. */
static void work_leave(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    kmm__work_t *w = t->work;
    t->work = NULL;
    if (t->is_plain && rt->forgotten == 0) {
        t->left = w;
        t->next_left = rt->left_over;
        rt->left_over = t;
        return;
    }
    for (uint32_t k = 0; rt->has_spaces && k < t->access_count; k++)
        t->accesses[k].array->unfinished[t->device->space]--;
    accesses_drop(t);
    kmm__work_unref(w);
}

static void task_drop_parts(kmm__task_t *t)
{
    for (uint32_t k = 0; k < t->wait_count; k++)
        kmm__ticket_unref(t->waits[k]);
    for (uint32_t k = 0; k < t->copy_count; k++) {
        kmm__ticket_done(t->copies[k]);
        kmm__ticket_unref(t->copies[k]);
    }
    t->successor_count = t->wait_count = t->copy_count = 0;
}

static void task_done(kmm__task_t *t);

void kmm__task_finish_left_fall(kmm__task_t *t)
{
    if (--t->finish_left == 0 && t->finished)
        task_done(t);
}

static void task_done(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->device->runtime;
    bool was_issued = t->state == KMM__TASK_ISSUED;
    t->state = KMM__TASK_DONE; /* gets no successors any more */
    for (uint32_t k = 0; t->error && k < t->access_count; k++)
        t->accesses[k].array->failed |= t->accesses[k].mode != KMM_READ;
    kmm__ticket_done(t->ticket);
    kmm__uses_cancel(t);
    kmm__frames_release(t);
    kmm__spill_release_task(t);
    kmm__line_leave(t);
    rt->outstanding--;
    if (!t->work->operation && !t->error)
        t->device->chunks += t->last_chunk - t->chunk + 1;
    for (uint32_t k = 0; k < t->successor_count; k++) {
        kmm__task_t *to = t->successors[k].to;
        if (t->error && t->successors[k].data && !to->error)
            to->error = KMM_E_POISONED;
        if (!(was_issued && follows_issue(t, to)))
            issue_left_fall(to);
        kmm__task_finish_left_fall(to);
        kmm__task_unref(to);
    }
    task_drop_parts(t);
    work_leave(t);
    if (t->awaited || rt->outstanding == 0 ||
        (rt->throttled && rt->outstanding == kmm__resume_at(rt)))
        pthread_cond_broadcast(&rt->progress);
    kmm__task_unref(t);
}

void kmm__task_finish(kmm__task_t *t, int error)
{
    if (error && !t->error)
        t->error = error;
    t->finished = true;
    if (t->finish_left == 0)
        task_done(t);
}
