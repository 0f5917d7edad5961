/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the pragma of a launch by a declaration. */
#ifndef KMMCC_ANALYZE_COMPLETE_H
#define KMMCC_ANALYZE_COMPLETE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/declaration.h"
#include "clang/unit.h"
#include "kmm/launch.h"
#include "pragma/directive.h"

/* What is added to the pragma of a launch, in the words of the launch. */
typedef struct completed_axis {
    const char *name;  /* with its source, if that is said */
    const char *range; /* NULL: none */
} completed_axis_t;
typedef struct completed_item {
    int parameter;    /* with which the item's base begins; -1: none */
    const char *word; /* `read(`, `reduce(+: ` ... */
    const char *text;
} completed_item_t;
typedef struct completed_fits {
    int type; /* index of fits_types */
    bool in_grid;
    const char *text;
} completed_fits_t;
typedef struct completed {
    const char *range[KMM_MAX_AXES]; /* of the launch's own axes; NULL: nothing is added */
    completed_axis_t axis[KMM_MAX_AXES];
    int axis_count;
    const char *shape[MAX_ITEMS];
    int shape_count;
    completed_item_t item[MAX_ITEMS];
    int item_count;
    bool bounded;
    completed_fits_t fits[MAX_FITS];
    int fits_count;
} completed_t;

/* Returns what the launch's pragma leaves to the declaration. NULL: an error was reported, or what
 * is inferred cannot be said at the launch. */
completed_t *complete_find(unit_t *u, directive_t *d, const declaration_t *n);
/* Returns the axes and their ranges, as the pragma will have them. */
const char *complete_axes_text(const directive_t *d, const completed_t *x);
/* Adds it to the pragma. */
void complete_write(unit_t *u, directive_t *d, const completed_t *x);
/* True if some item of the launch names the argument. */
bool complete_covers(const directive_t *d, CXCursor argument);
/* Does both. False after an error was reported. */
bool complete_add(unit_t *u, directive_t *d, const declaration_t *n);

/* A text to insert into a file of the program before the file is parsed again. */
typedef struct insertion {
    struct insertion *next;
    size_t at;
    const char *text;
} insertion_t;

/* True if the argument's text is a null pointer. */
bool complete_is_null(const char *text);

#endif
