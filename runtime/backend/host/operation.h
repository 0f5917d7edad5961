/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: what a stream of the CPU runs, one after another. Kernels, copies and fills consist
 * of units (a block, some bytes, a row). Units may run in any order, on several threads. */
#ifndef KMM__BACKEND_HOST_OPERATION_H
#define KMM__BACKEND_HOST_OPERATION_H

#include "backend/backend.h"
#include "backend/host/thread_pool.h"

typedef enum kmm__op_kind {
    KMM__OP_WAIT,
    KMM__OP_NOTIFY,
    KMM__OP_CALL,
    KMM__OP_BLOCKS,
    KMM__OP_COPY,
    KMM__OP_FILL
} kmm__op_kind_t;

/* Bytes of payload that an operation has room for; more is allocated. */
enum { KMM__OP_INLINE = 192 };

typedef struct kmm__op kmm__op_t;
struct kmm__op {
    _Atomic(kmm__op_t *) next; /* next in the stream's chain, newer */
    kmm__stream_t *stream;
    kmm__op_kind_t kind;
    /* `inline_payload`, or allocated memory that is freed when the operation is done */
    void *payload;
    /* Of operations that consist of units. */
    kmm__pool_item_t item;
    void (*resume)(kmm__op_t *op); /* called by the last thread that leaves a shared operation */
    kmm__thread_pool_t *pool;
    /* The tasks that a kernel or call runs (base/running.h). `task` is the only one, or `tasks` is
     * a list of several. */
    const struct kmm__task *task, *const *tasks;
    uint32_t task_count;
    uint64_t units, grain;    /* number of units; units that a thread claims at a time */
    _Atomic uint64_t claimed; /* units claimed so far; may exceed `units` */
    union {
        struct {
            kmm__stream_t *stream;
            uint64_t position;
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

/* Runs an operation, which is no KMM__OP_WAIT, and shares it with other threads of the pool if it
 * is large enough. True: it is done. False: other threads still work on it, and the last of them
 * calls resume(op). */
bool kmm__op_run(kmm__op_t *op, kmm__thread_pool_t *pool, void (*resume)(kmm__op_t *op));

/* Number of units of a copy or fill of so many bytes. */
uint64_t kmm__op_pieces(uint64_t bytes);

#endif
