/* SPDX-License-Identifier: Apache-2.0 */
/* What --explain says of the launches and tasks of all files: collected by emit/explain.c, printed
 * as text, JSON or SVG. All texts are those of the source or formulas of its variables. */
#ifndef KMMCC_EMIT_EXPLAINED_H
#define KMMCC_EMIT_EXPLAINED_H

#include <stdbool.h>

#include "base/list.h"
#include "base/options.h"
#include "emit/mark.h"
#include "kmm/launch.h"

typedef struct explained_axis {
    const char *name, *source;  /* as in `i: global.x` */
    const char *lower, *beyond; /* NULL: the whole grid */
    bool splits;
    int dimension; /* of the grid or of the range: 0, 1 or 2 */
    int chunks;    /* in which it is cut; 0: known when it runs */
} explained_axis_t;

typedef struct explained_chunk {
    int axis;
    const char *size;
    bool is_blocks; /* the size is in blocks; else in elements */
} explained_chunk_t;

typedef struct explained_section {
    const char *lower, *length; /* as written; lower is NULL for [:], length for [e] */
    const char *first, *last;   /* over a chunk; NULL: there is no formula for them */
} explained_section_t;

/* One dimension of an array: how far a chunk reaches beyond the elements that are its own. */
typedef struct explained_part {
    int axis;                           /* by which chunks differ; -1: all have the same part */
    long long before, after;            /* elements; negative: it begins later, or ends earlier */
    bool before_is_open, after_is_open; /* some, which is known when it runs */
} explained_part_t;
enum { MAX_PARTS = 2 };

typedef struct explained_item {
    kmm_mode_t mode;
    const char *op; /* of a reduction, such as "+" */
    const char *text, *base;
    bool is_inferred;
    explained_section_t section[KMM_MAX_DIMS];
    int section_count;
    const char *elements, *bytes; /* bytes is NULL where they are known when it runs */
    long long element_bytes;      /* 0: known when it runs */
    explained_part_t part[MAX_PARTS];
    int part_count;      /* 0: it cannot be drawn */
    const char *undrawn; /* why */
} explained_item_t;

typedef struct explained_known {
    struct explained_known *next;
    const char *pointer, *knowledge, *reason, *text; /* reason is NULL where all is known */
} explained_known_t;

typedef struct explained_fits {
    const char *value, *type;
    bool in_grid;
} explained_fits_t;

/* What ends lookahead in a loop around the launch. */
typedef struct explained_end {
    struct explained_end *next;
    const char *what;
    unsigned line, loop_line;
    bool always; /* in each step of the loop */
} explained_end_t;

typedef enum explained_kind { EXPLAINED_KERNEL, EXPLAINED_CALL, EXPLAINED_TASK } explained_kind_t;

typedef struct explained {
    struct explained *next;
    explained_kind_t kind;
    const char *path;      /* of the file that has the directive */
    const char *main_path; /* of the file that is compiled */
    unsigned line, column;
    const char *function; /* around the directive; NULL: none is known */
    const char *callee;   /* NULL: a task */
    bool is_inferred;     /* kmmcc wrote the pragma, or it has the clause */
    bool is_declared;     /* a `declare kernel` completes it */
    bool is_nowait;
    explained_axis_t axis[KMM_MAX_AXES];
    int axis_count;
    explained_chunk_t chunk[KMM_MAX_SPLIT];
    int chunk_count;
    const char *one_chunk; /* why there is one; NULL: there may be several */
    const char *condition; /* without which there is one; NULL: none */
    explained_item_t *item;
    int item_count;
    explained_fits_t *fits;
    int fits_count;
    const char *unknown; /* why nothing is known of the kernel's accesses; NULL: something is */
    explained_known_t *known;
    list_t instances; /* the kernels that a template's launch runs */
    const char *differ;
    explained_end_t *ends;
    const char *uncompared; /* why no launch of the file was compared with its kernel; NULL */
} explained_t;

void explained_add(explained_t *x);
/* Returns how many there are. */
int explained_count(void);
/* Takes back all but the first ones. */
void explained_retract(int count);
/* Adds the launches without a pragma. The marks are kept. */
void explained_add_marks(const marks_t *m);
/* Prints what was added, on stdout. False: errno says why not. */
bool explained_print(explain_t form);

/* ---- Words ---- */

const char *explained_verb(kmm_mode_t mode);   /* "reads" ... */
const char *explained_clause(kmm_mode_t mode); /* "read" ... */
/* What is copied before the chunk runs, and afterwards; NULL: nothing. */
const char *explained_copies_in(kmm_mode_t mode);
const char *explained_copies_out(kmm_mode_t mode);
const char *explained_results(const explained_t *x);
/* Where nothing says how large chunks are. */
extern const char explained_default_chunk[];

#endif
