/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work: what the tasks of one launch share, which are its kernel or function, its arguments, and
 * what owns memory for them. References are counted by tasks. What it points to and owns comes from
 * kmm__work_take, so that a launch costs no allocation. All functions are called with the lock.
 */
#ifndef KMM__TASK_WORK_H
#define KMM__TASK_WORK_H

#include <kmm.h>
#include <kmm/launch.h>

#include "base/runtime.h"
#include "geometry/region.h"

enum {
    KMM__MAX_ITEMS = 64, /* access items of one launch */
    KMM__WORK_ROOM = 512 /* bytes of a work's own; enough for most */
};

typedef struct kmm__array kmm__array_t;
typedef struct kmm__frame kmm__frame_t;
typedef struct kmm__ticket kmm__ticket_t;
typedef struct kmm__work kmm__work_t;

/* A pointer in a launch's arguments, which is translated for the space it is used in. */
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
    kmm__array_t *array; /* holds the partials; NULL: the only chunk works on the target */
    kmm__array_t *target;
    const char *base;      /* the pointer, as the items give it */
    int64_t begin, end;    /* bytes of the target */
    int64_t partial_bytes; /* bytes from one partial to the next */
    uint32_t count;        /* number of partials */
} kmm__partials_t;

/* An operation of the runtime on the host: run finds the accesses' arrays in the host's memory.
 * Returns 0 or an error. Operations begin with this (launch/operation.h). */
typedef struct kmm__operation kmm__operation_t;
struct kmm__operation {
    int (*run)(kmm__operation_t *op);
};

struct kmm__work {
    kmm_runtime_t *runtime;
    kmm__work_t *next; /* among the spare ones */
    uint64_t refs;
    uint64_t id;
    const char *name, *file;
    int line;
    uint32_t pattern; /* of launches that come again (memory/residency/foresight.h) */
    uint32_t chunk_count;
    const char **item_text; /* item_count of them, which live as long as the process */
    uint32_t item_count;

    /* One of these: a kernel, a function, statements of a `task` directive, an operation. */
    const kmm_kernel_t *kernel;
    kmm_geometry_t geometry;
    kmm_function_t *function;
    bool has_statements; /* statements, which run between kmm_task_begin and kmm_task_end, */
    bool on_any_stream;  /* on streams that are not known: their data is there when they begin, and
                          * what they have put on the device is done when they end */
    kmm__operation_t *operation;

    unsigned char *args; /* packed: parameter k at arg_offset[k] */
    uint32_t args_bytes, arg_count;
    uint32_t *arg_offset;
    kmm__pointer_t *pointers;
    uint32_t pointer_count;
    bool is_translated; /* the pointers in args are addresses in the host's space already */
    struct kmm__reduction *reductions; /* launch/reduce.h */
    uint32_t reduction_count;
    kmm__partials_t *partials;
    uint32_t partials_count;
    struct kmm__origin *origins;  /* KMM_CHECK=access: of each item; NULL: nothing to check */
    uint32_t reached;             /* devices (bits) where all its pointers have addresses */
    bool is_warned;               /* KMM_CHECK=access has said of it that it cannot be checked */
    void (*drop)(kmm__work_t *w); /* gives back its arrays; NULL: it has none */

    struct kmm__known_layout *layouts; /* of its tasks' accesses, but for flat ones */
    void *blocks; /* what did not fit in room; each begins with a pointer to the next */
    uint32_t room_used;
    _Alignas(16) unsigned char room[KMM__WORK_ROOM];
};

kmm__work_t *kmm__work_create(kmm_runtime_t *rt); /* cleared; one reference */
/* `bytes` of cleared memory, aligned to 16, that lives as long as the work. */
void *kmm__work_take(kmm__work_t *w, size_t bytes);
/* An equal layout that lives as long as the work. */
const kmm__layout_t *kmm__work_layout(kmm__work_t *w, const kmm__layout_t *layout);
/* "file:line: kernel: chunk 3 of 8", or "... chunks 3 to 5 of 8" where last > first. */
void kmm__work_describe(const kmm__work_t *w, uint32_t first, uint32_t last, char *out,
                        size_t size);
void kmm__work_ref(kmm__work_t *w);
void kmm__work_unref(kmm__work_t *w);
void kmm__works_free(kmm_runtime_t *rt); /* the spare ones */

/* Returns the number of the partial that a chunk uses. */
uint32_t kmm__partial_of(const kmm__work_t *w, const kmm__partials_t *p, uint32_t chunk);

#endif
