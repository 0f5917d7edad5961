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

/* A declaration, or what was inferred, against one launch. */
typedef struct completion {
    unit_t *u;
    directive_t *d;
    const declaration_t *n;
    const source_t *s;              /* of the declaration */
    const char *axis[KMM_MAX_AXES]; /* what each declared axis is called at the launch */
    bool in_section, in_range, failed;
} completion_t;
/* Null when it is not written, as in an array that cudaLaunchKernel is given. */
CXCursor translate_argument(const directive_t *d, int number);
/* The text of the argument; NULL when it is not written at the launch. */
const char *translate_argument_text(const completion_t *c, int number);
bool translate_has_name(const char *text, const char *name);
void translate_fail(completion_t *c, const char *message);

bool translate_is_word(const source_t *s, size_t begin, size_t end);
/* The words of the declaration from `begin` to `end`, on one line. */
const char *translate_expression(completion_t *c, size_t begin, size_t end);

#endif
