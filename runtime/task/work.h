/* SPDX-License-Identifier: Apache-2.0 */
/* Work: what all tasks of one launch share. That is the kernel or function, its arguments, its name
 * and its place in the source. Tasks hold references. What a work points to is allocated with
 * kmm__work_take, so that most launches cost no allocation. All functions are called with the lock.
 */
#ifndef KMM__TASK_WORK_H
#define KMM__TASK_WORK_H

#include <kmm.h>
#include <kmm/launch.h>

#include "base/rounding.h"
#include "base/runtime.h"
#include "geometry/layout.h"

enum {
    KMM__MAX_ITEMS = 64, /* items in the access clauses of one launch */
    KMM__WORK_ROOM = 512 /* bytes inside a work for what it owns; enough for most */
};

typedef struct kmm__array kmm__array_t;
typedef struct kmm__frame kmm__frame_t;
typedef struct kmm__ticket kmm__ticket_t;
typedef struct kmm__work kmm__work_t;

/* A pointer to an array in a launch's arguments. It is translated for each space that the launch
 * runs in. */
typedef struct kmm__pointer {
    uint32_t at;         /* byte offset in the packed arguments */
    kmm__array_t *array; /* a reference */
    int64_t offset;      /* of the address in the array, bytes */
    int16_t partials;    /* index of the partials that it is redirected to; -1: none */
} kmm__pointer_t;

/* The partials (private copies) of what a launch reduces into through one pointer. They lie one
 * after the other in `array`. Chunk k of n uses partial k * count / n. Byte b of the target is byte
 * b - begin of a partial. */
typedef struct kmm__partials {
    /* holds the partials; NULL: the only chunk works on the target, or scratch memory holds them,
     * in native standing */
    kmm__array_t *array;
    kmm__array_t *target;
    const char *base;      /* the pointer, as the items give it */
    int64_t begin, end;    /* bytes of the target */
    int64_t partial_bytes; /* bytes from one partial to the next */
    uint32_t count;        /* number of partials; 0: the only chunk works on the target */
    /* bytes on each side of what is reduced that no chunk may change; 0: that is not looked at */
    int64_t margin;
} kmm__partials_t;

/* An operation of the runtime on the host. `run` finds the arrays of the task's accesses in host
 * memory, and returns 0 or an error. Structs of operations begin with this one
 * (launch/operation.h). */
typedef struct kmm__operation kmm__operation_t;
struct kmm__operation {
    int (*run)(kmm__operation_t *op);
};

struct kmm__work {
    kmm_runtime_t *runtime;
    kmm__work_t *next; /* in the free list */
    uint64_t refs;
    uint64_t id;
    uint64_t kept; /* bytes that it takes and that count with no task yet */
    const char *name, *file;
    int line;
    const char *traced_name, *traced_file; /* of kmm__trace_text; NULL: no task was traced yet */
    /* index of its pattern, for launches that come again (memory/residency/foresight.h) */
    uint32_t pattern;
    uint32_t chunk_count;
    const char **item_text; /* item_count texts, which live as long as the process */
    uint32_t item_count;
    uint64_t varying; /* items (bits) whose elements depend on the chunk */
    /* items (bits) of a function in which it may follow pointers, and to which it may store some;
     * those whose pointers lie at any byte */
    uint64_t followed, pointed, packed;

    /* Exactly one of kernel, function, has_statements and operation is set. */
    const kmm_kernel_t *kernel;
    bool is_own; /* the kernel is libkmm's own, and runs no chunk */
    kmm_geometry_t geometry;
    kmm_function_t *function;
    kmm__rounding_t rounding; /* of the thread that launched the function */
    int flags;                /* the floating-point flags of that thread (base/flags.h) */
    int launcher;             /* the system's number of that thread */
    /* statements of a `task` directive, between kmm_task_begin and kmm_task_end */
    bool has_statements;
    /* statements that may use any stream: their data is there before they begin, and their work on
     * the device is waited for when they end */
    bool on_any_stream;
    kmm__operation_t *operation;

    unsigned char *args; /* parameters, packed; parameter k begins at arg_offset[k] */
    uint32_t args_bytes, arg_count;
    uint32_t *arg_offset;
    uint32_t *words; /* byte offsets of the aligned words in args */
    uint32_t word_count;
    uint32_t used_words; /* of a kernel: those behind them are never looked through */
    kmm__pointer_t *pointers;
    uint32_t pointer_count;
    const char *graph;  /* of the kernel's accesses (kmm_launch_graph); NULL: it is not known */
    bool is_translated; /* args holds addresses of host memory already */
    struct kmm__reduction *reductions; /* launch/reduce.h */
    uint32_t reduction_count;
    kmm__partials_t *partials;
    uint32_t partials_count;
    /* where each item's elements begin, if chunks work on copies (execute/check.h); else NULL */
    struct kmm__origin *origins;
    uint32_t reached;  /* devices (bits) on which all its pointers have addresses */
    bool is_undivided; /* the undivided run of KMM_CHECK=result */
    /* the only task of a function that runs undivided, which waits for the launching thread to run
     * it; NULL: there is none, or it has run */
    struct kmm__task *handed;
    bool is_warned;    /* KMM_CHECK=access has warned that it cannot be checked */
    uint64_t violated; /* items (bits) of which a check of each access has said something */
    /* stores of chunks to variables (execute/exact_global.c); NULL: there were none */
    struct kmm__work_globals *globals;
    /* which chunk uses which element (execute/exact_order.c); NULL: nothing is noted */
    struct kmm__work_order *orders;
    void (*end)(kmm__work_t *w);  /* called before it is freed; NULL: there is nothing to do */
    void (*drop)(kmm__work_t *w); /* drops its references to arrays; NULL: it has none */

    struct kmm__known_layout *layouts; /* layouts of its tasks' accesses that are not flat */
    /* list of blocks for what does not fit in `room`; each begins with a pointer to the next */
    void *blocks;
    uint32_t room_used;
    _Alignas(16) unsigned char room[KMM__WORK_ROOM];
};

kmm__work_t *kmm__work_create(kmm_runtime_t *rt); /* makes cleared work with one reference */
/* Allocates `bytes` of cleared memory, aligned to 16, that lives as long as the work. */
void *kmm__work_take(kmm__work_t *w, size_t bytes);
/* Returns a layout equal to `layout` that lives as long as the work. */
const kmm__layout_t *kmm__work_layout(kmm__work_t *w, const kmm__layout_t *layout);
/* Writes "file:line: kernel: chunk 3 of 8" to out, or "... chunks 3 to 5 of 8" if last > first. */
void kmm__work_describe(const kmm__work_t *w, uint32_t first, uint32_t last, char *out,
                        size_t size);
void kmm__work_ref(kmm__work_t *w);
void kmm__work_unref(kmm__work_t *w);
void kmm__works_free(kmm_runtime_t *rt); /* frees the free list */

/* Returns the number of the partial that a chunk uses. */
uint32_t kmm__partial_of(const kmm__work_t *w, const kmm__partials_t *p, uint32_t chunk);

#endif
