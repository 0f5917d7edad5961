/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: what tasks depend on. An object is anything whose elements tasks read and write; an
 * array (memory/array.h) begins with one. An object records who wrote each element last and who has
 * read it since. */
#ifndef KMM__TASK_OBJECT_H
#define KMM__TASK_OBJECT_H

#include "base/runtime.h"
#include "geometry/shape_map.h"

typedef struct kmm__task kmm__task_t;
typedef struct kmm__array kmm__array_t;

/* The users of a box: the task that wrote it last and the tasks that have read it since. Each holds
 * a reference. A value of the map of users. */
typedef struct kmm__users {
    kmm__task_t *writer; /* NULL: none, or one that is done and did not fail */
    uint32_t homes;      /* spaces (bits) in which the box was written last or read since */
    bool fresh;          /* the writer stores every element and reads no old value */
    uint32_t reader_count, reader_capacity;
    union {
        kmm__task_t *few[2]; /* used while reader_capacity is 0 */
        kmm__task_t **many;
    } readers;
} kmm__users_t;

/* A read that is not in the map of users yet. Reads are first kept in a list, where a read costs
 * one entry however its boxes lie. */
typedef struct kmm__read {
    kmm__task_t *task; /* a reference */
    uint32_t access;   /* index in task->accesses */
} kmm__read_t;

typedef struct kmm__reads {
    kmm__read_t *list;
    uint32_t count, capacity;
} kmm__reads_t;

/* Guarded by the runtime's lock. Written by task/ alone, but for is_abstract. */
typedef struct kmm__object {
    kmm__shape_map_t users; /* users of each element, as of submission, but for `reads` */
    kmm__reads_t reads;     /* reads since the last task that writes */
    uint32_t writers;       /* writing accesses of unfinished tasks */
    bool failed;            /* a task that wrote it has failed: readers may be poisoned */
    bool is_abstract;       /* set at creation: orders work and holds no data */
    /* accesses of unfinished tasks in each space; counted only if runtime->has_spaces */
    uint32_t unfinished[KMM__MAX_SPACES];
    /* while there are some on the host: no unfinished task there has a lower number */
    uint64_t oldest_on_host;
} kmm__object_t;

/* An array's object, which is its first member. */
static inline kmm__object_t *kmm__object_of(kmm__array_t *a)
{
    return (kmm__object_t *)(void *)a;
}

#endif
