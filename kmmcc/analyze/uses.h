/* SPDX-License-Identifier: Apache-2.0 */
/* What a function does with its pointers. */
#ifndef KMMCC_ANALYZE_USES_H
#define KMMCC_ANALYZE_USES_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* Where a function's code stores to what a parameter points to, stores depending on what was there,
 * lets the pointer go where it is not followed, and uses what an atomic addition to it returns;
 * null: nowhere. */
typedef struct uses {
    CXCursor stored, updated, escaped, result;
} uses_t;
bool uses_find(CXCursor definition, CXCursor parameter,
               uses_t *out); /* false: the code is not seen */
/* Whether a value of the type is a pointer to data, or has one among its fields and elements. */
bool uses_holds_pointers(CXType type);

#endif
