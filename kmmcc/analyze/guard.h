/* SPDX-License-Identifier: Apache-2.0 */
/* Finds guards: comparisons of an index that limit a kernel's accesses to a range. */
#ifndef KMMCC_ANALYZE_GUARD_H
#define KMMCC_ANALYZE_GUARD_H

#include <clang-c/Index.h>

#include "analyze/index.h"

/* The straight statements: those that all threads of the range run. They are the statements of the
 * body, or of an `if (index < n) { ... }` that is the whole body. No statement before the
 * comparisons accesses memory, so the range is that of all accesses. */
typedef struct statements {
    CXCursor at[256];
    int count;
} statements_t;
/* Adds the straight statements of the block, and the ranges of their guards to f->range. */
void guard_straight(infer_t *f, CXCursor block, statements_t *out, int depth);

#endif
