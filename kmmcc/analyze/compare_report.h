/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of a launch's clauses with its kernel, and the messages that follow from it. */
#ifndef KMMCC_ANALYZE_COMPARE_REPORT_H
#define KMMCC_ANALYZE_COMPARE_REPORT_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/byteset.h"
#include "analyze/geometry.h"
#include "analyze/sample.h"
#include "clang/unit.h"
#include "ir/ir.h"
#include "ir/replay.h"
#include "pragma/directive.h"

enum { MAX_TARGETS = 64 };

typedef enum kind {
    READ_OUTSIDE, /* reads an element that no item names */
    READ_OLD,     /* reads an old value of an element that items only write */
    STORE_OUTSIDE,
    STORE_READ,   /* stores to an element that items only read */
    LEFT_OUT,     /* does not store all elements of a write item */
    PLAIN_REDUCE, /* overwrites a reduced element, which the kernel never reads */
    WIDE,         /* names more than is accessed */
    KINDS
} kind_t;

/* One wrong access, as a message shows it. */
typedef struct example {
    const ir_access_t *access;
    int64_t element;
    int64_t axis[KMM_MAX_AXES];
    const char *numbers; /* the sample's numbers, as text */
    int beyond;          /* number of the axis whose range the thread lies beyond; -1: none */
    int64_t end;         /* end of that range */
} example_t;

/* One pointer that the kernel is given, and what is known of its accesses. */
typedef struct accessed {
    const char *key; /* name of its array, as sample_pointer returns it */
    int param, member;
    CXCursor argument;
    bool skipped, is_logical;       /* is_logical: the reduction is by && or || */
    bool alive[KINDS], seen[KINDS]; /* wrong in all samples so far; wrong in this sample */
    example_t example[KINDS];
    int64_t shift; /* bytes from the array's variable to the pointer */
    int64_t base;  /* the same in the call of the whole range, for a plain function */
    /* bytes that items name for this chunk; `one`: bytes of one write item */
    byteset_t read, write, reduce, one;
    /* bytes stored through this pointer; through any pointer to the array */
    byteset_t stored, all;
    int64_t shape_begin, shape_end;  /* range of the bytes in the items' shapes */
    byteset_t used;                  /* accessed by this chunk; kept for WIDE alone */
    bool unsure;                     /* the sample has accesses that are not certain */
    int64_t begin, end;              /* of all that the sample's chunks have accessed so far */
    int64_t named_bytes, used_bytes; /* of the example of WIDE */
    bool touched;                    /* threads of the sample access it, or may */
    int samples;                     /* number of samples whose threads touched it */
    bool storing_all;                /* every store is certain, and was replayed */
    uint64_t names;                  /* variables in the sections of its items, as bits */
    uint64_t store_names;            /* variables that stores depend on, as bits */
    /* first byte that is left out, -1: none; end of all accesses */
    int64_t gap, last;
    const item_t *reading; /* the first item that is read; NULL: none */
    int64_t reading_base, element;
    /* elements read, counted from the first one that the item names */
    int64_t least, most;
    bool has_distance; /* the sample has such numbers */
    bool is_measured;  /* some sample had, of a kernel */
    bool is_steady;    /* they are equal in all samples */
    int64_t sample_least, sample_most;
} accessed_t;

typedef struct carried carried_t;

typedef struct comparison {
    unit_t *u;
    directive_t *d;
    const ir_function_t *f;
    replay_t *replay;
    replay_param_fn *param;
    sample_t sample;
    fixed_t *fixed; /* variables that are constants; NULL: they are variables */
    geometry_t geometry;
    accessed_t target[MAX_TARGETS];
    int count;
    int64_t axis[KMM_MAX_AXES]; /* values of the axes for the thread that runs */
    uint64_t *names;            /* for each node the variables that it depends on, as bits */
    bool active;                /* some thread of the chunk has accessed something */
    chunk_box_t box;            /* of a plain function: the chunk that runs */
    carried_t *carried;         /* of a plain function: what crosses chunks */
    bool wide;                  /* what is named needlessly is looked for */
    bool is_partial;            /* not all threads of the chunk were run */
} comparison_t;

/* Shows where an access is. */
void compare_note(const comparison_t *c, const ir_access_t *a);
/* Reports the accesses that are wrong in all samples. False: an error was reported. */
bool compare_report(comparison_t *c);

#endif
