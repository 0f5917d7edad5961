/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks: making, edges, and the transitions from submitted to done.
 *
 * A task on a stream may be issued once its predecessors on streams of the same backend are issued,
 * because events order their work on the devices. A task on the host may be issued once its
 * predecessors on streams are, and runs when their tickets are done. All others may be issued only
 * when their predecessors are done.
 */
#include "task/task.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/spin.h"
#include "base/thread.h"
#include "base/valid.h"
#include "task/inside.h"
#include "task/marker.h"
#include "task/ticket.h"

/* ---- The part of the runtime ---- */

void kmm__tasks_start(kmm_runtime_t *rt, const kmm__task_hooks_t *hooks)
{
    rt->tasks = kmm__alloc(sizeof(*rt->tasks));
    rt->tasks->hooks = hooks;
}

void kmm__tasks_stop(kmm_runtime_t *rt)
{
    kmm__program_streams_free(rt);
    while (rt->tasks->spare_tasks) {
        kmm__task_t *t = rt->tasks->spare_tasks;
        rt->tasks->spare_tasks = t->next;
        free(t->order.successors);
        free(t->order.waits);
        free(t->residency.copies);
        free(t->residency.pinned);
        free(t->many);
        free(t);
    }
    kmm__works_free(rt);
    kmm__tickets_free(rt);
    free(rt->tasks);
}

/* True if unfinished tasks exceed `eighths` eighths of their bound. What finished tasks have left,
 * such as their launches' work, is not counted, so without unfinished tasks nothing is exceeded. */
static bool exceeds(const kmm_runtime_t *rt, uint32_t eighths)
{
    const struct kmm__tasks *all = rt->tasks;
    return rt->has_spaces ? all->kept > KMM__MOST_KEPT / 8 * (uint64_t)eighths
                          : all->outstanding > KMM__MOST_DIRECT / 8 * eighths;
}

enum { FULL = 8, RESUME = 7 };

static __attribute__((noinline)) void throttle(kmm_runtime_t *rt)
{
    if (kmm__is_inside())
        return; /* the tasks that it would wait for may wait for this thread */
    const uint64_t begin = kmm__tracing() ? kmm__now() : 0;
    while (exceeds(rt, RESUME)) {
        rt->tasks->is_throttled = true;
        kmm__cond_wait(&rt->progress, &rt->lock);
    }
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "wait: too many unfinished tasks", .a = begin);
}

void kmm__tasks_throttle(kmm_runtime_t *rt)
{
    if (exceeds(rt, FULL))
        throttle(rt);
}

/* ---- Making ---- */

/* A cleared task: a spare one, which keeps its empty arrays, or a new one. */
static kmm__task_t *task_obtain(kmm_runtime_t *rt)
{
    kmm__task_t *t = rt->tasks->spare_tasks;
    if (!t)
        return kmm__alloc(sizeof(*t));
    rt->tasks->spare_tasks = t->next;
    memset(t, 0, offsetof(kmm__task_t, order));
    memset(&t->order, 0, offsetof(kmm__task_order_t, successors));
    memset(&t->part, 0, sizeof(t->part));
    memset(&t->residency, 0, offsetof(kmm__task_residency_t, copies));
    memset(&t->issue, 0, sizeof(t->issue));
    return t;
}

/* Room for `count` accesses. */
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

/* Counts what is kept for a new task. What the work keeps counts with its first task. */
static void task_keep(kmm__task_t *t, uint32_t access_count)
{
    uint64_t more = access_count > KMM__FEW_ACCESSES ? access_count * sizeof(*t->many) : 0;
    kmm__task_keep(t, sizeof(*t) + sizeof(kmm__ticket_t) + more + t->work->kept +
                          access_count * sizeof(kmm__read_t));
    t->work->kept = 0;
}

kmm__task_t *kmm__task_create(kmm_runtime_t *rt, kmm__work_t *work, uint32_t access_count)
{
    assert(!rt->tasks->unsettled); /* a task on that list may be in the free list already */
    kmm__task_t *t = task_obtain(rt);
    t->refs = 1;
    t->sequence = t->rank = rt->tasks->next_sequence++;
    t->runtime = rt;
    t->work = work;
    t->work_id = work->id;
    t->failed_item = KMM__MAX_ITEMS;
    t->order.issue_left = 1; /* released once it has been entered into the DAG */
    t->accesses = task_room(t, access_count);
    kmm__work_ref(work);
    rt->tasks->outstanding++;
    task_keep(t, access_count);
    return t;
}

void kmm__task_enter(kmm__task_t *t, kmm__device_t *device, kmm__stream_t *stream)
{
    assert(t->state == KMM__TASK_WAITING && !t->order.ticket);
    t->device = device;
    for (uint32_t k = 0; k < t->access_count; k++) {
        kmm__object_t *o = kmm__object_of(t->accesses[k].array);
        o->writers += t->accesses[k].mode != KMM_READ;
        if (!t->runtime->has_spaces)
            continue;
        if (o->unfinished[device->space]++ == 0 && device->space == KMM__HOST)
            o->oldest_on_host = t->sequence;
        t->bytes += o->is_abstract ? 0 : (uint64_t)kmm__box_volume(&t->accesses[k].box);
    }
    t->order.ticket = kmm__ticket_create(device, stream);
    assert(kmm__task_is_valid(t));
}

void kmm__task_unref(kmm__task_t *t)
{
    assert(t->refs > 0);
    if (--t->refs)
        return;
    assert(t->state == KMM__TASK_DONE);
    kmm_runtime_t *rt = t->runtime;
    kmm__ticket_unref(t->order.ticket);
    t->next = rt->tasks->spare_tasks;
    rt->tasks->spare_tasks = t;
}

void kmm__trace_task(kmm__event_kind_t kind, const kmm__task_t *t, uint64_t a)
{
    kmm__trace_push(&(kmm__event_t){.kind = (uint8_t)kind, .task = kmm__task_number(t), .a = a});
}

void kmm__task_describe(const kmm__task_t *t, char *out, size_t size)
{
    kmm__work_describe(t->work, t->part.chunk, t->part.last_chunk, out, size);
}

void kmm__task_fail(kmm__task_t *t, int error)
{
    if (error && !t->error)
        t->error = error;
}

void kmm__task_blame(kmm__task_t *t, uint16_t item)
{
    t->failed_item = item;
}

/* That the bound never falls costs nothing: tasks before it are older than all others. */
static void await(kmm_runtime_t *rt, uint64_t end, const kmm__task_t *awaited)
{
    if (end <= rt->tasks->awaited)
        return;
    rt->tasks->awaited = end;
    rt->tasks->hooks->await(rt, end, awaited);
}

void kmm__tasks_await(kmm_runtime_t *rt, uint64_t end)
{
    await(rt, end, NULL);
}

void kmm__task_announce(kmm__task_t *t)
{
    t->awaited = true;
    await(t->runtime, t->sequence + 1, t);
}

/* ---- Edges ---- */

static bool on_streams(const kmm__task_t *t)
{
    return t->device->space != KMM__HOST;
}

/* True if `to` may be issued once `from` is issued. Its stream, or a waiter of from's ticket, then
 * waits for from's work. */
static bool follows_issue(const kmm__task_t *from, const kmm__task_t *to)
{
    return on_streams(from) && (!on_streams(to) || from->device->backend == to->device->backend);
}

void kmm__task_wait_for(kmm__task_t *t, kmm__ticket_t *ticket)
{
    kmm__task_order_t *o = &t->order;
    if (ticket->state == KMM__TICKET_DONE || ticket->stream == o->ticket->stream ||
        (o->wait_count && o->waits[o->wait_count - 1] == ticket))
        return;
    o->waits = kmm__grow(o->waits, o->wait_count, &o->wait_capacity, sizeof(*o->waits));
    o->waits[o->wait_count++] = ticket;
    kmm__ticket_ref(ticket);
}

/* Makes `to` wait for the work of `from`, which has been issued. */
static void edge_after_issue(kmm__task_t *from, kmm__task_t *to)
{
    if (on_streams(to))
        kmm__task_wait_for(to, from->order.ticket);
    else if (from->order.ticket->state != KMM__TICKET_DONE)
        kmm__ticket_add_waiter(from->order.ticket, (kmm__edge_t){to, false});
}

/* A task on the host has no place in a device's order, but passes on those that it follows. */
static void note_rank(const kmm__task_t *from, kmm__task_t *to)
{
    uint64_t rank = on_streams(from) ? from->rank : from->order.after;
    if (to->order.after < rank)
        to->order.after = rank;
}

void kmm__task_add_edge(kmm__task_t *from, kmm__task_t *to, bool data)
{
    kmm__task_order_t *o = &from->order;
    if (from == to)
        return;
    if (from->state == KMM__TASK_DONE) {
        if (from->error && data)
            kmm__task_fail(to, KMM_E_POISONED);
        return;
    }
    if (o->successor_count && o->successors[o->successor_count - 1].to == to) {
        o->successors[o->successor_count - 1].data |= data;
        return;
    }
    o->successors = kmm__grow(o->successors, o->successor_count, &o->successor_capacity,
                              sizeof(*o->successors));
    o->successors[o->successor_count++] = (kmm__edge_t){to, data};
    kmm__task_keep(from, sizeof(*o->successors));
    kmm__task_ref(to);
    note_rank(from, to);
    KMM__TRACE_TASK(KMM__EVENT_EDGE, to, kmm__task_number(from));
    to->order.finish_left++;
    if (from->state == KMM__TASK_ISSUED && follows_issue(from, to))
        edge_after_issue(from, to);
    else
        to->order.issue_left++;
    assert(kmm__task_is_valid(from) && kmm__task_is_valid(to));
    KMM__ASSERT_SOMETIMES(kmm__task_edges_are_valid(from));
}

/* ---- What it waits for ---- */

void kmm__task_hold(kmm__task_t *t)
{
    assert(t->state == KMM__TASK_WAITING);
    t->order.issue_left++;
}

/* The transition to READY. */
static void task_ready(kmm__task_t *t)
{
    assert(t->state == KMM__TASK_WAITING);
    t->state = KMM__TASK_READY;
    assert(kmm__task_is_valid(t));
    t->runtime->tasks->hooks->ready(t);
}

static __attribute__((cold, noinline)) void ready_traced(kmm__task_t *t)
{
    kmm__trace_task(KMM__EVENT_READY, t, 0);
    task_ready(t);
}

void kmm__task_release(kmm__task_t *t)
{
    assert(t->order.issue_left > 0);
    if (--t->order.issue_left)
        return;
    if (kmm__tracing())
        ready_traced(t);
    else
        task_ready(t);
}

void kmm__task_finish_later(kmm__task_t *t, uint32_t count)
{
    t->order.finish_left += count;
}

void kmm__task_run_later(kmm__task_t *t, uint32_t count)
{
    t->order.done_left += count;
}

bool kmm__task_run_left_fall(kmm__task_t *t)
{
    assert(t->order.done_left > 0);
    return --t->order.done_left == 0;
}

/* ---- Issue and completion ---- */

static __attribute__((noinline)) void issued_on_stream(kmm__task_t *t)
{
    KMM__TRACE_TASK(KMM__EVENT_ISSUED, t, 0);
    if (t->device->backend->precede)
        kmm__program_stream_issued(t);
    for (uint32_t k = 0; k < t->order.successor_count; k++) {
        kmm__task_t *to = t->order.successors[k].to;
        if (!follows_issue(t, to))
            continue;
        edge_after_issue(t, to);
        kmm__task_release(to);
    }
}

void kmm__task_issued(kmm__task_t *t)
{
    assert(t->state == KMM__TASK_READY);
    t->state = KMM__TASK_ISSUED;
    assert(kmm__task_is_valid(t));
    KMM__ASSERT_SOMETIMES(kmm__task_edges_are_valid(t));
    if (on_streams(t))
        issued_on_stream(t);
    else /* successors of work on the host wait until it is done */
        KMM__TRACE_TASK(KMM__EVENT_ISSUED, t, 0);
}

static void task_drop_tickets(kmm__task_t *t)
{
    for (uint32_t k = 0; k < t->order.wait_count; k++)
        kmm__ticket_unref(t->order.waits[k]);
    t->order.successor_count = t->order.wait_count = 0;
}

static void task_done(kmm__task_t *t);

void kmm__task_finish_left_fall(kmm__task_t *t)
{
    assert(t->order.finish_left > 0);
    if (--t->order.finish_left == 0 && t->order.finished)
        task_done(t);
}

/* Releases t's successors, and poisons those that read what t wrote if t has failed. */
static void successors_tell(kmm__task_t *t, bool was_issued)
{
    for (uint32_t k = 0; k < t->order.successor_count; k++) {
        kmm__task_t *to = t->order.successors[k].to;
        if (t->error && t->order.successors[k].data)
            kmm__task_fail(to, KMM_E_POISONED);
        if (!(was_issued && follows_issue(t, to)))
            kmm__task_release(to);
        kmm__task_finish_left_fall(to);
        kmm__task_unref(to);
    }
}

/* The transition to DONE. */
static void task_done(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    bool was_issued = t->state == KMM__TASK_ISSUED;
    assert(t->state == KMM__TASK_READY || t->state == KMM__TASK_ISSUED);
    KMM__ASSERT_SOMETIMES(kmm__task_edges_are_valid(t));
    t->state = KMM__TASK_DONE; /* from now on it gets no successors */
    KMM__TRACE_TASK(KMM__EVENT_DONE, t, (uint64_t)-t->error);
    for (uint32_t k = 0; t->error && k < t->access_count; k++)
        kmm__object_of(t->accesses[k].array)->failed |= t->accesses[k].mode != KMM_READ;
    kmm__ticket_done(t->order.ticket);
    rt->tasks->hooks->done(t);
    kmm__program_stream_leave(t);
    rt->tasks->outstanding--;
    rt->tasks->kept -= t->kept;
    successors_tell(t, was_issued);
    task_drop_tickets(t);
    rt->tasks->hooks->left(t);
    if (rt->tasks->outstanding == 0 &&
        atomic_load_explicit(&kmm__log_has_bar, memory_order_relaxed))
        kmm__log_bar(NULL); /* before the program prints its result */
    bool resumes = rt->tasks->is_throttled && !exceeds(rt, RESUME);
    rt->tasks->is_throttled &= !resumes;
    if (t->awaited || rt->tasks->outstanding == 0 || resumes)
        pthread_cond_broadcast(&rt->progress);
    assert(kmm__task_is_valid(t));
    kmm__task_unref(t);
}

void kmm__task_finish(kmm__task_t *t, int error)
{
    assert(!t->order.finished);
    kmm__task_fail(t, error);
    t->order.finished = true;
    assert(kmm__task_is_valid(t));
    if (t->order.finish_left == 0)
        task_done(t);
}

/* ---- Direct tasks that are done ---- */

void kmm__task_put_unsettled(kmm__task_t *t)
{
    struct kmm__tasks *all = t->runtime->tasks;
    assert(t->state == KMM__TASK_DONE && t->part.is_direct && t->work && !t->order.unsettled_work);
    t->order.unsettled_work = t->work;
    t->order.next_unsettled = all->unsettled;
    t->work = NULL;
    all->unsettled = t;
}

kmm__task_t *kmm__task_take_unsettled(kmm_runtime_t *rt, kmm__work_t **work)
{
    kmm__task_t *t = rt->tasks->unsettled;
    if (!t)
        return NULL;
    rt->tasks->unsettled = t->order.next_unsettled;
    *work = t->order.unsettled_work;
    t->order.unsettled_work = NULL;
    return t;
}

/* ---- Invariants ---- */

static bool has_ticket(const kmm__task_t *t)
{
    const kmm__ticket_t *ticket = t->order.ticket;
    return ticket && ticket->refs > 0 && ticket->device == t->device && !ticket->is_copy;
}

bool kmm__task_is_valid(const kmm__task_t *t)
{
    const kmm__task_order_t *o = &t->order;
    bool counts = o->successor_count <= o->successor_capacity && o->wait_count <= o->wait_capacity;
    if (t->refs == 0 || !counts || (o->is_unissued && !o->span))
        return false;
    switch (t->state) {
    case KMM__TASK_WAITING:
        return t->work && !o->finished && o->issue_left > 0 && (!t->device || has_ticket(t));
    case KMM__TASK_READY:
        return t->work && has_ticket(t) && o->issue_left == 0 &&
               o->ticket->state != KMM__TICKET_DONE;
    case KMM__TASK_ISSUED:
        return t->work && has_ticket(t) && o->issue_left == 0 &&
               o->ticket->state != KMM__TICKET_DONE;
    case KMM__TASK_DONE:
        return !t->work && has_ticket(t) && o->ticket->state == KMM__TICKET_DONE && o->finished &&
               o->issue_left + o->finish_left + o->done_left == 0 && !o->span &&
               o->successor_count + o->wait_count + t->residency.pinned_count == 0 &&
               t->residency.copy_count == 0;
    }
    return false;
}

/* True if e->to counts its edge from t. */
static bool edge_is_valid(const kmm__task_t *t, const kmm__edge_t *e)
{
    const kmm__task_t *to = e->to;
    bool was_issued = t->state == KMM__TASK_ISSUED && follows_issue(t, to);
    return to != t && to->refs > 0 && to->state != KMM__TASK_DONE && to->order.finish_left > 0 &&
           (was_issued || (to->state == KMM__TASK_WAITING && to->order.issue_left > 0));
}

bool kmm__task_edges_are_valid(const kmm__task_t *t)
{
    bool valid = true;
    for (uint32_t k = 0; k < t->order.successor_count && valid; k++)
        valid = edge_is_valid(t, &t->order.successors[k]);
    return valid;
}
