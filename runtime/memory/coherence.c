/* SPDX-License-Identifier: Apache-2.0 */
/* Coherence. The map of an array changes when work is issued, before the devices do it. So a space
 * that the map names as a holder has the value only once its ticket is done. */
#include "memory/coherence.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/valid.h"
#include "memory/holders.h"
#include "memory/lifetime.h"
#include "memory/residency/dead.h"
#include "memory/residency/evict.h"
#include "memory/residency/frame.h"
#include "memory/summary.h"

/* ---- Validity ---- */

typedef struct validity {
    const kmm__array_t *array;
    bool is_valid;
} validity_t;

/* Checks a leaf: tickets belong to holders, and the leaf agrees with the array's summary. */
static int check_part(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    validity_t *v = arg;
    const kmm__holders_t *h = value;
    const kmm__coherence_summary_t *s = &v->array->summary;
    uint32_t count = v->array->runtime->space_count;
    bool ok = h->valid >> (count - 1) <= 1;
    for (uint32_t k = 0; k < count; k++)
        ok &= !h->ready[k] || h->valid >> k & 1;
    ok &= h->valid == 0 || (s->whole & ~h->valid) == 0;
    ok &= !s->sole || h->valid == 1u << s->sole->space;
    v->is_valid &= ok;
    return !ok;
}

bool kmm__coherence_is_valid(const kmm__array_t *a)
{
    validity_t v = {a, !a->summary.sole || a->summary.whole == 1u << a->summary.sole->space};
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    kmm__map_visit(a->coherence.map, &all, check_part, &v);
    return v.is_valid;
}

/* ---- What a task needs ---- */

/* The copies that one task needs. */
typedef struct fetch {
    kmm__task_t *task;
    const kmm__access_t *access;
    kmm__moves_t *moves;
    /* tickets of copies in and from peers; made when first needed, owned by the task */
    kmm__ticket_t *in, *peer;
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

/* Chooses the device to copy from: one of the same backend as `to` if there is one; among these,
 * the nearest before `to` in the order of devices. So what many devices read is passed on from one
 * to the next, each link carries it once, and access that was given is used again. The source need
 * not have the value yet. */
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

/* Poisons t if a copy fails that t needs and that was planned for another task. */
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
    kmm__moves_push(f->moves, a, part, from, NULL, h->ready[from->space], ticket);
    kmm__frames_of(a, from, &a->coherence.layout, part, pin_source, f->task);
    kmm__holders_set(h, KMM__HOST, ticket);
}

static void fetch_to_device(fetch_t *f, kmm__holders_t *h, const kmm__box_t *part,
                            kmm__device_t *from)
{
    kmm__device_t *d = f->task->device;
    kmm__array_t *a = f->access->array;
    kmm__ticket_t *ticket =
        from ? own_ticket(f->task, &f->peer, d, d->peer) : own_ticket(f->task, &f->in, d, d->in);
    fetch_rely(f->task, h->ready[from ? from->space : KMM__HOST]);
    kmm__moves_push(f->moves, a, part, from, d, h->ready[from ? from->space : KMM__HOST], ticket);
    if (d->runtime->stats)
        kmm__frames_count_again(d, a, &a->coherence.layout, part);
    if (from)
        kmm__frames_of(a, from, &a->coherence.layout, part, pin_source, f->task);
    kmm__holders_set(h, d->space, ticket);
}

/* Makes t wait until a copy is done. `data`: t needs what is copied. */
static void fetch_wait(kmm__task_t *t, kmm__ticket_t *ready, bool data)
{
    if (!ready || ready->state == KMM__TICKET_DONE)
        return;
    if (data && t->device->space != KMM__HOST)
        fetch_rely(t, ready);
    if (t->device->space == KMM__HOST) {
        kmm__ticket_add_waiter(ready, (kmm__edge_t){t, data});
    } else {
        kmm__task_wait_for(t, ready);
    }
}

static int fetch_part(void *arg, const kmm__box_t *part, void *value)
{
    fetch_t *f = arg;
    kmm__holders_t *h = value;
    kmm__device_t *d = f->task->device;
    const kmm__array_t *a = f->access->array;
    if (h->valid == 0) {
        return kmm__array_starts_empty(a, f->task)
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

/* True for a part that t's space does not hold, or for which t must wait. This visit comes before
 * an update, which would cut the map's leaves. */
static int fetch_needed(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const fetch_t *f = arg;
    const kmm__task_t *t = f->task;
    const kmm__holders_t *h = value;
    const kmm__ticket_t *ready = h->ready[t->device->space];
    if (h->valid == 0)
        return kmm__array_starts_empty(f->access->array, t);
    return !(kmm__holders_valid(t->runtime, h) >> t->device->space & 1) ||
           (ready && ready->state != KMM__TICKET_DONE && ready->stream != t->order.ticket->stream);
}

static int fetch_access(fetch_t *f, const kmm__access_t *a)
{
    kmm__task_t *t = f->task;
    kmm_runtime_t *rt = t->runtime;
    kmm__box_t boxes[2 * KMM__DIMS];
    bool there = true;
    int error = 0;
    if (a->array->summary.sole)
        kmm__coherence_summary_end(a->array);
    int n = kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes);
    f->access = a;
    for (int b = 0; b < n && !error; b++) {
        if (!kmm__map_visit(a->array->coherence.map, &boxes[b], fetch_needed, f))
            continue;
        error = kmm__map_update(a->array->coherence.map, &boxes[b], fetch_part, f);
        there = false;
    }
    if (there && n > 0)
        kmm__coherence_summary_note_seen(a->array, t, &a->box);
    return error;
}

static int fetch_all(kmm__task_t *t, kmm__moves_t *moves)
{
    fetch_t f = {.task = t, .moves = moves};
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->mode == KMM_WRITE || a->array->object.is_abstract || !a->array->is_tracked ||
            a->array->summary.whole >> t->device->space & 1)
            continue;
        int error = fetch_access(&f, a);
        if (error) {
            kmm__task_blame(t, a->item);
            return error;
        }
    }
    return 0;
}

/* Makes a task that writes a part without reading it wait for a copy of an eviction that is still
 * under way to it. No task stands for that copy. It must not reach the host buffer after what this
 * task, or a later copy from its device, writes there. */
static int await_eviction(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    const kmm__holders_t *h = value;
    fetch_wait(arg, h->ready[KMM__HOST], false);
    return 0;
}

static void hold_alone(kmm__task_t *t, kmm__array_t *a, const kmm__box_t *box)
{
    kmm__holders_t value = {0};
    uint32_t space = t->device->space;
    value.valid = 1u << space;
    value.ready[space] = space == KMM__HOST ? NULL : t->order.ticket;
    kmm__map_assign(a->coherence.map, box, &value);
}

static void store_access(kmm__task_t *t, const kmm__access_t *a)
{
    kmm_runtime_t *rt = t->runtime;
    kmm__box_t boxes[2 * KMM__DIMS];
    if (a->array->summary.sole)
        kmm__coherence_summary_end(a->array);
    int n = kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes);
    for (int b = 0; b < n; b++) {
        if (a->mode == KMM_WRITE)
            kmm__map_visit(a->array->coherence.map, &boxes[b], await_eviction, t);
        hold_alone(t, a->array, &boxes[b]);
    }
    kmm__coherence_summary_note_written(a->array, t, &a->box);
}

void kmm__coherence_release(kmm__task_t *t)
{
    for (uint32_t k = 0; k < t->residency.copy_count; k++) {
        kmm__ticket_done(t->residency.copies[k]);
        kmm__ticket_unref(t->residency.copies[k]);
    }
    t->residency.copy_count = 0;
}

int kmm__coherence_acquire(kmm__task_t *t, kmm__moves_t *moves)
{
    moves->task = kmm__task_number(t);
    int error = fetch_all(t, moves);
    for (uint32_t k = 0; k < t->access_count && !error; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->mode != KMM_READ && !a->array->object.is_abstract && a->array->is_tracked &&
            !kmm__coherence_summary_writes_sole(a->array, t))
            store_access(t, a);
        KMM__ASSERT_SOMETIMES(error || a->array->object.is_abstract ||
                              kmm__coherence_is_valid(a->array));
    }
    return error;
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
        kmm__moves_push(e->moves, e->frame->array, part, e->device, NULL, h->ready[space],
                        e->ticket);
        kmm__holders_set(h, KMM__HOST, e->ticket);
    }
    kmm__holders_clear(h, space);
    return 0;
}

/* The boxes of a frame's bytes in the array's coherence map. Returns their number. */
static int frame_boxes(const kmm__frame_t *f, kmm__box_t boxes[2 * KMM__DIMS])
{
    const kmm__array_t *a = f->array;
    int64_t begin = (int64_t)(f->index * a->frame_bytes), end = begin + (int64_t)a->frame_bytes;
    return kmm__layout_split(&a->coherence.layout, begin,
                             end > (int64_t)a->bytes ? (int64_t)a->bytes : end, boxes);
}

void kmm__coherence_evict(kmm__device_t *d, kmm__frame_t *f, kmm__moves_t *moves)
{
    kmm__box_t boxes[2 * KMM__DIMS];
    evict_t e = {f, d, moves, NULL, kmm__frame_is_dead(f)};
    kmm__coherence_summary_end(f->array);
    int n = frame_boxes(f, boxes);
    f->array->summary.whole &= ~(1u << d->space);
    for (int b = 0; b < n; b++)
        kmm__map_update(f->array->coherence.map, &boxes[b], evict_part, &e);
    kmm__ticket_unref(e.ticket); /* the moves hold references */
    KMM__ASSERT_SOMETIMES(kmm__coherence_is_valid(f->array));
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
        /* the host's bit stays set but does not count, because its ticket has an error */
        h->valid |= 1u << r->space;
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
    KMM__ASSERT_SOMETIMES(kmm__coherence_is_valid(a));
}
