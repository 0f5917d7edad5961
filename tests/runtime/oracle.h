/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch of the oracle's programs does, element by element: the same code in the model, in
 * chunks on the CPU, and, compiled by nvcc or hipcc, in kernels on a GPU.
 */
#ifndef KMM_TEST_ORACLE_H
#define KMM_TEST_ORACLE_H

#include <kmm/launch.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __HIP__
#define ORACLE_CODE __device__ static inline
#define ORACLE_RACES
#define oracle_stop() __builtin_trap()
#elif defined(__CUDACC__)
#define ORACLE_CODE __device__ static inline
#define ORACLE_RACES
#define oracle_stop() __trap()
#else
#include <pthread.h>
#include <sched.h>
#define ORACLE_CODE static inline
#define ORACLE_RACES __attribute__((no_sanitize("thread"))) /* races because it is meant to */
#define oracle_stop() abort()
#endif

enum { DIMS = 3, SLOTS = 5, SUMS = 2, SHARED = 2, SUM_LENGTH = 40, MODULUS = 1021 };

/* Indices [scale * i + offset, + length + growth * i) of one dimension; `whole`: all of them are
 * named. */
typedef struct section {
    int64_t scale, offset, length, growth;
    bool whole;
} section_t;

typedef struct source {
    int slot;
    section_t section[DIMS];
} source_t;

typedef enum op_kind {
    LAUNCH,
    REDUCE,
    COPY_IN,
    COPY_OUT,
    COPY,
    FILL,
    RENEW,
    WAIT,
    NEST,
    MARK
} op_kind_t;

/* How far the threads of a kernel get where the grid has fewer of them than the launch has indices:
 * each to its own index only, or on by the grid's threads until the range ends. */
typedef enum reach { BOUNDED = 1, STRIDED } reach_t;

/* What is done with the mark of a stream. */
typedef enum mark { MARK_MAKE, MARK_PRECEDE, MARK_WAIT, MARKS } mark_t;

typedef struct op {
    op_kind_t kind;
    bool dropped;
    /* Launches: a view of `dims` dimensions that begins at element `shift`, and where they work in
     * it. */
    uint32_t dims;
    int64_t shift, extent[DIMS], lo[DIMS], length[DIMS], chunk[DIMS];
    uint32_t block[DIMS], grid[DIMS]; /* grid: 0 where it has a thread for each index */
    reach_t reach;                    /* 0: no grid is too small */
    bool is_function, open_extent, flat, in_blocks, has_if;
    bool strays; /* a fault: at these indices it stores to source 0, which it only reads */
    int64_t stray[DIMS];
    source_t source[2];
    int source_count, extra; /* extra: a sum that is read whole, or -1 */
    int target;
    kmm_mode_t mode;
    kmm_op_t op;
    section_t out[DIMS];
    /* Elements by which the pointers to the target and to the sources lie before what they mean, as
     * those of one-based arrays do; behind it where they are negative. */
    int64_t before[3];
    bool skips; /* an update that leaves some elements alone */
    bool on_gpu, nowait;
    bool on_first; /* device of its kind */
    int stream, priority;
    kmm_schedule_t schedule;
    int64_t salt;
    /* Copies and fills: */
    int64_t begin, count, other_begin;
    int other, value;
} op_t;

/* All that a kernel on a GPU needs to know of a launch. */
typedef struct manner {
    op_t op;
    kmm_type_t types[SLOTS + SUMS + SHARED];
} manner_t;

/* ---- Elements ---- */

ORACLE_CODE size_t type_bytes(kmm_type_t t)
{
    static const size_t bytes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    return bytes[t];
}

ORACLE_CODE int64_t get(kmm_type_t t, const void *base, int64_t k)
{
    switch (t) {
    case KMM_UINT8: return ((const uint8_t *)base)[k];
    case KMM_UINT16: return ((const uint16_t *)base)[k];
    case KMM_INT8: return ((const int8_t *)base)[k];
    case KMM_UINT32: return ((const uint32_t *)base)[k];
    case KMM_UINT64: return (int64_t)((const uint64_t *)base)[k];
    case KMM_INT16: return ((const int16_t *)base)[k];
    case KMM_INT32: return ((const int32_t *)base)[k];
    case KMM_INT64: return ((const int64_t *)base)[k];
    case KMM_FLOAT: return (int64_t)((const float *)base)[k];
    case KMM_DOUBLE: return (int64_t)((const double *)base)[k];
    case KMM_HALF:
    case KMM_BFLOAT16:
    case KMM_COMPLEX_FLOAT:
    case KMM_COMPLEX_DOUBLE: break;
    }
    oracle_stop();
    return 0;
}

ORACLE_CODE void put(kmm_type_t t, void *base, int64_t k, int64_t v)
{
    switch (t) {
    case KMM_UINT8: ((uint8_t *)base)[k] = (uint8_t)v; return;
    case KMM_UINT16: ((uint16_t *)base)[k] = (uint16_t)v; return;
    case KMM_INT8: ((int8_t *)base)[k] = (int8_t)v; return;
    case KMM_UINT32: ((uint32_t *)base)[k] = (uint32_t)v; return;
    case KMM_UINT64: ((uint64_t *)base)[k] = (uint64_t)v; return;
    case KMM_INT16: ((int16_t *)base)[k] = (int16_t)v; return;
    case KMM_INT32: ((int32_t *)base)[k] = (int32_t)v; return;
    case KMM_INT64: ((int64_t *)base)[k] = v; return;
    case KMM_FLOAT: ((float *)base)[k] = (float)v; return;
    case KMM_DOUBLE: ((double *)base)[k] = (double)v; return;
    case KMM_HALF:
    case KMM_BFLOAT16:
    case KMM_COMPLEX_FLOAT:
    case KMM_COMPLEX_DOUBLE: break;
    }
    oracle_stop();
}

ORACLE_CODE double combine_real(kmm_op_t op, double a, double b)
{
    if (op == KMM_OP_LAND)
        return b != 0 ? a : 0;
    if (op == KMM_OP_LOR)
        return a == 0 && b != 0 ? 1 : a;
    return op == KMM_OP_ADD ? a + b : op == KMM_OP_MIN ? (b < a ? b : a) : (b > a ? b : a);
}

/* Element k becomes itself op v. && and || leave what has the right truth already. */
ORACLE_CODE void combine(kmm_op_t op, kmm_type_t t, void *base, int64_t k, int64_t v)
{
    if (t == KMM_FLOAT) {
        float *p = (float *)base + k;
        *p = (float)combine_real(op, *p, (double)v);
        return;
    }
    if (t == KMM_DOUBLE) {
        double *p = (double *)base + k;
        *p = combine_real(op, *p, (double)v);
        return;
    }
    int64_t a = get(t, base, k);
    uint64_t x = (uint64_t)a, y = (uint64_t)v;
    switch (op) {
    case KMM_OP_ADD: x += y; break;
    case KMM_OP_MUL: x *= y; break;
    case KMM_OP_MIN: x = v < a ? y : x; break;
    case KMM_OP_MAX: x = v > a ? y : x; break;
    case KMM_OP_BAND: x &= y; break;
    case KMM_OP_BOR: x |= y; break;
    case KMM_OP_BXOR: x ^= y; break;
    case KMM_OP_LAND: x = v ? x : 0; break;
    case KMM_OP_LOR: x = !a && v ? 1 : x; break;
    case KMM_OP_ARGMIN:
    case KMM_OP_ARGMAX: oracle_stop();
    }
    put(t, base, k, (int64_t)x);
}

/* The same where others do it at the same time. */
#if defined(__CUDACC__) || defined(__HIP__)
ORACLE_CODE void combine_shared(kmm_op_t op, kmm_type_t t, void *base, int64_t k, int64_t v)
{
    uintptr_t at = (uintptr_t)base + (uintptr_t)k * type_bytes(t),
              inside = at % sizeof(unsigned long long);
    unsigned long long *word = (unsigned long long *)(at - inside),
                       seen = *(volatile unsigned long long *)word, old, made;
    do {
        alignas(8) unsigned char bytes[sizeof(made)];
        old = seen;
        memcpy(bytes, &old, sizeof(bytes));
        combine(op, t, bytes, (int64_t)(inside / type_bytes(t)), v);
        memcpy(&made, bytes, sizeof(made));
        seen = atomicCAS(word, old, made);
    } while (seen != old);
}
#else
ORACLE_CODE void combine_shared(kmm_op_t op, kmm_type_t t, void *base, int64_t k, int64_t v)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    combine(op, t, base, k, v);
    pthread_mutex_unlock(&lock);
}
#endif

/* The same as plain functions do it, which have no other at the same element. */
ORACLE_CODE void combine_alone(kmm_op_t op, kmm_type_t t, void *base, int64_t k, int64_t v)
{
    alignas(8) unsigned char bytes[8];
    unsigned char *at = (unsigned char *)base + (uint64_t)k * type_bytes(t);
    memcpy(bytes, at, type_bytes(t));
#if !defined(__CUDACC__) && !defined(__HIP__)
    if (v == 0)
        sched_yield();
#endif
    combine(op, t, bytes, 0, v);
    memcpy(at, bytes, type_bytes(t));
}

/* ---- What a launch does ---- */

/* The pointers to the slots, at element `shift`; to sums at their beginning; each so far before
 * that as the launch says. */
typedef struct places {
    void *target, *source[2], *extra;
} places_t;

ORACLE_CODE void *behind(void *pointer, int64_t elements, kmm_type_t type)
{
    return (void *)((uintptr_t)pointer + (uintptr_t)(elements * (int64_t)type_bytes(type)));
}

ORACLE_CODE int64_t linear(const op_t *op, const int64_t x[DIMS])
{
    int64_t k = 0;
    for (uint32_t d = 0; d < op->dims; d++)
        k = k * op->extent[d] + x[d];
    return k;
}

ORACLE_CODE void section_range(const op_t *op, const section_t *c, uint32_t d, int64_t i,
                               int64_t *lo, int64_t *hi)
{
    *lo = c->scale * i + c->offset;
    *hi = *lo + c->length + c->growth * i;
    if (c->whole) {
        *lo = (i * 7 + 3) % op->extent[d];
        *hi = *lo + 1;
    }
    *lo = *lo < 0 ? 0 : *lo;
    *hi = *hi > op->extent[d] ? op->extent[d] : *hi;
}

ORACLE_CODE bool section_box(const op_t *op, const section_t c[DIMS], const int64_t i[DIMS],
                             int64_t lo[DIMS], int64_t hi[DIMS])
{
    bool any = true;
    for (uint32_t d = 0; d < op->dims; d++) {
        section_range(op, &c[d], d, i[d], &lo[d], &hi[d]);
        any &= lo[d] < hi[d];
    }
    return any;
}

ORACLE_CODE bool advance(const op_t *op, int64_t x[DIMS], const int64_t lo[DIMS],
                         const int64_t hi[DIMS])
{
    for (uint32_t d = op->dims; d-- > 0;) {
        if (++x[d] < hi[d])
            return true;
        x[d] = lo[d];
    }
    return false;
}

ORACLE_CODE uint64_t gather(const kmm_type_t *types, const op_t *op, int k, const int64_t i[DIMS],
                            const void *base)
{
    int64_t lo[DIMS], hi[DIMS], x[DIMS];
    uint64_t v = 0;
    kmm_type_t type = types[op->source[k].slot];
    if (!section_box(op, op->source[k].section, i, lo, hi))
        return 0;
    memcpy(x, lo, sizeof(x));
    do {
        int64_t at = linear(op, x);
        v += (uint64_t)get(type, base, at) * (uint64_t)(at % 5 + 1);
    } while (advance(op, x, lo, hi));
    return v;
}

ORACLE_CODE void scatter(const kmm_type_t *types, const op_t *op, const int64_t i[DIMS], void *base,
                         uint64_t v)
{
    int64_t lo[DIMS], hi[DIMS], x[DIMS];
    kmm_type_t type = types[op->target];
    if (!section_box(op, op->out, i, lo, hi))
        return;
    memcpy(x, lo, sizeof(x));
    do {
        int64_t at = linear(op, x);
        uint64_t old = op->mode == KMM_UPDATE ? (uint64_t)get(type, base, at) * 3 : 0;
        if (!op->skips || (at + op->salt) % 3)
            put(type, base, at, (int64_t)((v + old + (uint64_t)at) % MODULUS));
    } while (advance(op, x, lo, hi));
}

ORACLE_CODE uint64_t where_of(const op_t *op, const int64_t i[DIMS])
{
    uint64_t where = 0;
    for (uint32_t d = 0; d < op->dims; d++)
        where = where * 31 + (uint64_t)i[d];
    return where;
}

/* What one point of the launch reads. */
ORACLE_CODE uint64_t value_of(const kmm_type_t *types, const op_t *op, const int64_t i[DIMS],
                              const places_t *p)
{
    uint64_t where = where_of(op, i), v = (uint64_t)op->salt + where;
    for (int k = 0; k < op->source_count; k++)
        v += gather(types, op, k, i,
                    behind(p->source[k], op->before[1 + k], types[op->source[k].slot]));
    if (op->extra >= 0)
        v += (uint64_t)get(types[op->extra], p->extra, (int64_t)(where % SUM_LENGTH));
    return v;
}

/* The element of the target to which a reduction's point adds. */
ORACLE_CODE int64_t sum_of(const op_t *op, const int64_t i[DIMS])
{
    return op->begin + (int64_t)(where_of(op, i) % (uint64_t)op->count);
}

/* Where the launch strays: changes an element that it only reads, which other threads read too. */
ORACLE_RACES ORACLE_CODE void stray(const kmm_type_t *types, const op_t *op, const int64_t i[DIMS],
                                    const places_t *p)
{
    int64_t lo[DIMS], hi[DIMS];
    kmm_type_t type = types[op->source[0].slot];
    for (uint32_t d = 0; d < op->dims; d++)
        if (i[d] != op->stray[d])
            return;
    if (section_box(op, op->source[0].section, i, lo, hi))
        *((unsigned char *)behind(p->source[0], op->before[1], type) +
          linear(op, lo) * (int64_t)type_bytes(type)) ^= 0x55;
}

ORACLE_CODE void element(const kmm_type_t *types, const op_t *op, const int64_t i[DIMS],
                         const places_t *p)
{
    uint64_t v = value_of(types, op, i, p);
    void *target = behind(p->target, op->before[0], types[op->target]);
    if (op->strays)
        stray(types, op, i, p);
    if (op->kind == LAUNCH)
        scatter(types, op, i, target, v);
    else if (op->is_function)
        combine_alone(op->op, types[op->target], target, sum_of(op, i), (int64_t)(v % 16));
    else
        combine_shared(op->op, types[op->target], target, sum_of(op, i), (int64_t)(v % 16));
}

/* The first index along dimension d that no thread of the launch gets to. */
ORACLE_CODE int64_t end_of(const op_t *op, uint32_t d)
{
    int64_t end = op->lo[d] + op->length[d], own = (int64_t)op->grid[d] * op->block[d];
    return op->reach == BOUNDED && own && own < end ? own : end;
}

/* The first point of the launch at which a thread works, by the thread's place in the whole grid of
 * `all` threads; false where it has none. */
ORACLE_CODE bool point_first(const op_t *op, const uint64_t at[3], const uint64_t all[3],
                             int64_t i[DIMS])
{
    for (uint32_t d = 0; d < op->dims; d++) {
        int64_t step = (int64_t)all[op->dims - 1 - d], lo = op->lo[d];
        i[d] = (int64_t)at[op->dims - 1 - d];
        if (op->reach == STRIDED && i[d] < lo)
            i[d] += (lo - i[d] + step - 1) / step * step;
        if (i[d] < lo || i[d] >= end_of(op, d))
            return false;
    }
    return true;
}

/* The next one; false: there is none. */
ORACLE_CODE bool point_next(const op_t *op, const uint64_t at[3], const uint64_t all[3],
                            int64_t i[DIMS])
{
    int64_t first[DIMS];
    if (op->reach != STRIDED)
        return false;
    point_first(op, at, all, first);
    for (uint32_t d = op->dims; d-- > 0;) {
        i[d] += (int64_t)all[op->dims - 1 - d];
        if (i[d] < end_of(op, d))
            return true;
        i[d] = first[d];
    }
    return false;
}

/* One thread of a kernel. */
ORACLE_CODE void oracle_thread(const manner_t *m, const uint64_t at[3], const uint64_t all[3],
                               const places_t *p)
{
    int64_t i[DIMS];
    if (!point_first(&m->op, at, all, i))
        return;
    do
        element(m->types, &m->op, i, p);
    while (point_next(&m->op, at, all, i));
}

#endif
