/* SPDX-License-Identifier: Apache-2.0 */
/* Enqueues kernels, calls, copies, fills and notifications on a stream of the CPU. */
#include "backend/host/work.h"

#include <string.h>

#include "backend/host/error.h"
#include "backend/host/stream.h"

int kmm__host_copy(kmm__stream_t *s, const kmm__copy_t *c)
{
    if (c->width < 0 || c->rows < 0)
        return kmm__host_error(KMM_E_INVALID, "copy of %lld rows of %lld bytes", (long long)c->rows,
                               (long long)c->width);
    if (c->width == 0 || c->rows == 0)
        return 0;
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_COPY, 0);
    bool whole = c->rows > 1 && c->dst_pitch == c->width && c->src_pitch == c->width;
    op->copy.dst = (char *)(uintptr_t)c->dst;
    op->copy.src = (const char *)(uintptr_t)c->src;
    op->copy.dst_pitch = c->dst_pitch;
    op->copy.src_pitch = c->src_pitch;
    op->copy.width = whole ? c->width * c->rows : c->width;
    op->copy.rows = whole ? 1 : c->rows;
    op->units =
        op->copy.rows == 1 ? kmm__op_pieces((uint64_t)op->copy.width) : (uint64_t)op->copy.rows;
    kmm__op_enqueue(s, op);
    return 0;
}

int kmm__host_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes)
{
    if (bytes == 0)
        return 0;
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_FILL, 0);
    op->fill.dst = (char *)(uintptr_t)dst;
    op->fill.value = value;
    op->fill.bytes = bytes;
    op->units = kmm__op_pieces(bytes);
    kmm__op_enqueue(s, op);
    return 0;
}

int kmm__host_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg)
{
    if (!fn)
        return kmm__host_error(KMM_E_INVALID, "a notification without a function");
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_NOTIFY, 0);
    op->notify.fn = fn;
    op->notify.arg = arg;
    kmm__op_enqueue(s, op);
    return 0;
}

/* The offset at which a value of `bytes` bytes may be stored, at or behind `offset`. A type's size
 * is a multiple of its alignment, so the lowest set bit of the size is alignment enough. */
static size_t aligned(size_t offset, uint32_t bytes)
{
    size_t align = bytes & -bytes;
    align = align < 8 ? 8 : align > 64 ? 64 : align;
    return (offset + align - 1) & ~(align - 1);
}

/* Bytes of a kernel's payload: pointers to the argument values, then the values. */
static size_t args_bytes(const kmm_kernel_t *k)
{
    size_t offset = k->param_count * sizeof(void *);
    for (uint32_t p = 0; p < k->param_count; p++)
        offset = aligned(offset, k->param_bytes[p]) + k->param_bytes[p];
    return offset;
}

static void args_copy(const kmm_kernel_t *k, void **args, unsigned char *payload)
{
    void **pointers = (void **)payload;
    size_t offset = k->param_count * sizeof(void *);
    for (uint32_t p = 0; p < k->param_count; p++) {
        offset = aligned(offset, k->param_bytes[p]);
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

static void note_tasks(kmm__op_t *op, const kmm__run_t *r)
{
    op->task = r->task_count ? r->tasks[0] : NULL;
    op->tasks = r->task_count > 1 ? r->tasks : &op->task;
    op->task_count = r->task_count;
}

static int launch_kernel(kmm__stream_t *s, const kmm__run_t *r)
{
    uint64_t blocks = 0;
    int error = check_kernel(r, &blocks);
    if (error)
        return error;
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_BLOCKS, args_bytes(r->kernel));
    args_copy(r->kernel, r->args, op->payload);
    op->blocks.run = r->kernel->run;
    kmm_host_blocks_t *box = &op->blocks.box;
    memcpy(box->grid, r->geometry.grid, sizeof(box->grid));
    memcpy(box->block, r->geometry.block, sizeof(box->block));
    memcpy(box->offset, r->offset, sizeof(box->offset));
    memcpy(box->count, r->count, sizeof(box->count));
    box->shared_bytes = r->geometry.shared_bytes;
    op->units = blocks;
    note_tasks(op, r);
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
    if (r->args_bytes > 0)
        memcpy(op->payload, r->args_block, r->args_bytes);
    op->call.function = r->function;
    op->call.chunk = r->chunk;
    note_tasks(op, r);
    kmm__op_enqueue(s, op);
    return 0;
}
