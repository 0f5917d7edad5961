/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tasks depend on. An object is anything whose elements tasks read and write; arrays
 * (memory/array.h) begin with one. It notes who wrote each element last and who has read it since.
 */
#ifndef KMM__TASK_OBJECT_H
#define KMM__TASK_OBJECT_H

#include "base/runtime.h"
#include "geometry/shape_map.h"

typedef struct kmm__task kmm__task_t;
typedef struct kmm__array kmm__array_t;

/* Value of the map of users: who wrote a box last, and who has read it since. Each task's reference
 * is counted. */
typedef struct kmm__users {
    kmm__task_t *writer; /* NULL: nobody whose outcome still matters */
    uint32_t homes;      /* spaces (bits) in which the box was written last and read since */
    bool fresh;          /* the writer stores every element and reads none of the old ones */
    uint32_t reader_count, reader_capacity;
    union {
        kmm__task_t *few[2]; /* while reader_capacity is 0 */
        kmm__task_t **many;
    } readers;
} kmm__users_t;

/* An access of a task that reads an object and is in no map yet: what is only read costs one entry
 * of a list, however its readers' boxes lie. */
typedef struct kmm__read {
    kmm__task_t *task; /* a reference */
    uint32_t access;   /* index in task->accesses */
} kmm__read_t;

typedef struct kmm__reads {
    kmm__read_t *list;
    uint32_t count, capacity;
} kmm__reads_t;

/* Guarded by the runtime's lock; written by task/ alone, but for is_abstract. */
typedef struct kmm__object {
    kmm__shape_map_t users; /* at the submission front, */
    kmm__reads_t reads;     /* but for these: no later task has been entered as a writer */
    uint32_t writers;       /* accesses of unfinished tasks that write */
    bool failed;            /* a task that wrote it has failed: who reads that is poisoned */
    bool is_abstract;       /* orders work and holds no data; set when it is made */
    uint32_t unfinished[KMM__MAX_SPACES]; /* accesses of unfinished tasks, by the space in which
                                           * those work; counted where there are several spaces */
} kmm__object_t;

/* An array's object, which is its first member. */
static inline kmm__object_t *kmm__object_of(kmm__array_t *a)
{
    return (kmm__object_t *)(void *)a;
}

#endif
