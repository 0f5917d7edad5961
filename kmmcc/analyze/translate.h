/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a kernel's declaration into the clauses of one launch. */
#ifndef KMMCC_ANALYZE_TRANSLATE_H
#define KMMCC_ANALYZE_TRANSLATE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/declaration.h"
#include "base/source.h"
#include "clang/unit.h"
#include "kmm/launch.h"
#include "pragma/directive.h"

/* A declaration, written or inferred, and the launch that it completes. */
typedef struct completion {
    unit_t *u;
    directive_t *d;
    const declaration_t *n;
    const source_t *s;              /* of the declaration */
    const char *axis[KMM_MAX_AXES]; /* the name of each declared axis at the launch */
    bool in_section, in_range, failed;
    bool is_exact; /* the expression needs the numbers that parameters have, in all bits */
    /* Parameters of 64 bits that are right in clauses if the signed argument is not negative. */
    bool is_count[MAX_PARAMETERS];
    const char *reason; /* why the expression cannot be said at the launch; NULL: it can be */
} completion_t;
/* Returns the argument of the launch. It is null if the launch does not write it: cudaLaunchKernel
 * takes an array of arguments. */
CXCursor translate_argument(const directive_t *d, int number);
/* Returns the argument's text; NULL if the launch does not write the argument. */
const char *translate_argument_text(const completion_t *c, int number);
/* Returns the type of the expression as it is written, before conversions. */
CXType translate_written_type(const unit_t *u, CXCursor c);
/* True if the text is a name with members, or without. */
bool translate_is_path(const char *text);
bool translate_has_name(const char *text, const char *name);
void translate_fail(completion_t *c, const char *message);

bool translate_is_word(const source_t *s, size_t begin, size_t end);
/* Returns [begin, end) of the declaration as an expression of the launch, on one line. */
const char *translate_expression(completion_t *c, size_t begin, size_t end);

#endif
