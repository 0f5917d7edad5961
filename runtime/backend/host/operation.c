/* SPDX-License-Identifier: Apache-2.0 */
/* Runs operations. Threads claim units by a counter, `grain` at a time. The last thread to leave a
 * shared operation goes on with the stream. */
#include "backend/host/operation.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/running.h"
#include "base/spin.h"

/* Claims for each thread: more even out the load better, fewer contend less. */
enum { CLAIMS_PER_THREAD = 8 };
/* A kernel with fewer CUDA threads than this begins on one CPU thread. It is shared only after it
 * has run this long. */
enum { SMALL_KERNEL_THREADS = 2048, SMALL_KERNEL_NS = 10000, SMALL_KERNEL_PIECES = 16 };
/* Copies and fills of at least SHARED_COPY bytes are shared, in pieces of COPY_PIECE bytes. */
enum { SHARED_COPY = 1 << 20, COPY_PIECE = 1 << 17 };

static void copy_units(const kmm__op_t *op, uint64_t first, uint64_t last)
{
    if (op->copy.rows == 1) {
        size_t begin = first * COPY_PIECE, end = last * COPY_PIECE;
        if (op->units == 1 || end > (size_t)op->copy.width)
            end = (size_t)op->copy.width;
        memcpy(op->copy.dst + begin, op->copy.src + begin, end - begin);
        return;
    }
    for (int64_t row = (int64_t)first; row < (int64_t)last; row++)
        memcpy(op->copy.dst + row * op->copy.dst_pitch, op->copy.src + row * op->copy.src_pitch,
               (size_t)op->copy.width);
}

static void fill_units(const kmm__op_t *op, uint64_t first, uint64_t last)
{
    size_t begin = first * COPY_PIECE, end = last * COPY_PIECE;
    if (op->units == 1 || end > op->fill.bytes)
        end = op->fill.bytes;
    memset(op->fill.dst + begin, op->fill.value, end - begin);
}

static void run_blocks(kmm__op_t *op, uint64_t first, uint64_t last)
{
    kmm_host_blocks_t box = op->blocks.box;
    const kmm__running_t now = {op->tasks, op->task_count}, *outer = kmm__running;
    box.first = first;
    box.last = last;
    kmm__running_set(&now);
    op->blocks.run(&box, op->payload);
    kmm__running_set(outer);
}

static void run_call(kmm__op_t *op)
{
    const kmm__running_t now = {op->tasks, op->task_count}, *outer = kmm__running;
    kmm__running_set(&now);
    op->call.function(&op->call.chunk, op->payload);
    kmm__running_set(outer);
}

static void run_units(kmm__op_t *op, uint64_t first, uint64_t last)
{
    switch (op->kind) {
    case KMM__OP_BLOCKS: run_blocks(op, first, last); return;
    case KMM__OP_COPY: copy_units(op, first, last); return;
    case KMM__OP_FILL: fill_units(op, first, last); return;
    case KMM__OP_CALL: run_call(op); return;
    case KMM__OP_NOTIFY: op->notify.fn(op->notify.arg, 0); return;
    case KMM__OP_WAIT: assert(!"waits are the stream's business"); return;
    }
}

static void run_claims(kmm__op_t *op)
{
    for (;;) {
        uint64_t first = atomic_fetch_add_explicit(&op->claimed, op->grain, memory_order_relaxed);
        if (first >= op->units)
            return;
        uint64_t left = op->units - first;
        run_units(op, first, first + (left < op->grain ? left : op->grain));
    }
}

static void help(kmm__pool_item_t *item)
{
    kmm__op_t *op = (kmm__op_t *)((char *)item - offsetof(kmm__op_t, item));
    run_claims(op);
    if (kmm__thread_pool_leave(op->pool, item))
        op->resume(op);
}

/* Runs units on this thread until all are done or SMALL_KERNEL_NS have passed. Returns how many
 * were run. */
static uint64_t run_small(kmm__op_t *op)
{
    uint64_t piece = op->units / SMALL_KERNEL_PIECES + 1;
    uint64_t deadline = kmm__now() + SMALL_KERNEL_NS;
    uint64_t done = 0;
    while (done < op->units) {
        uint64_t left = op->units - done;
        uint64_t count = left < piece ? left : piece;
        run_units(op, done, done + count);
        done += count;
        if (kmm__now() > deadline)
            break;
    }
    return done;
}

static bool is_small(const kmm__op_t *op)
{
    const uint32_t *block = op->blocks.box.block;
    return op->kind == KMM__OP_BLOCKS &&
           (double)op->units * block[0] * block[1] * block[2] < SMALL_KERNEL_THREADS;
}

bool kmm__op_run(kmm__op_t *op, kmm__thread_pool_t *pool, void (*resume)(kmm__op_t *op))
{
    if (op->units == 0)
        return true;
    if (op->units == 1 || pool->thread_count == 1) {
        run_units(op, 0, op->units);
        return true;
    }
    uint64_t done = is_small(op) ? run_small(op) : 0;
    uint64_t left = op->units - done;
    if (left <= 1) {
        if (left == 1)
            run_units(op, done, op->units);
        return true;
    }
    op->grain = left / ((uint64_t)pool->thread_count * CLAIMS_PER_THREAD);
    op->grain += op->grain == 0;
    uint64_t claims = (left + op->grain - 1) / op->grain;
    uint64_t seats = claims < pool->thread_count ? claims - 1 : pool->thread_count - 1;
    atomic_store_explicit(&op->claimed, done, memory_order_relaxed);
    op->item = (kmm__pool_item_t){.run = help};
    op->resume = resume;
    op->pool = pool;
    kmm__thread_pool_share(pool, &op->item, (uint32_t)seats);
    run_claims(op);
    return kmm__thread_pool_leave(pool, &op->item);
}

uint64_t kmm__op_pieces(uint64_t bytes)
{
    return bytes < SHARED_COPY ? 1 : (bytes + COPY_PIECE - 1) / COPY_PIECE;
}
