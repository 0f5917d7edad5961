/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out planned copies. The host's side is page-locked in blocks when it is first used, so
 * that copies run at the link's speed beside each other; a copy never spans two blocks, because
 * drivers take them for different memory.
 */
#include <stdlib.h>

#include "../internal.h"

#define BLOCK_BYTES ((int64_t)64 << 20)
#define LOCK_AT_LEAST ((size_t)1 << 20) /* smaller blocks are not worth a system call */

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void block_prepare(kmm__array_t *a, kmm__backend_t *backend, int64_t offset)
{
    int64_t k = offset / BLOCK_BYTES, begin = k * BLOCK_BYTES;
    pthread_mutex_lock(&a->block_lock);
    if (!a->blocks) {
        a->block_count = (uint32_t)(((int64_t)a->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
        a->blocks = kmm__alloc(a->block_count);
    }
    if (a->blocks[k] == KMM__BLOCK_NEW) {
        size_t bytes = (size_t)(min64(begin + BLOCK_BYTES, (int64_t)a->bytes) - begin);
        bool locked = bytes >= LOCK_AT_LEAST && backend->host_register(backend, a->host + begin, bytes) == 0;
        a->blocks[k] = locked ? KMM__BLOCK_LOCKED : KMM__BLOCK_PAGEABLE;
        if (locked)
            a->locked_by = backend;
    }
    pthread_mutex_unlock(&a->block_lock);
}

void kmm__transfer_forget(kmm__array_t *a)
{
    for (uint32_t k = 0; k < a->block_count; k++)
        if (a->blocks[k] == KMM__BLOCK_LOCKED)
            a->locked_by->host_unregister(a->locked_by, a->host + k * BLOCK_BYTES);
    free(a->blocks);
    a->blocks = NULL;
    a->block_count = 0;
}

typedef struct transfer {
    kmm__move_t *move;
    kmm__device_t *device; /* whose stream carries it */
    kmm__stream_t *stream;
} transfer_t;

static kmm__addr_t side_address(kmm__array_t *a, kmm__device_t *d)
{
    return d ? a->residence[d->index].window : (kmm__addr_t)(uintptr_t)a->host;
}

/* Several threads enqueue; the counters are read while they do. */
static void count_bytes(const kmm__move_t *m, uint64_t bytes)
{
    uint64_t *counter = !m->to ? &m->from->bytes_out : m->from ? &m->to->bytes_peer : &m->to->bytes_in;
    __atomic_fetch_add(counter, bytes, __ATOMIC_RELAXED);
}

static int enqueue(transfer_t *t, int64_t offset, int64_t width, int64_t pitch, int64_t rows)
{
    kmm__move_t *m = t->move;
    kmm__copy_t copy = {
        .dst_gpu = m->to ? m->to->gpu : NULL,
        .src_gpu = m->from ? m->from->gpu : NULL,
        .dst = side_address(m->array, m->to) + (kmm__addr_t)offset,
        .src = side_address(m->array, m->from) + (kmm__addr_t)offset,
        .dst_pitch = pitch,
        .src_pitch = pitch,
        .width = width,
        .rows = rows,
    };
    count_bytes(m, (uint64_t)(width * rows));
    return t->device->backend->copy(t->stream, &copy);
}

/* One row that may cross blocks. */
static int enqueue_row(transfer_t *t, int64_t offset, int64_t width)
{
    for (int error; width > 0;) {
        int64_t n = min64(width, BLOCK_BYTES - offset % BLOCK_BYTES);
        block_prepare(t->move->array, t->device->backend, offset);
        if ((error = enqueue(t, offset, n, n, 1)))
            return error;
        offset += n;
        width -= n;
    }
    return 0;
}

/* How many of `left` rows that begin at `offset` lie in one block. */
static int64_t rows_in_block(const kmm__rows_t *rows, int64_t offset, int64_t left)
{
    int64_t room = BLOCK_BYTES - offset % BLOCK_BYTES;
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
        int64_t offset = rows->offset + k * rows->pitch, fit = rows_in_block(rows, offset, rows->count - k);
        if (fit == 0) {
            error = enqueue_row(t, offset, rows->width);
            k++;
            continue;
        }
        block_prepare(t->move->array, t->device->backend, offset);
        error = enqueue(t, offset, rows->width, rows->pitch, fit);
        k += fit;
    }
    return error;
}

static int move_enqueue(kmm__move_t *m, bool records)
{
    kmm__device_t *d = m->to ? m->to : m->from;
    transfer_t t = { m, d, !m->to ? d->out : m->from ? d->peer : d->in };
    pthread_mutex_t *lock = !m->to ? &d->out_lock : m->from ? &d->peer_lock : &d->in_lock;
    pthread_mutex_lock(lock);
    if (m->from && m->to)
        kmm__frames_share(m->array, m->from, m->to, &m->layout, &m->box);
    int error = kmm__ticket_wait(m->after, d, t.stream);
    if (!error)
        error = kmm__layout_rows(&m->layout, &m->box, enqueue_rows, &t);
    int recorded = records ? kmm__ticket_record(m->ticket) : 0;
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

int kmm__moves_enqueue(kmm__moves_t *moves)
{
    int error = 0;
    /* To the host first: copies to a device may wait for those, and a ticket is recorded only
     * behind its last copy. */
    for (int to_host = 1; to_host >= 0; to_host--) {
        for (uint32_t k = 0; k < moves->count; k++) {
            if ((moves->move[k].to == NULL) != to_host)
                continue;
            int e = move_enqueue(&moves->move[k], is_last_of_ticket(moves, k));
            error = error ? error : e;
        }
    }
    return error;
}

void kmm__moves_drop(kmm__moves_t *moves)
{
    for (uint32_t k = 0; k < moves->count; k++) {
        kmm__ticket_unref(moves->move[k].after);
        kmm__ticket_unref(moves->move[k].ticket);
    }
    free(moves->move);
    *moves = (kmm__moves_t){ 0 };
}
