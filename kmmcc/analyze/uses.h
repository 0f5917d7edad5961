/* SPDX-License-Identifier: Apache-2.0 */
/* What a function does with its pointers. */
#ifndef KMMCC_ANALYZE_USES_H
#define KMMCC_ANALYZE_USES_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* What a function's code does with a pointer parameter: where it first does each; null: nowhere. */
typedef struct uses {
    CXCursor stored;  /* an element is stored */
    CXCursor updated; /* what is stored depends on the old element */
    CXCursor escaped; /* the pointer is passed or kept where it is not followed */
    CXCursor result;  /* the result of an atomic operation is used */
} uses_t;
/* False: the function's body is in another file. */
bool uses_find(CXCursor definition, CXCursor parameter, uses_t *out);
/* Whether a value of the type is a pointer to data, or has one among its fields and elements. */
bool uses_holds_pointers(CXType type);

#endif
