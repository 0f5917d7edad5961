/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: numbers for the expressions of a launch. Each variable that is no constant gets a
 * number, so that ranges, regions, arguments and the kernel's code can be compared by example.
 */
#ifndef KMMCC_ANALYZE_SAMPLE_H
#define KMMCC_ANALYZE_SAMPLE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/fixed.h"
#include "clang/unit.h"
#include "pragma/directive.h"

typedef struct sample {
    const unit_t *u;
    const directive_t *d;
    int trial;    /* number of the trial, which decides the numbers */
    int64_t size; /* the number that an ordinary size gets */
    int64_t multiple;
    bool follows; /* a variable gets the value of its definition */
    /* Variables that are constants have their value; NULL: they have numbers as others have. */
    fixed_t *fixed;
    int depth, following;
    struct atom {
        const char *name;
        int64_t value;
    } *atom, *followed; /* `followed`: variables that have the value of their definition */
    int atom_count, atom_capacity, followed_count, followed_capacity;
    /* Names of the variables in expressions; those that only definitions name are left out. */
    const char **name;
    int name_count, name_capacity;
    struct leaf {
        const expr_t *expression;
        int64_t value;
        uint64_t used;
        /* values of expressions without operators, because clang takes long to compute these */
    } *leaf;
    int leaf_count, leaf_capacity;
    uint64_t used;              /* variables met since the caller set this to 0, as bits */
    int64_t axis[KMM_MAX_AXES]; /* the value of each axis, for sections */
    bool in_section;
} sample_t;

/* Computes an integer. False: the value is no integer, or cannot be computed. */
bool sample_cursor(sample_t *s, CXCursor c, int64_t *out);
bool sample_expression(sample_t *s, const expr_t *e, int64_t *out);
/* Gives the path the number that its definition would give it. */
void sample_follow(sample_t *s, const char *path, int64_t value);
/* Returns the number of a variable or expression that is no constant. */
int64_t sample_atom(sample_t *s, const char *name);
/* Returns the value that the variable's definition gives it, if the function around the launch does
 * not visibly change the variable later; null: there is none. */
CXCursor sample_definition(const sample_t *s, CXCursor variable);
/* Returns the name of the variable's atom: its own name, and a number if another variable of the
 * launch has that name, too. */
const char *sample_name(const sample_t *s, CXCursor variable);
/* Returns the variable in conversions and parentheses; null: the expression is no variable. */
CXCursor sample_variable(CXCursor c);
/* True if this trial changes no number that `names` depends on, so that it need not be run. The
 * first trials are never needless. */
bool sample_is_needless(const sample_t *s, uint64_t names);
/* Gives the variable this number unless it has one. Returns the number that it has. */
int64_t sample_bind(sample_t *s, const char *name, int64_t value);
/* Returns the array that a pointer points into, as the text of its variable or path. *bytes
 * receives the distance from there. NULL: not known. */
const char *sample_pointer(sample_t *s, CXCursor c, int64_t *bytes);

#endif
