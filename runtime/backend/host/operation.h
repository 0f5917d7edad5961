/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: what a stream of the CPU runs, one after another. Kernels, copies and fills consist
 * of units (a block, some bytes, a row) that may run in any order, on several threads.
 */
#ifndef KMM__BACKEND_HOST_OPERATION_H
#define KMM__BACKEND_HOST_OPERATION_H

#include "backend/backend.h"
#include "backend/host/pool.h"

typedef enum kmm__op_kind {
    KMM__OP_WAIT,
    KMM__OP_NOTIFY,
    KMM__OP_CALL,
    KMM__OP_BLOCKS,
    KMM__OP_COPY,
    KMM__OP_FILL
} kmm__op_kind_t;

/* Bytes of arguments that an operation carries without an allocation of its own. */
enum { KMM__OP_INLINE = 192 };

typedef struct kmm__op kmm__op_t;
struct kmm__op {
    _Atomic(kmm__op_t *) next; /* in the stream's chain, oldest first */
    kmm__stream_t *stream;
    kmm__op_kind_t kind;
    void *payload; /* `inline_payload`, or memory of its own that is freed when the operation is
                      done */
    /* Operations made of units that may run in any order, on several threads. */
    kmm__item_t item;
    void (*resume)(kmm__op_t *op); /* called by the last thread to leave a shared operation */
    kmm__pool_t *pool;
    /* What kernels and calls run (base/running.h); `task` is the list where there is one. */
    const struct kmm__task *task, *const *tasks;
    uint32_t task_count;
    uint64_t units, grain;    /* grain: units taken at a time */
    _Atomic uint64_t claimed; /* units taken so far; may exceed `units` */
    union {
        struct {
            kmm__stream_t *stream;
            uint64_t ticket;
        } wait;
        struct {
            void (*fn)(void *arg, int status);
            void *arg;
        } notify;
        struct {
            kmm_function_t *function;
            kmm_chunk_t chunk;
        } call;
        struct {
            void (*run)(const kmm_host_blocks_t *, void **);
            kmm_host_blocks_t box;
        } blocks;
        struct {
            char *dst;
            const char *src;
            int64_t dst_pitch, src_pitch, width, rows;
        } copy;
        struct {
            char *dst;
            int value;
            size_t bytes;
        } fill;
    };
    _Alignas(64) unsigned char inline_payload[KMM__OP_INLINE];
};

/* Runs an operation of any kind but KMM__OP_WAIT, with other threads of the pool where that pays.
 * True: it is done. False: other threads still work on it, and the last of them calls
 * resume(op). */
bool kmm__op_run(kmm__op_t *op, kmm__pool_t *pool, void (*resume)(kmm__op_t *op));

/* How many units a copy or fill of so many bytes has. */
uint64_t kmm__op_pieces(uint64_t bytes);

#endif
