/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a launch, built by the calls of kmm/launch.h. */
#ifndef KMM__LAUNCH_BUILDER_H
#define KMM__LAUNCH_BUILDER_H

#include <kmm/launch.h>

#include "task/task.h"

enum { KMM__FEW_ITEMS = 8 }; /* number of items that a description stores without an allocation */

/* The lower bound and length of a section: their constant part, or their coefficient of an axis. */
typedef struct kmm__term {
    int64_t lower, length;
} kmm__term_t;

/* An index of the section numbers a part. Part k has the elements [offsets[k], offsets[k + 1]). */
typedef struct kmm__offsets {
    const void *at; /* the program's; NULL: an index is one element */
    kmm_type_t type;
    int64_t count;
} kmm__offsets_t;

/* Offsets that lie in an array, copied when they were named. Descriptions share them. */
typedef struct kmm__fetched kmm__fetched_t;
struct kmm__fetched {
    kmm__fetched_t *next;
    _Atomic uint32_t uses; /* of the first: descriptions that have the list */
    _Alignas(8) char at[];
};

typedef struct kmm__section {
    kmm__term_t constant, coef[KMM_MAX_AXES];
    bool whole;
    kmm__offsets_t offsets;
} kmm__section_t;

/* One item of an access clause, such as A[i:3] in read(A[i:3]). */
typedef struct kmm__item {
    /* Set at submission: */
    kmm__array_t *array;                   /* NULL: the item's region is empty */
    const char *region_begin, *region_end; /* the launch's region */
    bool is_entered;                       /* a word of the arguments lies in the region */

    /* The description, which launch/memo.c compares from here on: */
    kmm_mode_t mode;
    kmm_op_t op; /* the operator of a reduction (KMM_REDUCE) */
    kmm_type_t type;
    bool is_pair;      /* elements are pairs of a value of that type and an index */
    bool takes_number; /* the code takes a chunk's number if the target is a NaN */
    kmm_type_t index;
    uint32_t value_at, index_at; /* byte offsets in a pair */
    const char *text;
    char *base;
    int64_t element; /* bytes */
    /* The words of arguments that mean the item (launch/meaning.h): from the lowest to the highest
     * of the base and the pointers that kmm_launch_through named, and those in the region. */
    const char *reach_begin, *reach_end;
    bool inferred;                /* kmmcc has inferred it */
    bool holds_pointers;          /* which the code may follow */
    bool stores_pointers;         /* the code may store pointers to it */
    bool is_packed;               /* pointers of these lie at any byte */
    uint32_t dims;                /* number of dimensions of the shape; 0: no shape is given */
    uint32_t section_count;       /* number of sections; 0: the item is the whole array */
    int64_t extent[KMM_MAX_DIMS]; /* the first `dims` are set */
    kmm__section_t section[KMM_MAX_DIMS]; /* the first `section_count` are set */
} kmm__item_t;

enum { KMM__MAX_UNUSED = 256 };

/* A condition of an inferred description: constant + the sum of coef[k] * axis k fits the type. */
typedef struct kmm__fits {
    const char *text;
    kmm_type_t type;
    kmm_reach_t reach;
    int64_t constant, coef[KMM_MAX_AXES];
} kmm__fits_t;

enum { KMM__MAX_FITS = 32 };

typedef struct kmm__axis {
    const char *name;
    kmm_source_t source;
    int64_t lower, length;
} kmm__axis_t;

struct kmm_launch {
    kmm_launch_t *next; /* in the list of unused descriptions */
    kmm_runtime_t *runtime;
    char *label;
    int priority;
    kmm_site_t *site;       /* where it may be kept (launch/keep.h); NULL: nowhere */
    struct kmm__kept *kept; /* it is kept there; NULL: whoever has it frees it */
    void (*give_back)(struct kmm__kept *kept);
    uint32_t value_count;

    /* What launch/memo.c compares as bytes, up to `axis`: */
    const char *kernel, *file;
    int line;
    const char *graph; /* of the kernel; NULL: it is not known */
    bool one_chunk, nowait, bounded;
    bool is_whole;         /* one chunk, though it reduces floating-point numbers */
    bool runs_once;        /* its function changes whom memory belongs to */
    bool awaits;           /* the program may change what the function uses besides its arrays */
    bool confined;         /* its kernel uses nothing but its arguments and where they lead */
    bool inferred, undone; /* kmmcc has inferred the description; some part of that does not hold */
    bool infers;           /* kmmcc has inferred the items that are added from now on */
    uint32_t fits_count;
    bool has_offsets;   /* a section has; what they are is not part of the description */
    bool has_more_dims; /* an item has more than KMM__DIMS; launch/join.h takes them away */
    bool is_undivided;  /* the undivided run of KMM_CHECK=result */
    bool on_current;    /* if it runs on GPUs, it runs on the program's current device */
    uint64_t
        unused[KMM__MAX_UNUSED / 64]; /* one bit for each argument that the kernel does not use */
    kmm_where_t where;
    int ordinal[KMM__MAX_DEVICES]; /* numbers of the devices of KMM_ON_DEVICE */
    uint32_t ordinal_count;
    kmm_schedule_t schedule;
    bool is_divided; /* a clause says on which devices it runs, or which chunks each gets */
    uint32_t axis_count, item_count;
    bool has_chunk[KMM_MAX_SPLIT], chunk_in_blocks[KMM_MAX_SPLIT];
    int64_t chunk[KMM_MAX_SPLIT];

    kmm__axis_t axis[KMM_MAX_AXES];
    kmm__item_t *items;          /* points to `few` or to allocated memory */
    kmm__fetched_t *fetched;     /* the offsets that were copied for it; NULL: none */
    const kmm_member_t *members; /* pointers in structs that are arguments */
    uint32_t member_count;
    const kmm_variable_t *variables; /* that a plain function names */
    uint32_t variable_count;
    int error; /* the first mistake in the description */
    char *error_text;
    /* Fields that reuse does not clear: */
    kmm__item_t few[KMM__FEW_ITEMS];
    kmm__fits_t fits[KMM__MAX_FITS];    /* the first fits_count are set */
    void *mapped[KMM__MAX_ITEMS];       /* bases of host memory that was mapped for this launch */
    kmm_value_t values[KMM_MAX_VALUES]; /* of which it was made; the first value_count are set */
};

/* Returns an empty description of a launch by `rt`. NULL: out of memory; the launch reports that
 * as an error. */
kmm_launch_t *kmm__launch_create(kmm_runtime_t *rt, const char *kernel, const char *file, int line);
/* Returns a copy of a description without a mistake. Its owner frees it. */
kmm_launch_t *kmm__launch_copy(const kmm_launch_t *l);
/* Frees a description, or gives one back that is kept. */
void kmm__launch_free(kmm_launch_t *l);

/* What messages call the launch: its label, the kernel or "?". */
const char *kmm__launch_name(const kmm_launch_t *l);
/* Notes a mistake in the description. Only the first one is kept; the launch reports it. */
void kmm__launch_mistake(kmm_launch_t *l, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first item whose base is a null pointer though it may name elements; NULL: there is none. */
const kmm__item_t *kmm__launch_null_item(const kmm_launch_t *l);
/* Takes the description that this thread has armed for its next launch; NULL: none. The caller gets
 * a copy of one that is kept. */
kmm_launch_t *kmm__launch_take_armed(void);
/* Where this thread has the description that it has armed; NULL there: none. */
kmm_launch_t **kmm__launch_armed(void);
/* Drops the armed description when its launch does not happen. */
void kmm__launch_disarm(void);

/* Called in a forked process: drops the descriptions of other threads. */
void kmm__launches_clear(void);

#endif
