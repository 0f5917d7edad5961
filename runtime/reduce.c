/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions. Each chunk works on a private copy, which begins as the operator's identity; the
 * copies lie one behind the other in a temporary array, so they move and spill like any data. They
 * are folded pairwise by their number, whatever the order in which chunks ran, then accumulated.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "internal.h"

size_t kmm__type_bytes(kmm_type_t type)
{
    static const size_t bytes[] = {
        [KMM_INT8] = 1, [KMM_INT16] = 2, [KMM_INT32] = 4, [KMM_INT64] = 8, [KMM_UINT8] = 1,
        [KMM_UINT16] = 2, [KMM_UINT32] = 4, [KMM_UINT64] = 8, [KMM_FLOAT] = 4, [KMM_DOUBLE] = 8,
    };
    return (unsigned)type <= KMM_DOUBLE ? bytes[type] : 0;
}

bool kmm__reduce_allows(kmm_op_t op, kmm_type_t type)
{
    bool bits = op == KMM_OP_BAND || op == KMM_OP_BOR || op == KMM_OP_BXOR;
    return (unsigned)op <= KMM_OP_LOR && kmm__type_bytes(type) && !(bits && type >= KMM_FLOAT);
}

/* out[k] = out[k] op in[k] for n elements of T. */
#define FOLD_COMMON(T)                                                                             \
    case KMM_OP_ADD: for (size_t k = 0; k < n; k++) a[k] = (T)(a[k] + b[k]); return;                \
    case KMM_OP_MUL: for (size_t k = 0; k < n; k++) a[k] = (T)(1u * a[k] * b[k]); return;           \
    case KMM_OP_MIN: for (size_t k = 0; k < n; k++) a[k] = b[k] < a[k] ? b[k] : a[k]; return;       \
    case KMM_OP_MAX: for (size_t k = 0; k < n; k++) a[k] = b[k] > a[k] ? b[k] : a[k]; return;       \
    case KMM_OP_LAND: for (size_t k = 0; k < n; k++) a[k] = (T)(a[k] && b[k]); return;              \
    case KMM_OP_LOR: for (size_t k = 0; k < n; k++) a[k] = (T)(a[k] || b[k]); return;
#define FOLD_BITS(T)                                                                               \
    case KMM_OP_BAND: for (size_t k = 0; k < n; k++) a[k] = (T)(a[k] & b[k]); return;               \
    case KMM_OP_BOR: for (size_t k = 0; k < n; k++) a[k] = (T)(a[k] | b[k]); return;                \
    case KMM_OP_BXOR: for (size_t k = 0; k < n; k++) a[k] = (T)(a[k] ^ b[k]); return;
#define FOLD_NO_BITS                                                                               \
    case KMM_OP_BAND: case KMM_OP_BOR: case KMM_OP_BXOR: return;
#define FOLD(T, name, bits)                                                                        \
    static void fold_##name(kmm_op_t op, T *a, const T *b, size_t n)                                \
    {                                                                                              \
        switch (op) { FOLD_COMMON(T) bits }                                                        \
    }
/* Signed sums wrap around, as they do on devices: they are formed as unsigned ones. 1u keeps a product of 16-bit
 * elements from being one of ints, which would overflow. */
FOLD(int8_t, int8, FOLD_BITS(int8_t))
FOLD(int16_t, int16, FOLD_BITS(int16_t))
FOLD(int32_t, int32, FOLD_BITS(int32_t))
FOLD(int64_t, int64, FOLD_BITS(int64_t))
FOLD(uint8_t, uint8, FOLD_BITS(uint8_t))
FOLD(uint16_t, uint16, FOLD_BITS(uint16_t))
FOLD(uint32_t, uint32, FOLD_BITS(uint32_t))
FOLD(uint64_t, uint64, FOLD_BITS(uint64_t))
FOLD(float, float, FOLD_NO_BITS)
FOLD(double, double, FOLD_NO_BITS)

static bool wraps(kmm_op_t op)
{
    return op == KMM_OP_ADD || op == KMM_OP_MUL;
}

static void fold(kmm_op_t op, kmm_type_t type, void *a, const void *b, size_t bytes)
{
    size_t n = bytes / kmm__type_bytes(type);
    if (wraps(op) && type <= KMM_INT64)
        type = (kmm_type_t)(type + KMM_UINT8 - KMM_INT8);
    switch (type) {
    case KMM_INT8: fold_int8(op, a, b, n); return;
    case KMM_INT16: fold_int16(op, a, b, n); return;
    case KMM_INT32: fold_int32(op, a, b, n); return;
    case KMM_INT64: fold_int64(op, a, b, n); return;
    case KMM_UINT8: fold_uint8(op, a, b, n); return;
    case KMM_UINT16: fold_uint16(op, a, b, n); return;
    case KMM_UINT32: fold_uint32(op, a, b, n); return;
    case KMM_UINT64: fold_uint64(op, a, b, n); return;
    case KMM_FLOAT: fold_float(op, a, b, n); return;
    case KMM_DOUBLE: fold_double(op, a, b, n); return;
    }
}

/* The identity of an operator as an element of a type. */
static void identity(kmm_op_t op, kmm_type_t type, unsigned char out[8])
{
    size_t bytes = kmm__type_bytes(type);
    uint64_t ones = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1, v = 0;
    bool is_signed = type <= KMM_INT64;
    switch (op) {
    case KMM_OP_ADD: case KMM_OP_BOR: case KMM_OP_BXOR: case KMM_OP_LOR: break;
    case KMM_OP_MUL: case KMM_OP_LAND: v = 1; break;
    case KMM_OP_BAND: v = ones; break;
    case KMM_OP_MIN: v = is_signed ? ones >> 1 : ones; break;
    case KMM_OP_MAX: v = is_signed ? (ones >> 1) + 1 : 0; break;
    }
    if (type >= KMM_FLOAT) {
        double d = op == KMM_OP_MIN ? INFINITY : op == KMM_OP_MAX ? -INFINITY : (double)v;
        float f = (float)d;
        memcpy(out, type == KMM_FLOAT ? (const void *)&f : &d, bytes);
        return;
    }
    memcpy(out, &v, bytes); /* little-endian, like every device we drive */
}

void kmm__reduce_identity(const kmm__reduction_t *r, void *out, size_t bytes)
{
    unsigned char one[8];
    size_t size = kmm__type_bytes(r->type);
    identity(r->op, r->type, one);
    for (size_t k = 0; k + size <= bytes; k += size)
        memcpy((char *)out + k, one, size);
}

int kmm__reduce_init_run(kmm__operation_t *op)
{
    const kmm__reduction_t *r = &op->reduction;
    for (uint32_t k = 0; k < op->count; k++)
        kmm__reduce_identity(r, op->array->host + k * r->slot_bytes, (size_t)(r->end - r->begin));
    return 0;
}

int kmm__reduce_fold_run(kmm__operation_t *op)
{
    const kmm__reduction_t *r = &op->reduction;
    size_t bytes = (size_t)(r->end - r->begin);
    char *slots = op->array->host;
    for (uint32_t step = 1; step < op->count; step *= 2)
        for (uint32_t k = 0; k + step < op->count; k += 2 * step)
            fold(r->op, r->type, slots + k * r->slot_bytes, slots + (k + step) * r->slot_bytes, bytes);
    fold(r->op, r->type, op->other->host + r->begin, slots, bytes);
    return 0;
}
