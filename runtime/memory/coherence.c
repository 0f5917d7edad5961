/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which spaces hold the newest value of which elements. The map changes when work is issued, so it
 * runs ahead of the devices: ready[s] says what must be done before space s really holds the value.
 */
#include "memory/coherence.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/disk/spill.h"
#include "memory/residency/dead.h"
#include "memory/residency/frame.h"

/* ---- Values ---- */

static uint32_t holders_spaces(void *ctx)
{
    return ((kmm_runtime_t *)ctx)->space_count;
}

static void holders_copy(void *ctx, void *dst, const void *src)
{
    kmm__holders_t *to = dst;
    memcpy(dst, src, kmm__holders_ops(ctx)->value_bytes);
    for (uint32_t s = 0; s < holders_spaces(ctx); s++)
        kmm__ticket_ref(to->ready[s]);
}

static void holders_drop(void *ctx, void *value)
{
    kmm__holders_t *h = value;
    for (uint32_t s = 0; s < holders_spaces(ctx); s++)
        kmm__ticket_unref(h->ready[s]);
}

/* Tickets that are done say no more than NULL. */
static bool holders_same(void *ctx, const void *a, const void *b)
{
    const kmm__holders_t *x = a, *y = b;
    if (x->valid != y->valid)
        return false;
    for (uint32_t s = 0; s < holders_spaces(ctx); s++) {
        const kmm__ticket_t *p = x->ready[s], *q = y->ready[s];
        if (p && p->state == KMM__TICKET_DONE && !p->error)
            p = NULL;
        if (q && q->state == KMM__TICKET_DONE && !q->error)
            q = NULL;
        if (p != q)
            return false;
    }
    return true;
}

const kmm__map_ops_t *kmm__holders_ops(kmm_runtime_t *rt)
{
    return &rt->memory->holders_ops;
}

void kmm__holders_ops_init(kmm_runtime_t *rt)
{
    size_t bytes = offsetof(kmm__holders_t, ready) + rt->space_count * sizeof(kmm__ticket_t *);
    rt->memory->holders_ops =
        (kmm__map_ops_t){bytes, holders_copy, holders_drop, holders_same, NULL};
}

/* A copy that has failed counts until it is over: who relies on it
 * until then is told why it failed. */
uint32_t kmm__holders_valid(const kmm_runtime_t *rt, const kmm__holders_t *h)
{
    uint32_t valid = h->valid;
    for (uint32_t s = 0; s < rt->space_count; s++)
        if ((h->ready[s] && h->ready[s]->error && h->ready[s]->state == KMM__TICKET_DONE) ||
            (s != KMM__HOST && rt->device[s - 1]->lost))
            valid &= ~(1u << s);
    return valid;
}

static void holders_set(kmm__holders_t *h, uint32_t space, kmm__ticket_t *ticket)
{
    kmm__ticket_ref(ticket);
    kmm__ticket_unref(h->ready[space]);
    h->ready[space] = ticket;
    h->valid |= 1u << space;
}

static void holders_clear(kmm__holders_t *h, uint32_t space)
{
    kmm__ticket_unref(h->ready[space]);
    h->ready[space] = NULL;
    h->valid &= ~(1u << space);
}

/* ---- What is known of all of an array ---- */

/* What tasks wrote is waited for by whoever follows them in the DAG; copies are by nobody but those
 * that look here. */
static bool is_there(const kmm_runtime_t *rt, const kmm__holders_t *h, uint32_t space)
{
    const kmm__ticket_t *t = h->ready[space];
    bool copied = !t || !t->is_copy || (t->state == KMM__TICKET_DONE && !t->error);
    return copied && (h->valid == 0 || kmm__holders_valid(rt, h) >> space & 1);
}

typedef struct survey {
    const kmm_runtime_t *runtime;
    const kmm__device_t *device;
    uint32_t space;
} survey_t;

static int lies_elsewhere(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const survey_t *s = arg;
    return !is_there(s->runtime, value, s->space);
}

/* Whether anything is held by another space, or by nobody, or has been written on another stream
 * than the device's one lane. */
static int lies_not_only_here(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const survey_t *s = arg;
    const kmm__holders_t *h = value;
    if (h->valid != 1u << s->space)
        return 1;
    for (uint32_t k = 0; k < s->runtime->space_count; k++)
        if (h->ready[k] && h->ready[k]->state != KMM__TICKET_DONE &&
            (k != s->space || h->ready[k]->stream != s->device->lanes[0].stream))
            return 1;
    return !is_there(s->runtime, h, s->space);
}

static bool map_has_none(kmm__array_t *a, kmm__map_visit_fn *fn, survey_t *s)
{
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    return kmm__map_visit(a->coherence.map, &all, fn, s) == 0;
}

/* Whether the task reads an array whose map promises that launches write it first. What is left
 * unwritten when the map ends is the host's own. */
static bool is_promised(const kmm__array_t *a, const kmm__task_t *t)
{
    return a->is_mapped && (a->map == KMM_MAP_FROM || a->map == KMM_MAP_ALLOC) &&
           t->sequence < a->map_end;
}

/* t found what it reads in its space: once that has been said of as many bytes as there are, all
 * are looked at. */
static void note_seen(kmm__array_t *a, const kmm__task_t *t, const kmm__box_t *box)
{
    kmm__settled_t *s = &a->settled;
    survey_t survey = {t->runtime, t->device, t->device->space};
    if (is_promised(a, t)) /* what nobody has written is an error there */
        return;
    s->seen = (s->seen_in == survey.space ? s->seen : 0) + (uint64_t)kmm__box_volume(box);
    s->seen_in = survey.space;
    if (s->seen < a->bytes)
        return;
    s->seen = 0;
    if (map_has_none(a, lies_elsewhere, &survey))
        s->whole |= 1u << survey.space;
}

/* t has written the box, which the map says now. When one device has written all there is a second
 * time, its map is made one leaf: who wrote which part need not be told apart where they are on one
 * stream, one behind the other. Not the first time, which may be the only one: then each part can
 * go where it is wanted next, as to the host, as soon as it is written. */
static int note_stored(kmm__array_t *a, kmm__task_t *t, const kmm__box_t *box)
{
    kmm__settled_t *s = &a->settled;
    survey_t survey = {t->runtime, t->device, t->device->space};
    kmm__holders_t value = {.valid = 1u << survey.space};
    s->whole &= 1u << survey.space;
    s->stored = (s->writer == t->device ? s->stored : 0) + (uint64_t)kmm__box_volume(box);
    s->writer = t->device;
    if (s->stored < 2 * a->bytes || survey.space == KMM__HOST || t->device->lane_count > 1 ||
        t->runtime->memory->spill)
        return 0;
    s->stored = 0;
    if (!map_has_none(a, lies_not_only_here, &survey))
        return 0;
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    int error = kmm__map_assign(a->coherence.map, &all, &value);
    if (error)
        return error;
    s->sole = t->device;
    s->last = t->order.ticket;
    kmm__ticket_ref(s->last);
    s->whole = 1u << survey.space;
    return 0;
}

/* Whether t writes what only its device has, so that nothing changes but who was the last one. */
static bool writes_sole(kmm__array_t *a, kmm__task_t *t)
{
    kmm__settled_t *s = &a->settled;
    if (!s->sole || s->sole != t->device || t->order.ticket->stream != t->device->lanes[0].stream)
        return false;
    kmm__ticket_ref(t->order.ticket);
    kmm__ticket_unref(s->last);
    s->last = t->order.ticket;
    return true;
}

static int tell_last(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    const kmm__settled_t *s = arg;
    kmm__holders_t *h = value;
    kmm__ticket_ref(s->last);
    kmm__ticket_unref(h->ready[s->sole->space]);
    h->ready[s->sole->space] = s->last;
    return 0;
}

/* Before anybody else looks at, or changes, where the values of an array are: the map is told who
 * wrote last. */
static int settled_end(kmm__array_t *a)
{
    kmm__settled_t *s = &a->settled;
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    s->seen = s->stored = 0;
    if (!s->sole)
        return 0;
    int error = kmm__map_update(a->coherence.map, &all, tell_last, s);
    s->sole = NULL;
    kmm__ticket_unref(s->last);
    s->last = NULL;
    return error;
}

/* ---- Moves ---- */

static void moves_push(kmm__moves_t *moves, kmm__array_t *a, const kmm__box_t *box,
                       kmm__device_t *from, kmm__device_t *to, kmm__ticket_t *after,
                       kmm__ticket_t *ticket)
{
    moves->move = kmm__grow(moves->move, moves->count, &moves->capacity, sizeof(*moves->move));
    moves->move[moves->count++] = (kmm__move_t){
        .array = a,
        .from = from,
        .to = to,
        .layout = a->coherence.layout,
        .box = *box,
        .after = after,
        .ticket = ticket,
    };
    kmm__ticket_ref(after);
    kmm__ticket_ref(ticket);
    if (!from)
        kmm__spill_promise(a, &a->coherence.layout, box, true);
}

/* ---- What a task needs ---- */

typedef struct fetch {
    kmm__task_t *task;
    const kmm__access_t *access;
    kmm__moves_t *moves;
    kmm__ticket_t *in, *peer; /* made for this task when first needed, and owned by it */
    kmm__ticket_t *out[KMM__MAX_DEVICES];
} fetch_t;

static kmm__ticket_t *own_ticket(kmm__task_t *t, kmm__ticket_t **slot, kmm__device_t *d,
                                 kmm__stream_t *stream)
{
    if (!*slot) {
        *slot = kmm__ticket_create(d, stream);
        (*slot)->is_copy = true;
        kmm__ticket_arm(*slot, NULL);
        t->residency.copies = kmm__grow(t->residency.copies, t->residency.copy_count,
                                        &t->residency.copy_capacity, sizeof(*t->residency.copies));
        t->residency.copies[t->residency.copy_count++] = *slot;
    }
    return *slot;
}

static void pin_source(void *ctx, kmm__frame_t *f)
{
    kmm__frame_pin(ctx, f);
}

/* The device that a copy comes from: one of the same driver as `to` if there is one, and the first
 * before it that has the data, so that what many read is passed on from one to the next, each link
 * carries it once, and the access that is given serves again. It need not have arrived there yet.
 */
static kmm__device_t *choose_source(kmm_runtime_t *rt, uint32_t valid, const kmm__device_t *to)
{
    kmm__device_t *any = NULL;
    for (uint32_t k = 1; k <= rt->device_count; k++) {
        kmm__device_t *d = rt->device[(to->index + rt->device_count - k) % rt->device_count];
        if (d->space == KMM__HOST || !(valid >> d->space & 1))
            continue;
        if (d->backend == to->backend)
            return d;
        any = d;
    }
    return any;
}

/* t builds on a copy that was made for another task: should it fail, t is told. */
static void fetch_rely(kmm__task_t *t, kmm__ticket_t *ready)
{
    if (!ready || !ready->is_copy || ready->state == KMM__TICKET_DONE)
        return;
    if (ready->waiter_count && ready->waiters[ready->waiter_count - 1].to == t)
        return;
    for (uint32_t k = 0; k < t->residency.copy_count; k++)
        if (t->residency.copies[k] == ready)
            return;
    kmm__ticket_add_waiter(ready, (kmm__edge_t){t, true});
}

static void fetch_to_host(fetch_t *f, kmm__holders_t *h, const kmm__box_t *part,
                          kmm__device_t *from)
{
    kmm__array_t *a = f->access->array;
    kmm__ticket_t *ticket = own_ticket(f->task, &f->out[from->index], from, from->out);
    fetch_rely(f->task, h->ready[from->space]);
    moves_push(f->moves, a, part, from, NULL, h->ready[from->space], ticket);
    kmm__frames_of(a, from, &a->coherence.layout, part, pin_source, f->task);
    holders_set(h, KMM__HOST, ticket);
}

static void fetch_to_device(fetch_t *f, kmm__holders_t *h, const kmm__box_t *part,
                            kmm__device_t *from)
{
    kmm__device_t *d = f->task->device;
    kmm__array_t *a = f->access->array;
    kmm__ticket_t *ticket =
        from ? own_ticket(f->task, &f->peer, d, d->peer) : own_ticket(f->task, &f->in, d, d->in);
    fetch_rely(f->task, h->ready[from ? from->space : KMM__HOST]);
    moves_push(f->moves, a, part, from, d, h->ready[from ? from->space : KMM__HOST], ticket);
    if (from)
        kmm__frames_of(a, from, &a->coherence.layout, part, pin_source, f->task);
    holders_set(h, d->space, ticket);
}

/* t's work waits until a copy is over. data: it needs what was copied. */
static void fetch_wait(kmm__task_t *t, kmm__ticket_t *ready, bool data)
{
    if (!ready || ready->state == KMM__TICKET_DONE)
        return;
    if (data && t->device->space != KMM__HOST)
        fetch_rely(t, ready);
    if (t->device->space == KMM__HOST) {
        kmm__ticket_add_waiter(ready, (kmm__edge_t){t, data});
    } else if (ready->stream != t->order.ticket->stream &&
               !(t->order.wait_count && t->order.waits[t->order.wait_count - 1] == ready)) {
        t->order.waits = kmm__grow(t->order.waits, t->order.wait_count, &t->order.wait_capacity,
                                   sizeof(*t->order.waits));
        t->order.waits[t->order.wait_count++] = ready;
        kmm__ticket_ref(ready);
    }
}

static int fetch_part(void *arg, const kmm__box_t *part, void *value)
{
    fetch_t *f = arg;
    kmm__holders_t *h = value;
    kmm__device_t *d = f->task->device;
    const kmm__array_t *a = f->access->array;
    if (h->valid == 0) {
        return is_promised(a, f->task)
                   ? kmm__error_set(
                         KMM_E_INVALID,
                         "is read before anything was written there, but it is mapped `%s`",
                         a->map == KMM_MAP_FROM ? "from" : "alloc")
                   : 0;
    }
    uint32_t valid = kmm__holders_valid(d->runtime, h);
    if (!valid)
        return kmm__error_set(KMM_E_POISONED, "its newest value was lost by an earlier failure");
    if (!(valid >> d->space & 1)) {
        kmm__device_t *from = choose_source(d->runtime, valid, d);
        bool peer = from && d->space != KMM__HOST && from->backend == d->backend;
        if (!peer && !kmm__array_host(f->access->array))
            return kmm__error_set(KMM_E_MEMORY, "no host memory to move it through");
        if (!peer && !(valid & 1u << KMM__HOST))
            fetch_to_host(f, h, part, from);
        if (d->space != KMM__HOST)
            fetch_to_device(f, h, part, peer ? from : NULL);
    }
    fetch_wait(f->task, h->ready[d->space], true);
    return 0;
}

/* Whether a part is not where the task runs, or there is something to wait for. Asked first,
 * because looking leaves the map as it is. */
static int fetch_needed(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const fetch_t *f = arg;
    const kmm__task_t *t = f->task;
    const kmm__holders_t *h = value;
    const kmm__ticket_t *ready = h->ready[t->device->space];
    if (h->valid == 0)
        return is_promised(f->access->array, t);
    return !(kmm__holders_valid(t->runtime, h) >> t->device->space & 1) ||
           (ready && ready->state != KMM__TICKET_DONE && ready->stream != t->order.ticket->stream);
}

static int fetch_access(fetch_t *f, const kmm__access_t *a)
{
    kmm__task_t *t = f->task;
    kmm_runtime_t *rt = t->runtime;
    kmm__box_t boxes[2 * KMM__DIMS];
    bool there = true;
    int error = a->array->settled.sole ? settled_end(a->array) : 0;
    int n =
        error ? error : kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes);
    f->access = a;
    for (int b = 0; b < n && !error; b++) {
        if (!kmm__map_visit(a->array->coherence.map, &boxes[b], fetch_needed, f))
            continue;
        error = kmm__map_update(a->array->coherence.map, &boxes[b], fetch_part, f);
        there = false;
    }
    if (there && n > 0)
        note_seen(a->array, t, &a->box);
    return n < 0 ? n : error;
}

static int fetch_all(kmm__task_t *t, kmm__moves_t *moves)
{
    fetch_t f = {.task = t, .moves = moves};
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->mode == KMM_WRITE || a->array->object.is_abstract || !a->array->is_tracked ||
            a->array->settled.whole >> t->device->space & 1)
            continue;
        int error = fetch_access(&f, a);
        if (error) {
            t->failed_item = a->item;
            return error;
        }
    }
    return 0;
}

/* A copy out of an eviction may still be on its way to a part that is written without being read.
 * No task stands for it, so the writer itself waits: the copy must not come to the host's buffer
 * after what this task, or a later copy from its device, puts there. */
static int await_eviction(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const kmm__holders_t *h = value;
    fetch_wait(arg, h->ready[KMM__HOST], false);
    return 0;
}

static int hold_alone(kmm__task_t *t, kmm__array_t *a, const kmm__box_t *box)
{
    kmm__holders_t value = {0};
    uint32_t space = t->device->space;
    value.valid = 1u << space;
    value.ready[space] = space == KMM__HOST ? NULL : t->order.ticket;
    return kmm__map_assign(a->coherence.map, box, &value);
}

static int store_access(kmm__task_t *t, const kmm__access_t *a)
{
    kmm_runtime_t *rt = t->runtime;
    kmm__box_t boxes[2 * KMM__DIMS];
    int error = a->array->settled.sole ? settled_end(a->array) : 0;
    int n =
        error ? error : kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes);
    for (int b = 0; b < n && !error; b++) {
        if (a->mode == KMM_WRITE)
            kmm__map_visit(a->array->coherence.map, &boxes[b], await_eviction, t);
        error = hold_alone(t, a->array, &boxes[b]);
    }
    return n < 0 ? n : error ? error : note_stored(a->array, t, &a->box);
}

int kmm__coherence_acquire(kmm__task_t *t, kmm__moves_t *moves)
{
    int error = fetch_all(t, moves);
    for (uint32_t k = 0; k < t->access_count && !error; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->mode != KMM_READ && !a->array->object.is_abstract && a->array->is_tracked &&
            !writes_sole(a->array, t))
            error = store_access(t, a);
    }
    return error;
}

void kmm__settled_free(kmm__array_t *a)
{
    kmm__ticket_unref(a->settled.last);
    a->settled = (kmm__settled_t){0};
}

/* ---- Eviction ---- */

typedef struct evict {
    kmm__frame_t *frame;
    kmm__device_t *device;
    kmm__moves_t *moves;
    kmm__ticket_t *ticket;
    bool is_dead;
} evict_t;

static int evict_part(void *arg, const kmm__box_t *part, void *value)
{
    evict_t *e = arg;
    kmm__holders_t *h = value;
    uint32_t space = e->device->space, valid = kmm__holders_valid(e->device->runtime, h);
    if (!(h->valid >> space & 1))
        return 0;
    if (valid == 1u << space && !e->is_dead) {
        if (!e->ticket) {
            e->ticket = kmm__ticket_create(e->device, e->device->out);
            e->ticket->is_copy = true;
            kmm__ticket_arm(e->ticket, NULL);
        }
        moves_push(e->moves, e->frame->array, part, e->device, NULL, h->ready[space], e->ticket);
        holders_set(h, KMM__HOST, e->ticket);
    }
    holders_clear(h, space);
    return 0;
}

/* The boxes of a frame's bytes in the array's coherence map. */
static int frame_boxes(const kmm__frame_t *f, kmm__box_t boxes[2 * KMM__DIMS])
{
    const kmm__array_t *a = f->array;
    int64_t begin = (int64_t)(f->index * a->frame_bytes), end = begin + (int64_t)a->frame_bytes;
    return kmm__layout_split(&a->coherence.layout, begin,
                             end > (int64_t)a->bytes ? (int64_t)a->bytes : end, boxes);
}

int kmm__coherence_evict(kmm__device_t *d, kmm__frame_t *f, kmm__moves_t *moves)
{
    kmm__box_t boxes[2 * KMM__DIMS];
    evict_t e = {f, d, moves, NULL, kmm__frame_is_dead(f)};
    int n = frame_boxes(f, boxes), error = settled_end(f->array);
    f->array->settled.whole &= ~(1u << d->space);
    for (int b = 0; b < n && !error; b++)
        error = kmm__map_update(f->array->coherence.map, &boxes[b], evict_part, &e);
    kmm__ticket_unref(e.ticket); /* the moves keep it */
    return error;
}

typedef struct restore {
    uint32_t space;
    const kmm__ticket_t *evicted;
} restore_t;

static int restore_part(void *arg, const kmm__box_t *part, void *value)
{
    (void)part;
    const restore_t *r = arg;
    kmm__holders_t *h = value;
    if (h->ready[KMM__HOST] == r->evicted)
        h->valid |= 1u << r->space; /* the host's bit stays, and counts for nothing, since its
                                       ticket has an error */
    return 0;
}

void kmm__coherence_restore(kmm__device_t *d, kmm__frame_t *f, const kmm__ticket_t *evicted)
{
    kmm__array_t *a = f->array;
    kmm__box_t boxes[2 * KMM__DIMS];
    restore_t r = {d->space, evicted};
    int n = frame_boxes(f, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_update(a->coherence.map, &boxes[b], restore_part, &r);
}
