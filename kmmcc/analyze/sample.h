/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for the expressions of a launch: every variable that is no constant gets some number, so
 * that ranges, regions, arguments and the kernel's code can be compared by example.
 */
#ifndef KMMCC_ANALYZE_SAMPLE_H
#define KMMCC_ANALYZE_SAMPLE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

#include "clang/unit.h"
#include "pragma/directive.h"

typedef struct sample {
    const unit_t *u;
    const directive_t *d;
    int trial;    /* decides the numbers */
    int64_t size; /* the number of an ordinary size */
    int64_t multiple;
    bool follows; /* a variable has the value that its definition gives it */
    int depth, following;
    struct atom {
        const char *name;
        int64_t value;
    } *atom, *followed; /* `followed`: variables with the value of their definition */
    int atom_count, atom_capacity, followed_count, followed_capacity;
    /* The variables that expressions name, but for what only definitions name. */
    const char **name;
    int name_count, name_capacity;
    struct leaf {
        const expr_t *expression;
        int64_t value;
        uint64_t used;
    } *leaf; /* values of expressions without operators, which clang computes slowly */
    int leaf_count, leaf_capacity;
    uint64_t used;              /* those met since it was set to 0, as bits */
    int64_t axis[KMM_MAX_AXES]; /* the axes' values in sections */
    bool in_section;
} sample_t;

/* False: the value is no integer, or not to be computed. */
bool sample_cursor(sample_t *s, CXCursor c, int64_t *out);
bool sample_expression(sample_t *s, const expr_t *e, int64_t *out);
/* Gives the path this number, as its definition would. */
void sample_follow(sample_t *s, const char *path, int64_t value);
/* The number of a variable or expression that is no constant. */
int64_t sample_atom(sample_t *s, const char *name);
/* What a definition gives the variable, if the function around the launch does not visibly change
 * it later; null: nothing. */
CXCursor sample_definition(const sample_t *s, CXCursor variable);
/* The variable below conversions; null: the expression is none. */
CXCursor sample_variable(CXCursor c);
/* True if a later trial gives a number to an atom that is none or in `names`. */
bool sample_is_needless(const sample_t *s, uint64_t names);
/* Gives the variable this number, unless it has one; its number. */
int64_t sample_bind(sample_t *s, const char *name, int64_t value);
/* Which array a pointer points into, as the text of its variable or path, and how many bytes
 * behind that; NULL: not known. */
const char *sample_pointer(sample_t *s, CXCursor c, int64_t *bytes);

#endif
