/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations of the host device do.
 *
 * Kernels, copies and fills consist of units (a block, some bytes, a row) that may run in any
 * order. Threads claim them by a counter, `grain` at a time. Whoever is last continues the stream.
 */
#include "backend/host/host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How many claims there are for each thread: enough to even out, few enough not to contend. */
enum { CLAIMS_PER_THREAD = 8 };
/* A kernel of fewer CUDA threads starts on one CPU thread, and is shared once it has run this long.
 */
enum { SMALL_KERNEL_THREADS = 2048, SMALL_KERNEL_NS = 10000, SMALL_KERNEL_PIECES = 16 };
/* Copies and fills are shared from SHARED_COPY bytes on, in pieces of COPY_PIECE. */
enum { SHARED_COPY = 1 << 20, COPY_PIECE = 1 << 17 };

/* ---- Running units ---- */

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

static void run_units(kmm__op_t *op, uint64_t first, uint64_t last)
{
    switch (op->kind) {
    case KMM__OP_BLOCKS: {
        kmm_host_blocks_t box = op->blocks.box;
        box.first = first;
        box.last = last;
        op->blocks.run(&box, op->payload);
        return;
    }
    case KMM__OP_COPY: copy_units(op, first, last); return;
    case KMM__OP_FILL: fill_units(op, first, last); return;
    case KMM__OP_CALL: op->call.function(&op->call.chunk, op->payload); return;
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

static void help(kmm__item_t *item)
{
    kmm__op_t *op = (kmm__op_t *)((char *)item - offsetof(kmm__op_t, item));
    kmm__stream_t *s = op->stream;
    run_claims(op);
    if (kmm__pool_leave(&s->host->pool, item))
        kmm__host_stream_resume(s, op);
}

/* Runs units until they are done or the kernel has shown not to be small; returns how many. */
static uint64_t run_small(kmm__op_t *op)
{
    uint64_t piece = op->units / SMALL_KERNEL_PIECES + 1;
    uint64_t deadline = kmm__host_now() + SMALL_KERNEL_NS;
    uint64_t done = 0;
    while (done < op->units) {
        uint64_t left = op->units - done;
        uint64_t count = left < piece ? left : piece;
        run_units(op, done, done + count);
        done += count;
        if (kmm__host_now() > deadline)
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

bool kmm__op_run(kmm__op_t *op)
{
    kmm__pool_t *pool = &op->stream->host->pool;
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
    op->item = (kmm__item_t){.run = help};
    kmm__pool_share(pool, &op->item, (uint32_t)seats);
    run_claims(op);
    return kmm__pool_leave(pool, &op->item);
}

/* ---- Enqueueing ---- */

static int no_memory(const char *what)
{
    return kmm__host_error(KMM_E_MEMORY, "no memory to enqueue a %s", what);
}

static uint64_t pieces(uint64_t bytes)
{
    return bytes < SHARED_COPY ? 1 : (bytes + COPY_PIECE - 1) / COPY_PIECE;
}

int kmm__host_copy(kmm__stream_t *s, const kmm__copy_t *c)
{
    if (c->width < 0 || c->rows < 0)
        return kmm__host_error(KMM_E_INVALID, "copy of %lld rows of %lld bytes", (long long)c->rows,
                               (long long)c->width);
    if (c->width == 0 || c->rows == 0)
        return 0;
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_COPY, 0);
    if (!op)
        return no_memory("copy");
    bool whole = c->rows > 1 && c->dst_pitch == c->width && c->src_pitch == c->width;
    op->copy.dst = (char *)(uintptr_t)c->dst;
    op->copy.src = (const char *)(uintptr_t)c->src;
    op->copy.dst_pitch = c->dst_pitch;
    op->copy.src_pitch = c->src_pitch;
    op->copy.width = whole ? c->width * c->rows : c->width;
    op->copy.rows = whole ? 1 : c->rows;
    op->units = op->copy.rows == 1 ? pieces((uint64_t)op->copy.width) : (uint64_t)op->copy.rows;
    kmm__op_enqueue(s, op);
    return 0;
}

int kmm__host_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes)
{
    if (bytes == 0)
        return 0;
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_FILL, 0);
    if (!op)
        return no_memory("fill");
    op->fill.dst = (char *)(uintptr_t)dst;
    op->fill.value = value;
    op->fill.bytes = bytes;
    op->units = pieces(bytes);
    kmm__op_enqueue(s, op);
    return 0;
}

int kmm__host_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg)
{
    if (!fn)
        return kmm__host_error(KMM_E_INVALID, "a notification without a function");
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_NOTIFY, 0);
    if (!op)
        return no_memory("notification");
    op->notify.fn = fn;
    op->notify.arg = arg;
    kmm__op_enqueue(s, op);
    return 0;
}

/* A type's size is a multiple of its alignment, so the lowest bit of the size is enough. */
static size_t place(size_t offset, uint32_t bytes)
{
    size_t align = bytes & -bytes;
    align = align < 8 ? 8 : align > 64 ? 64 : align;
    return (offset + align - 1) & ~(align - 1);
}

/* The payload of a kernel: pointers to the values, then the values. */
static size_t args_bytes(const kmm_kernel_t *k)
{
    size_t offset = k->param_count * sizeof(void *);
    for (uint32_t p = 0; p < k->param_count; p++)
        offset = place(offset, k->param_bytes[p]) + k->param_bytes[p];
    return offset;
}

static void args_copy(const kmm_kernel_t *k, void **args, unsigned char *payload)
{
    void **pointers = (void **)payload;
    size_t offset = k->param_count * sizeof(void *);
    for (uint32_t p = 0; p < k->param_count; p++) {
        offset = place(offset, k->param_bytes[p]);
        pointers[p] = payload + offset;
        memcpy(payload + offset, args[p], k->param_bytes[p]);
        offset += k->param_bytes[p];
    }
}

static int check_kernel(const kmm__run_t *r, uint64_t *blocks)
{
    const kmm_kernel_t *k = r->kernel;
    if (k->version != KMM_LAUNCH_VERSION)
        return kmm__host_error(KMM_E_INVALID,
                               "kernel made for version %u of the launch interface, this is %d",
                               k->version, KMM_LAUNCH_VERSION);
    const char *name = k->name ? k->name : "(unnamed)";
    if (k->kind != KMM_KIND_HOST || !k->run)
        return kmm__host_error(KMM_E_INVALID, "kernel %s was not built for the host (kind %d)",
                               name, (int)k->kind);
    if (k->param_count > 0 && (!k->param_bytes || !r->args))
        return kmm__host_error(KMM_E_INVALID, "kernel %s: %u arguments are missing", name,
                               k->param_count);
    uint64_t product = 1;
    for (int d = 0; d < 3; d++) {
        if ((uint64_t)r->offset[d] + r->count[d] > r->geometry.grid[d])
            return kmm__host_error(
                KMM_E_INVALID,
                "kernel %s: blocks %u to %llu of dimension %d lie outside the grid of %u", name,
                r->offset[d], (unsigned long long)r->offset[d] + r->count[d], d,
                r->geometry.grid[d]);
        if (__builtin_mul_overflow(product, (uint64_t)r->count[d], &product))
            return kmm__host_error(KMM_E_RANGE, "kernel %s: more than 2^64 blocks", name);
    }
    *blocks = product;
    return 0;
}

static int launch_kernel(kmm__stream_t *s, const kmm__run_t *r)
{
    uint64_t blocks = 0;
    int error = check_kernel(r, &blocks);
    if (error)
        return error;
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_BLOCKS, args_bytes(r->kernel));
    if (!op)
        return no_memory("kernel");
    args_copy(r->kernel, r->args, op->payload);
    op->blocks.run = r->kernel->run;
    kmm_host_blocks_t *box = &op->blocks.box;
    memcpy(box->grid, r->geometry.grid, sizeof(box->grid));
    memcpy(box->block, r->geometry.block, sizeof(box->block));
    memcpy(box->offset, r->offset, sizeof(box->offset));
    memcpy(box->count, r->count, sizeof(box->count));
    box->shared_bytes = r->geometry.shared_bytes;
    op->units = blocks;
    kmm__op_enqueue(s, op);
    return 0;
}

int kmm__host_launch(kmm__stream_t *s, const kmm__run_t *r)
{
    if (r->kernel)
        return launch_kernel(s, r);
    if (!r->function)
        return kmm__host_error(KMM_E_INVALID, "a launch of neither a kernel nor a function");
    if (r->args_bytes > 0 && !r->args_block)
        return kmm__host_error(KMM_E_INVALID, "a function's %zu bytes of arguments are missing",
                               r->args_bytes);
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_CALL, r->args_bytes);
    if (!op)
        return no_memory("call");
    if (r->args_bytes > 0)
        memcpy(op->payload, r->args_block, r->args_bytes);
    op->call.function = r->function;
    op->call.chunk = r->chunk;
    kmm__op_enqueue(s, op);
    return 0;
}
