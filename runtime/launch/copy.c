/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, fills, and the host's direct reads and writes of arrays. Each is an operation that the
 * DAG orders with launches. */
#include "launch/copy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/flags.h"
#include "execute/exact_host.h"
#include "launch/gate.h"
#include "launch/nodes.h"
#include "launch/operation.h"
#include "launch/wait.h"
#include "memory/disk/page.h"
#include "memory/lifetime.h"
#include "memory/residency/native.h"
#include "task/inside.h"

/* ---- Copies ---- */

/* Finds the array that contains [address, address + bytes) and the offset of the address in it. */
static int find_range(kmm_runtime_t *rt, const void *address, size_t bytes, kmm__array_t **array,
                      int64_t *begin)
{
    kmm__array_t *a = kmm__array_find(rt, address);
    if (!a && bytes == 0) { /* a copy of 0 bytes at the end of mapped memory is allowed */
        a = kmm__array_find(rt, (const void *)((uintptr_t)address - 1));
        a = a && a->is_mapped ? a : NULL;
    }
    if (!a)
        return kmm__error_set(KMM_E_ADDRESS, "%p is in no array", address);
    *begin = (const char *)address - a->base;
    if (bytes > a->bytes - (size_t)*begin)
        return kmm__error_set(KMM_E_RANGE, "%zu bytes at byte %lld of an array of %zu", bytes,
                              (long long)*begin, a->bytes);
    *array = a;
    return 0;
}

static int run_copy_in(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    memcpy(op->array->host + op->begin, op->memory, op->bytes);
    return 0;
}

static int run_copy_out(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    memcpy(op->memory, op->array->host + op->begin, op->bytes);
    return 0;
}

static int run_copy(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    memmove(op->array->host + op->begin, op->other->host + op->other_begin, op->bytes);
    return 0;
}

static int run_fill(kmm__operation_t *base)
{
    const kmm__array_operation_t *op = (const kmm__array_operation_t *)base;
    memset(op->array->host + op->begin, op->value, op->bytes);
    return 0;
}

/* Returns the maximum number of bytes of one operation: 16 MiB, less if host memory is limited, so
 * that the limit has room for 8 operations. */
static size_t piece_most(const kmm_runtime_t *rt)
{
    enum { PIECE = 16 << 20, PIECES_OF_ROOM = 8 };
    size_t page = kmm__spill_page_bytes(rt), most = PIECE;
    while (page && most > page && most > kmm__spill_room(rt) / PIECES_OF_ROOM)
        most /= 2;
    return most;
}

/* Runs an operation on one range of one array in pieces. So all threads of the CPU take part, and a
 * piece from a device is used while the next one is copied. */
static int operate_in_pieces(kmm_runtime_t *rt, const kmm__array_operation_t *op, const char *name,
                             kmm_mode_t mode)
{
    size_t most = piece_most(rt), count = (op->bytes + most - 1) / most;
    kmm__task_t **tasks = kmm__alloc(count * sizeof(*tasks));
    int error = 0;
    for (size_t k = 0; k < count; k++) {
        kmm__array_operation_t piece = *op;
        size_t from = k * most;
        piece.begin += (int64_t)from;
        piece.bytes = op->bytes - from < most ? op->bytes - from : most;
        piece.memory = op->memory ? (char *)op->memory + from : NULL;
        kmm__access_t a =
            kmm__access_bytes(op->array, mode, piece.begin, piece.begin + (int64_t)piece.bytes);
        int e = kmm__operation_submit(rt, &piece, name, &a, 1, &tasks[k]);
        error = error ? error : e;
    }
    for (size_t k = 0; k < count; k++) {
        int e = kmm__operation_await(rt, tasks[k]);
        error = error ? error : e;
    }
    free(tasks);
    return error;
}

/* Tells the check of host code that a copy has been awaited, which may have stored to mapped
 * memory. What a comparison restores is left as it was. */
static void told_host(const void *address, size_t bytes, bool stores)
{
    if (stores && !kmm__gate_is_closed_here())
        kmm__exact_host_update(address, bytes, true);
    else
        kmm__exact_host_wait();
}

/* Runs an operation on the range of bytes that begins at an address. */
static int on_range(kmm_runtime_t *rt, kmm__array_operation_t *op, const char *name,
                    kmm_mode_t mode, const void *address)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    KMM__NATIVE_HOLD(refused, rt, name);
    if (kmm__inside_refuse(name) || refused)
        return KMM_E_STATE;
    const kmm__copied_t copied = {op->memory, op->value, mode == KMM_WRITE,
                                  op->base.run == run_fill};
    bool is_done = false;
    int error = kmm__nodes_copy(rt, address, op->bytes, &copied, &is_done);
    if (error || is_done)
        return error;
    kmm__gate_enter(rt);
    pthread_mutex_lock(&rt->lock);
    error = find_range(rt, address, op->bytes, &op->array, &op->begin);
    if (!error && op->bytes)
        error = operate_in_pieces(rt, op, name, mode);
    pthread_mutex_unlock(&rt->lock);
    told_host(address, op->bytes, mode == KMM_WRITE && !error);
    kmm__gate_leave();
    return error;
}

KMM__API int kmm_copy_in(kmm_runtime_t *rt, void *array, const void *src, size_t bytes)
{
    kmm__array_operation_t op = {
        .base = {run_copy_in}, .memory = (void *)(uintptr_t)src, .bytes = bytes};
    return on_range(rt, &op, "copy in", KMM_WRITE, array);
}

KMM__API int kmm_copy_out(kmm_runtime_t *rt, void *dst, const void *array, size_t bytes)
{
    kmm__array_operation_t op = {.base = {run_copy_out}, .memory = dst, .bytes = bytes};
    int error = on_range(rt, &op, "copy out", KMM_READ, array);
    kmm__flags_settle(kmm_thread_number());
    return error;
}

KMM__API int kmm_fill(kmm_runtime_t *rt, void *array, int value, size_t bytes)
{
    kmm__array_operation_t op = {.base = {run_fill}, .value = value, .bytes = bytes};
    return on_range(rt, &op, "fill", KMM_WRITE, array);
}

static int operate(kmm_runtime_t *rt, const kmm__array_operation_t *op, const char *name,
                   const kmm__access_t *accesses, uint32_t count)
{
    kmm__task_t *t = NULL;
    int error = kmm__operation_submit(rt, op, name, accesses, count, &t),
        ran = kmm__operation_await(rt, t);
    return error ? error : ran;
}

/* While the operation is awaited, the lock is released, and other threads may end the arrays' maps.
 * The references keep the arrays. */
static void hold(const kmm__array_operation_t *op)
{
    if (op->array)
        kmm__array_ref(op->array);
    if (op->other)
        kmm__array_ref(op->other);
}

static void let_go(const kmm__array_operation_t *op)
{
    if (op->array)
        kmm__array_unref(op->array);
    if (op->other)
        kmm__array_unref(op->other);
}

static int copy_piece(kmm_runtime_t *rt, const kmm__array_operation_t *op)
{
    int64_t n = (int64_t)op->bytes;
    kmm__access_t accesses[2] = {
        kmm__access_bytes(op->other, KMM_READ, op->other_begin, op->other_begin + n),
        kmm__access_bytes(op->array, KMM_WRITE, op->begin, op->begin + n),
    };
    if (op->array == op->other && llabs(op->begin - op->other_begin) < n)
        accesses[1].mode = KMM_UPDATE;
    return operate(rt, op, "copy", accesses, 2);
}

KMM__API int kmm_copy(kmm_runtime_t *rt, void *dst, const void *src, size_t bytes)
{
    kmm__array_operation_t op = {.base = {run_copy}, .bytes = bytes};
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    KMM__NATIVE_HOLD(refused, rt, "copy");
    if (kmm__inside_refuse("copy") || refused)
        return KMM_E_STATE;
    int error = kmm__nodes_use(rt, src, bytes, KMM_READ);
    error = error ? error : kmm__nodes_use(rt, dst, bytes, KMM_WRITE);
    if (error)
        return error;
    kmm__gate_enter(rt);
    pthread_mutex_lock(&rt->lock);
    error = find_range(rt, dst, bytes, &op.array, &op.begin);
    if (!error)
        error = find_range(rt, src, bytes, &op.other, &op.other_begin);
    /* Overlapping ranges are copied as by memmove: from the end whose bytes no later piece reads.
     */
    bool backwards = op.array == op.other && op.begin > op.other_begin;
    size_t most = kmm__spill_room(rt) ? piece_most(rt) : bytes;
    hold(&op);
    for (size_t done = 0, n; done < bytes && !error; done += n) {
        kmm__array_operation_t piece = op;
        n = bytes - done < most ? bytes - done : most;
        int64_t from = (int64_t)(backwards ? bytes - done - n : done);
        piece.begin += from;
        piece.other_begin += from;
        piece.bytes = n;
        error = copy_piece(rt, &piece);
    }
    let_go(&op);
    pthread_mutex_unlock(&rt->lock);
    told_host(dst, bytes, !error);
    kmm__gate_leave();
    return error;
}

/* ---- Reads and writes by the host itself ---- */

static int run_nothing(kmm__operation_t *base)
{
    (void)base;
    return 0;
}

/* Runs an operation without effect on elements of mapped memory. Its access brings the newest
 * values to the host (KMM_READ) or makes the host their only holder (KMM_WRITE). */
static int touch(kmm_runtime_t *rt, kmm_mode_t mode, const char *name, const void *base,
                 size_t bytes)
{
    kmm__array_operation_t op = {.base = {run_nothing}, .bytes = bytes};
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    KMM__NATIVE_HOLD(refused, rt, name);
    if (kmm__inside_refuse(name) || refused)
        return KMM_E_STATE;
    int error = kmm__nodes_use(rt, base, bytes, mode);
    if (error)
        return error;
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, base);
    if (!a || !a->is_mapped)
        error = kmm__error_set(KMM_E_ADDRESS, "%p is not mapped", base);
    else if (bytes == KMM_ALL_BYTES)
        op.array = a, op.bytes = a->bytes;
    else
        error = find_range(rt, base, bytes, &op.array, &op.begin);
    const int64_t begin = (int64_t)op.begin, end = begin + (int64_t)op.bytes;
    hold(&op);
    if (!error && op.bytes)
        error = operate_in_pieces(rt, &op, name, mode);
    /* The host may write next what earlier launches read. Their errors are told elsewhere. */
    if (!error && op.bytes && mode == KMM_READ)
        kmm__bytes_await(rt, op.array, begin, end);
    let_go(&op);
    pthread_mutex_unlock(&rt->lock);
    return error;
}

int kmm__bytes_to_host(kmm_runtime_t *rt, kmm__array_t *a, int64_t begin, int64_t end)
{
    const kmm__array_operation_t op = {
        .base = {run_nothing}, .array = a, .begin = begin, .bytes = (size_t)(end - begin)};
    return operate_in_pieces(rt, &op, "update from", KMM_READ);
}

KMM__API int kmm_update_from(kmm_runtime_t *rt, const void *base, size_t bytes)
{
    return touch(rt, KMM_READ, "update from", base, bytes);
}

KMM__API int kmm_update_to(kmm_runtime_t *rt, const void *base, size_t bytes)
{
    return touch(rt, KMM_WRITE, "update to", base, bytes);
}
