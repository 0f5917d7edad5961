/* SPDX-License-Identifier: Apache-2.0 */
/* The range that a kernel's comparisons give its indices. */
#ifndef KMMCC_ANALYZE_GUARD_H
#define KMMCC_ANALYZE_GUARD_H

#include <clang-c/Index.h>

#include "analyze/index.h"

/* The statements that all threads of the range run: those of the body, or of `if (index < n) { ...
 * }` that is all of it. What stands before the comparisons accesses no memory, so the range holds
 * for all accesses. */
typedef struct statements {
    CXCursor at[256];
    int count;
} statements_t;
void guard_straight(infer_t *f, CXCursor block, statements_t *out, int depth);

#endif
