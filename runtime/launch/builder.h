/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a launch, as the calls of kmm/launch.h make it. */
#ifndef KMM__LAUNCH_BUILDER_H
#define KMM__LAUNCH_BUILDER_H

#include <kmm/launch.h>

#include "task/task.h"

enum { KMM__FEW_ITEMS = 8 }; /* for which a description has room of its own */

/* lower and length of a section, or how much an axis adds to them. */
typedef struct kmm__term {
    int64_t lower, length;
} kmm__term_t;

typedef struct kmm__section {
    kmm__term_t constant, coef[KMM_MAX_AXES];
    bool whole;
} kmm__section_t;

/* One item of an access clause: read(A[i:3]). */
typedef struct kmm__item {
    kmm_mode_t mode;
    kmm_op_t op; /* KMM_REDUCE: with it, elements of that type, */
    kmm_type_t type;
    bool is_pair; /* or pairs of such a value and an index */
    kmm_type_t index;
    uint32_t value_at, index_at; /* bytes in a pair */
    const char *text;
    char *base;
    int64_t element;                      /* bytes */
    kmm__array_t *array;                  /* found at submission; NULL: the region is empty */
    uint32_t dims;                        /* of the shape; 0: none given */
    uint32_t section_count;               /* 0: the whole array */
    int64_t extent[KMM_MAX_DIMS];         /* dims of them are set, */
    kmm__section_t section[KMM_MAX_DIMS]; /* and section_count */
} kmm__item_t;

enum { KMM__MAX_UNUSED = 256 };

typedef struct kmm__axis {
    const char *name;
    kmm_source_t source;
    int64_t lower, length;
} kmm__axis_t;

struct kmm_launch {
    kmm_launch_t *next; /* among spare ones */
    kmm_runtime_t *runtime;
    const char *kernel, *file;
    int line;
    char *label;
    bool one_chunk, nowait, bounded;
    uint64_t unused[KMM__MAX_UNUSED / 64]; /* a bit for each argument that is not used */
    bool on_current; /* runs on the device that the program has current, if it runs on GPUs */
    kmm_where_t where;
    int ordinal; /* of KMM_ON_DEVICE */
    kmm_schedule_t schedule;
    int priority;
    uint32_t axis_count, item_count;
    kmm__axis_t axis[KMM_MAX_AXES];
    int64_t chunk[KMM_MAX_SPLIT];
    bool has_chunk[KMM_MAX_SPLIT], chunk_in_blocks[KMM_MAX_SPLIT];
    kmm__item_t *items; /* `few`, or memory of their own */
    int error;          /* the first mistake in the description */
    char *error_text;
    /* Not cleared: */
    kmm__item_t few[KMM__FEW_ITEMS];
    void *mapped[KMM__MAX_ITEMS]; /* host memory that was mapped for this launch */
};

/* A cleared description of a launch by `rt`; NULL: there is none, which is a mistake that the
 * launch reports. */
kmm_launch_t *kmm__launch_create(kmm_runtime_t *rt, const char *kernel, const char *file, int line);
void kmm__launch_free(kmm_launch_t *l);

/* The description that this thread has armed for its next launch, which is taken; NULL: none. */
kmm_launch_t *kmm__launch_take_armed(void);
/* Forgets what this thread has armed for a launch that does not happen. */
void kmm__launch_disarm(void);

/* In a forked process: what other threads had is forgotten. */
void kmm__launches_clear(void);

#endif
