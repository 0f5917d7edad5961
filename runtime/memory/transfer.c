/* SPDX-License-Identifier: Apache-2.0 */
/* Enqueues planned copies. A copy never crosses a border of two blocks of a host buffer
 * (host/pagelock.c), because drivers take blocks for different memory. */
#include "memory/transfer.h"

#include <stdlib.h>

#include "backend/mark.h"
#include "base/alloc.h"
#include "base/error.h"
#include "memory/disk/source.h"
#include "memory/host/links.h"
#include "memory/host/pagelock.h"
#include "memory/host/stage.h"
#include "memory/residency/share.h"

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A move that is being enqueued. */
typedef struct transfer {
    kmm__move_t *move;
    kmm__device_t *device; /* owner of the stream */
    kmm__stream_t *stream;
    char *host;     /* where byte 0 of the array is on the host, or would be */
    int64_t end;    /* behind the last byte that is copied */
    uint64_t bytes; /* copied so far */
    /* Of a copy to a device, with a limit of host memory: sources of the page that is being copied,
     * and of the next page, which is being provided. */
    kmm__page_source_t source, coming;
    int64_t page;
    kmm__stage_t stage; /* the part that goes through staging buffers */
} transfer_t;

static kmm__addr_t side_address(const transfer_t *t, kmm__device_t *d)
{
    return d ? t->move->array->residence[d->index].window : (kmm__addr_t)(uintptr_t)t->host;
}

/* ---- Sources that may be on disk ---- */

typedef struct used {
    kmm__page_source_t source;
    kmm_runtime_t *runtime;
} used_t;

static void source_used(void *arg, int status)
{
    used_t *u = arg;
    if (status) {
        pthread_mutex_lock(&u->runtime->lock);
        kmm__error_note(u->runtime, status, "data was lost while it was copied to a device");
        pthread_mutex_unlock(&u->runtime->lock);
    }
    kmm__page_source_end(&u->source);
    free(u);
}

/* Ends the use of the source when what has been enqueued is done. Called before this thread waits
 * for anything, so that other threads which need the source get it. */
static void source_leave(transfer_t *t)
{
    if (!t->source.page)
        return;
    used_t *u = kmm__alloc(sizeof(*u));
    *u = (used_t){t->source, t->move->array->runtime};
    t->source.page = NULL;
    int error = t->device->backend->notify(t->stream, source_used, u);
    if (error)
        source_used(u, error);
}

static int source_enter(transfer_t *t, int64_t offset)
{
    kmm__array_t *a = t->move->array;
    if (!a->pages || t->move->from)
        return 0;
    int64_t size = (int64_t)a->page_bytes, k = offset / size;
    if (t->source.page && t->page == k)
        return 0;
    source_leave(t);
    if (t->coming.page && t->page + 1 != k)
        kmm__page_source_end(&t->coming); /* the rows did not go on to the next page */
    t->source = t->coming;
    t->coming.page = NULL;
    t->page = k;
    if (!t->source.page)
        kmm__page_source_begin(a, offset, true, &t->source);
    if ((k + 1) * size < t->end)
        kmm__page_source_begin(a, (k + 1) * size, false, &t->coming);
    int error = kmm__page_source_await(&t->source, t->device->backend);
    t->host = t->source.base;
    return error;
}

static void sources_leave(transfer_t *t)
{
    source_leave(t);
    if (t->coming.page)
        kmm__page_source_end(&t->coming);
}

/* Prepares the host's side of a copy at `offset`, which stays in one block. *staged: the copy must
 * go through staging buffers. */
static int host_enter(transfer_t *t, int64_t offset, int64_t bytes, bool *staged)
{
    int error = source_enter(t, offset);
    *staged =
        !error && !t->source.buffer && !kmm__pagelock(t->move->array, t->device, offset, bytes);
    return error;
}

/* Not locked: counts the bytes of a copy. */
static void count_bytes(transfer_t *t, uint64_t bytes)
{
    const kmm__move_t *m = t->move;
    uint64_t *counter = !m->to    ? &m->from->counters.bytes_out
                        : m->from ? &m->to->counters.bytes_peer
                                  : &m->to->counters.bytes_in;
    t->bytes += bytes;
    kmm__count(counter, bytes);
    if (m->to && m->from)
        kmm__count(&m->from->counters.bytes_lent, bytes);
}

static int enqueue(transfer_t *t, int64_t offset, int64_t width, int64_t pitch, int64_t rows)
{
    kmm__move_t *m = t->move;
    kmm__copy_t copy = {
        .dst_gpu = m->to ? m->to->gpu : NULL,
        .src_gpu = m->from ? m->from->gpu : NULL,
        .dst = side_address(t, m->to) + (kmm__addr_t)offset,
        .src = side_address(t, m->from) + (kmm__addr_t)offset,
        .dst_pitch = pitch,
        .src_pitch = pitch,
        .width = width,
        .rows = rows,
    };
    count_bytes(t, (uint64_t)(width * rows));
    return t->device->backend->copy(t->stream, &copy);
}

/* Enqueues a copy from or to host memory that stays in one block. */
static int enqueue_host(transfer_t *t, int64_t offset, int64_t width, int64_t pitch, int64_t rows)
{
    bool staged;
    int error = host_enter(t, offset, width * rows, &staged);
    if (error)
        return error;
    char *host = t->host + offset;
    if (!staged) {
        kmm__stage_await(t->move->array->runtime, host, host + (rows - 1) * pitch + width);
        return enqueue(t, offset, width, pitch, rows);
    }
    if (t->move->to)
        /* a thread reads the host's memory now, not when the stream gets to it */
        kmm__ticket_settle(t->move->after);
    count_bytes(t, (uint64_t)(width * rows));
    return kmm__stage_copy(&t->stage, side_address(t, t->device) + (kmm__addr_t)offset, host, width,
                           pitch, rows);
}

/* Enqueues one row, which may cross borders of blocks. */
static int enqueue_row(transfer_t *t, int64_t offset, int64_t width)
{
    for (int error; width > 0;) {
        int64_t n = min64(width, kmm__pagelock_room(t->move->array, offset));
        if ((error = enqueue_host(t, offset, n, n, 1)))
            return error;
        offset += n;
        width -= n;
    }
    return 0;
}

/* Returns how many of `left` rows that begin at `offset` lie in one block. */
static int64_t rows_in_block(const kmm__array_t *a, const kmm__rows_t *rows, int64_t offset,
                             int64_t left)
{
    int64_t room = kmm__pagelock_room(a, offset);
    if (room < rows->width)
        return 0;
    return left == 1 ? 1 : min64(1 + (room - rows->width) / rows->pitch, left);
}

static int enqueue_rows(void *arg, const kmm__rows_t *rows)
{
    transfer_t *t = arg;
    int error = 0;
    if (t->move->from && t->move->to)
        return enqueue(t, rows->offset, rows->width, rows->pitch, rows->count);
    for (int64_t k = 0; k < rows->count && !error;) {
        int64_t offset = rows->offset + k * rows->pitch,
                fit = rows_in_block(t->move->array, rows, offset, rows->count - k);
        if (fit == 0) {
            error = enqueue_row(t, offset, rows->width);
            k++;
            continue;
        }
        error = enqueue_host(t, offset, rows->width, rows->pitch, fit);
        k += fit;
    }
    return error;
}

/* Takes a turn for a copy from or to the host, if turns are counted. Waits first until the copy can
 * run at once, so that no turn passes while it waits behind a kernel. A copy in waits until its
 * source is valid, because a thread may read the host's memory at once. It must not wait for that
 * during its turn: other copies may need a turn before they make the source valid. False: no turn
 * was taken. */
static bool turn_take(const kmm__move_t *m, kmm__device_t *d)
{
    uint32_t most, count;
    if (!kmm__links_count(d->runtime) || (m->from && m->to))
        return false;
    if (m->to)
        kmm__ticket_settle(m->after);
    else if (kmm__links_state(d->runtime, &most, &count))
        kmm__ticket_poll(m->after);
    return kmm__links_enter(d, (uint64_t)kmm__box_volume(&m->box));
}

/* A trace point of a copy: now, or when the stream is there. */
static void trace_copy(const transfer_t *t, kmm__event_kind_t kind, uint64_t task)
{
    const kmm__move_t *m = t->move;
    const kmm__event_t e = {.kind = (uint8_t)kind,
                            .mode = !m->to    ? KMM__COPY_OUT
                                    : m->from ? KMM__COPY_PEER
                                              : KMM__COPY_IN,
                            .device = t->device->number,
                            .task = task,
                            .a = kmm__array_number(m->array),
                            .b = t->bytes};
    if (kind == KMM__EVENT_COPY_ENQUEUED)
        kmm__trace_push(&e);
    else
        kmm__stream_mark(t->device, t->stream, &e);
}

static void trace_copy_begin(const transfer_t *t, uint64_t task)
{
    trace_copy(t, KMM__EVENT_COPY_ENQUEUED, task);
    if (t->move->after)
        trace_copy(t, KMM__EVENT_COPY_BEGIN, task);
}

static int move_enqueue(kmm__move_t *m, uint64_t task, bool records)
{
    kmm__device_t *d = m->to ? m->to : m->from;
    transfer_t t = {.move = m,
                    .device = d,
                    .stream = !m->to    ? d->out
                              : m->from ? d->peer
                                        : d->in,
                    /* Another thread may be making it while a copy between devices, which does
                     * not use it, is enqueued. */
                    .host = m->from && m->to ? NULL : m->array->host};
    int64_t begin;
    t.stage = (kmm__stage_t){.device = d, .stream = t.stream, .is_out = !m->to};
    pthread_mutex_t *lock = !m->to ? &d->out_lock : m->from ? &d->peer_lock : &d->in_lock;
    kmm__ticket_await(m->after, d, t.stream);
    bool has_turn = turn_take(m, d);
    pthread_mutex_lock(lock);
    if (m->from && m->to)
        kmm__frames_share(m->array, m->from, m->to, &m->layout, &m->box);
    int error = kmm__ticket_wait(m->after, d, t.stream);
    const bool is_traced = kmm__tracing();
    if (is_traced)
        trace_copy_begin(&t, task);
    kmm__layout_hull(&m->layout, &m->box, &begin, &t.end);
    if (!error)
        error = kmm__layout_rows(&m->layout, &m->box, enqueue_rows, &t);
    int sent = kmm__stage_finish(&t.stage);
    error = error ? error : sent;
    if (is_traced)
        trace_copy(&t, KMM__EVENT_COPY_END, task);
    sources_leave(&t);
    if (error)
        m->ticket->error = error;
    int recorded = records ? kmm__ticket_record(m->ticket) : 0;
    if (has_turn)
        kmm__links_leave(d, t.stream);
    pthread_mutex_unlock(lock);
    return error ? error : recorded;
}

static bool is_last_of_ticket(const kmm__moves_t *moves, uint32_t k)
{
    for (uint32_t j = k + 1; j < moves->count; j++)
        if (moves->move[j].ticket == moves->move[k].ticket)
            return false;
    return true;
}

int kmm__moves_enqueue(kmm__moves_t *moves, bool to_host)
{
    int error = 0;
    for (uint32_t k = 0; k < moves->count; k++) {
        if ((moves->move[k].to == NULL) != to_host)
            continue;
        int e = move_enqueue(&moves->move[k], moves->task, is_last_of_ticket(moves, k));
        error = error ? error : e;
    }
    return error;
}

void kmm__moves_push(kmm__moves_t *moves, kmm__array_t *a, const kmm__box_t *box,
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
        kmm__pages_plan_read(a, &a->coherence.layout, box, true);
}

void kmm__moves_drop(kmm__moves_t *moves)
{
    for (uint32_t k = 0; k < moves->count; k++) {
        if (!moves->move[k].from)
            kmm__pages_plan_read(moves->move[k].array, &moves->move[k].layout, &moves->move[k].box,
                                 false);
        kmm__ticket_unref(moves->move[k].after);
        kmm__ticket_unref(moves->move[k].ticket);
    }
    free(moves->move);
    *moves = (kmm__moves_t){0};
}
