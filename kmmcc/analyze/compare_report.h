/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of a launch's clauses with its kernel, and what is said of it. */
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
    READ_OUTSIDE, /* reads what no item names */
    READ_OLD,     /* reads old values of what is only written */
    STORE_OUTSIDE,
    STORE_READ,   /* stores to what is only read */
    LEFT_OUT,     /* does not store all of a write item */
    PLAIN_REDUCE, /* stores to what is reduced, whatever it was */
    KINDS
} kind_t;

/* One wrong access, as it is shown. */
typedef struct example {
    const ir_access_t *access;
    int64_t element;
    int64_t axis[KMM_MAX_AXES];
    const char *numbers; /* of the sample */
    int beyond;          /* the axis whose range the thread is outside of; -1: none */
    int64_t end;         /* of that range */
} example_t;

/* A pointer that the kernel gets. */
typedef struct accessed {
    const char *key; /* its array, as in sample_pointer */
    int param, member;
    CXCursor argument;
    bool skipped, is_logical;       /* is_logical: it is reduced by && or || */
    bool alive[KINDS], seen[KINDS]; /* wrong in all samples so far; wrong in this one */
    example_t example[KINDS];
    int64_t shift;                      /* bytes from the array's variable to the pointer */
    byteset_t read, write, reduce, one; /* of this chunk; `one`: of one write item */
    byteset_t stored, all;              /* through this pointer; through any pointer to the array */
    int64_t shape_begin, shape_end;     /* the bytes that the items' shapes have */
    bool touched;                       /* the sample's threads access it, or may */
    int samples;                        /* how many touched it */
    bool storing_all;                   /* every store is certain and was run */
    uint64_t names;                     /* the variables in the sections of its items */
    uint64_t store_names;               /* those on which stores depend */
    int64_t gap, last;                  /* the first byte left out, -1: none; behind all accesses */
    const item_t *reading;              /* the first item that is read; NULL: none */
    int64_t reading_base, element;
    int64_t least, most;          /* elements read, from what the item names first */
    bool has_distance, is_steady; /* it is the same in all samples */
    int64_t sample_least, sample_most;
} accessed_t;

typedef struct comparison {
    unit_t *u;
    directive_t *d;
    const ir_function_t *f;
    replay_t *replay;
    replay_param_fn *param;
    sample_t sample;
    geometry_t geometry;
    accessed_t target[MAX_TARGETS];
    int count;
    int64_t axis[KMM_MAX_AXES]; /* of the thread that runs */
    uint64_t *names;            /* the variables on which each node depends */
    bool active;                /* the chunk has accessed something */
} comparison_t;

/* True if the item names the array of the pointer; *base: how many bytes behind the array's
 * variable the item's base is. */
bool compare_is_of(comparison_t *c, const accessed_t *t, const item_t *item, int64_t *base);
/* Reports what was wrong in all samples. False: an error was reported. */
bool compare_report(comparison_t *c);

#endif
