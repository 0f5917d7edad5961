/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foresight: when each frame is used next. Eviction takes the frame that is needed farthest in the
 * future (Belady, "A study of replacement algorithms for a virtual-storage computer", 1966).
 *
 * Queued tasks are known. When a task is submitted, each frame that it will touch adds it to a
 * queue. Beyond the queue, the past is expected to repeat. If a launch came again after P tasks, it
 * is expected again every P tasks, and its frames are expected with it. That helps programs that
 * wait after each step of an iteration, and so have no queue.
 */
#include "memory/residency/foresight.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "memory/residency/lookahead.h"
#include "memory/residency/reuse.h"

/* ---- The queue of a frame: the tasks that will touch it, in the order of ranks ---- */

static kmm__use_t *use_at(const kmm__uses_t *u, uint32_t k)
{
    return &u->queue[(u->head + k) & (u->capacity - 1)];
}

static bool comes_before(const kmm__use_t *a, const kmm__use_t *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->sequence < b->sequence;
}

static void queue_grow(kmm__uses_t *u)
{
    uint32_t capacity = u->capacity ? 2 * u->capacity : 4;
    kmm__use_t *queue = kmm__alloc(capacity * sizeof(*queue));
    for (uint32_t k = 0; k < u->count; k++)
        queue[k] = *use_at(u, k);
    free(u->queue);
    u->queue = queue;
    u->capacity = capacity;
    u->head = 0;
}

/* Adds a part that is read: what lies between the two may count as read. */
static void part_read(kmm__part_t *p, const kmm__part_t *more)
{
    if (more->end == 0)
        return;
    p->begin = p->end && p->begin < more->begin ? p->begin : more->begin;
    p->end = p->end > more->end ? p->end : more->end;
}

/* Adds a part that is stored. If the two do not touch, only one of them counts. */
static void part_stored(kmm__part_t *p, const kmm__part_t *more)
{
    if (more->end == 0 || (p->end && (more->begin > p->end || p->begin > more->end)))
        return;
    part_read(p, more);
}

/* Uses are mostly pushed in order, so the loop mostly ends at once. A task that touches the frame
 * again has one use of it. */
static void queue_push(kmm__uses_t *u, const kmm__use_t *use)
{
    if (u->count == u->capacity)
        queue_grow(u);
    uint32_t k = u->count;
    while (k > 0 && comes_before(use, use_at(u, k - 1)))
        k--;
    if (k > 0 && use_at(u, k - 1)->sequence == use->sequence) {
        part_read(&use_at(u, k - 1)->read, &use->read);
        part_stored(&use_at(u, k - 1)->stored, &use->stored);
        return;
    }
    for (uint32_t j = u->count++; j > k; j--)
        *use_at(u, j) = *use_at(u, j - 1);
    *use_at(u, k) = *use;
}

/* Tasks are mostly issued in order, so the loop mostly finds the first one. */
static bool queue_remove(kmm__uses_t *u, const kmm__task_t *t)
{
    uint32_t k = 0;
    while (k < u->count && use_at(u, k)->sequence != t->sequence)
        k++;
    if (k == u->count)
        return false;
    for (; k > 0; k--)
        *use_at(u, k) = *use_at(u, k - 1);
    u->head = (u->head + 1) & (u->capacity - 1);
    u->count--;
    return true;
}

/* ---- What tasks will touch ---- */

/* One access, while its frames are visited. */
typedef struct expecting {
    kmm__frame_t *frames; /* the array's table */
    const kmm__array_t *array;
    kmm__use_t use;
    uint64_t count;     /* uses so far */
    bool reads, stores; /* it reads some of its region; it stores all of it anew */
} expecting_t;

/* True if access k of t stores every element of its region, and t reads none of the array. */
static bool stores_anew(const kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    bool anew = a->mode == KMM_WRITE && a->exact;
    for (uint32_t j = 0; anew && j < t->access_count; j++)
        anew = j == k || t->accesses[j].array != a->array;
    return anew;
}

/* Adds the use to the frames of bytes [begin, end), of which `all` are accessed, or only some. */
static void expect_bytes(expecting_t *e, int64_t begin, int64_t end, bool all)
{
    int64_t size = (int64_t)e->array->frame_bytes;
    for (int64_t k = begin / size; k * size < end; k++) {
        int64_t from = begin > k * size ? begin : k * size,
                to = end < (k + 1) * size ? end : (k + 1) * size;
        kmm__part_t part = {(uint64_t)(from - k * size), (uint64_t)(to - k * size)}, none = {0, 0};
        e->use.read = e->reads ? part : none;
        e->use.stored = e->stores && all ? part : none;
        queue_push(&e->frames[k].uses, &e->use);
        e->count++;
    }
}

static int expect_rows(void *arg, const kmm__rows_t *rows)
{
    expecting_t *e = arg;
    bool all = rows->count == 1 || rows->pitch == rows->width;
    if (all || rows->pitch <= (int64_t)e->array->frame_bytes) {
        expect_bytes(e, rows->offset, rows->offset + (rows->count - 1) * rows->pitch + rows->width,
                     all);
        return 0;
    }
    for (int64_t k = 0; k < rows->count; k++)
        expect_bytes(e, rows->offset + k * rows->pitch,
                     rows->offset + k * rows->pitch + rows->width, true);
    return 0;
}

static void expect_access(kmm__task_t *t, uint32_t k)
{
    const kmm__access_t *a = &t->accesses[k];
    expecting_t e = {kmm__frames_table(a->array, t->device),
                     a->array,
                     {t->rank, t->sequence, {0, 0}, {0, 0}},
                     0,
                     a->mode != KMM_WRITE,
                     stores_anew(t, k)};
    if (a->array->residence[t->device->index].is_packed)
        return;
    if (a->layout->dims > 1)
        kmm__layout_rows(a->layout, &a->box, expect_rows, &e);
    else if (a->box.lo[0] < a->box.hi[0])
        expect_bytes(&e, a->box.lo[0], a->box.hi[0], true);
    kmm__task_keep(t, e.count * sizeof(e.use));
}

static void cancel_frame(void *ctx, kmm__frame_t *f)
{
    queue_remove(&f->uses, ctx);
}

/* Notes no uses if all frames have room, because nothing will be evicted then; and none of a task
 * that has failed, because it will not run: what it was to overwrite may still be read. */
void kmm__uses_expect(kmm__task_t *t)
{
    struct kmm__device_memory *m = t->device->memory;
    if (t->device->space == KMM__HOST || t->error)
        return;
    t->residency.is_expected = !kmm__frames_fit(t->device);
    t->residency.is_unforeseen = !t->residency.is_expected;
    m->unforeseen += t->residency.is_unforeseen;
    if (t->residency.is_unforeseen)
        return;
    kmm__reuse_rank(t);
    kmm__lookahead_begin(t);
    for (uint32_t k = 0; k < t->access_count; k++)
        if (!t->accesses[k].array->object.is_abstract)
            expect_access(t, k);
}

void kmm__uses_met(kmm__task_t *t)
{
    t->device->memory->unforeseen -= t->residency.is_unforeseen;
    t->residency.is_expected = t->residency.is_unforeseen = false;
}

void kmm__uses_cancel(kmm__task_t *t)
{
    for (uint32_t k = 0; t->residency.is_expected && k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (!a->array->object.is_abstract)
            kmm__frames_of(a->array, t->device, a->layout, &a->box, cancel_frame, t);
    }
    kmm__uses_met(t);
}

void kmm__uses_drop(kmm__uses_t *u, const kmm__task_t *t)
{
    queue_remove(u, t);
}

void kmm__uses_free(kmm__frame_t *f)
{
    free(f->uses.queue);
    f->uses = (kmm__uses_t){0};
}

/* Parts of a frame that queued tasks have stored anew, disjoint, and not touching each other. */
enum { PARTS = 8 };
typedef struct parts {
    kmm__part_t part[PARTS];
    int count;
} parts_t;

static bool parts_have(const parts_t *s, const kmm__part_t *p)
{
    bool has = p->end == 0;
    for (int k = 0; k < s->count && !has; k++)
        has = s->part[k].begin <= p->begin && p->end <= s->part[k].end;
    return has;
}

/* Leaves the part out if there are PARTS others. */
static void parts_add(parts_t *s, kmm__part_t p)
{
    int kept = 0;
    for (int k = 0; k < s->count && p.end; k++) {
        if (s->part[k].begin <= p.end && p.begin <= s->part[k].end)
            part_read(&p, &s->part[k]);
        else
            s->part[kept++] = s->part[k];
    }
    s->count = p.end ? kept : s->count;
    if (p.end && s->count < PARTS)
        s->part[s->count++] = p;
}

/* The queue is an order in which each task comes behind all that it follows. So a task reads what
 * the frame holds now unless tasks before it in the queue have stored it. */
bool kmm__uses_overwrite(const kmm__frame_t *f, uint64_t *last)
{
    const kmm__uses_t *u = &f->uses;
    const kmm__array_t *a = f->array;
    uint64_t begin = f->index * a->frame_bytes, left = a->bytes - begin;
    const kmm__part_t all = {0, left < a->frame_bytes ? left : a->frame_bytes};
    parts_t stored = {.count = 0};
    *last = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        const kmm__use_t *use = use_at(u, k);
        if ((k == 0 && use->stored.end == 0) || !parts_have(&stored, &use->read))
            return false;
        parts_add(&stored, use->stored);
        *last = use->sequence > *last ? use->sequence : *last;
        if (parts_have(&stored, &all))
            return true;
    }
    return false;
}

bool kmm__uses_before(const kmm__frame_t *f, uint64_t last)
{
    bool is = false;
    for (uint32_t k = 0; k < f->uses.count && !is; k++)
        is = use_at(&f->uses, k)->sequence <= last;
    return is;
}

bool kmm__uses_none(const kmm__frame_t *f)
{
    return f->uses.count == 0;
}

/* ---- Launches that come again ---- */

uint32_t kmm__pattern_note(kmm_runtime_t *rt, uint64_t identity)
{
    uint32_t k = (uint32_t)(identity % KMM__PATTERNS);
    kmm__pattern_t *p = &rt->memory->patterns[k];
    if (p->identity != identity)
        *p = (kmm__pattern_t){.identity = identity};
    else
        p->period = rt->tasks->next_sequence - p->last;
    p->last = rt->tasks->next_sequence;
    return k;
}

/* ---- The next use ---- */

/* Results from UNKNOWN on are guesses: they sort after known and expected uses, the longest unused
 * frame last. */
static const uint64_t UNKNOWN = UINT64_C(1) << 58;

uint64_t kmm__uses_next(const kmm_runtime_t *rt, const kmm__frame_t *f, uint64_t now)
{
    const kmm__uses_t *u = &f->uses;
    uint64_t period = rt->memory->patterns[u->launch].period, next = UINT64_MAX;
    if (u->count)
        return use_at(u, 0)->rank;
    for (uint32_t k = 0; k < KMM__PAST_USES && period && u->past[k]; k++)
        if (u->past[k] + period > now && u->past[k] + period < next)
            next = u->past[k] + period;
    return next < UNKNOWN ? next : UNKNOWN + (rt->tasks->next_sequence - u->past[0]);
}

bool kmm__uses_is_known(uint64_t next)
{
    return next < UNKNOWN;
}
