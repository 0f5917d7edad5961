/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how a function uses what its pointer parameters point to. */
#ifndef KMMCC_ANALYZE_USES_H
#define KMMCC_ANALYZE_USES_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* What a function's code does with the memory that a parameter points to. Each cursor is the first
 * place that does so, or null. Memory that is not stored, updated, assigned or escaped is proven to
 * be only read. */
typedef struct uses {
    CXCursor stored;   /* it is stored to */
    CXCursor updated;  /* it is stored to, and the value depends on the old one */
    CXCursor assigned; /* an operator= of the program is called, which may store all or a part */
    CXCursor escaped;  /* something is done that is not known to only read */
    CXCursor result;   /* the result of an atomic addition is used */
    bool accessed;     /* false: the code never uses the memory */
} uses_t;
/* Finds the uses of the parameter `number` of a function, or of the instance of a template that is
 * called. False if the function's code is not seen. */
bool uses_find(CXCursor function, int number, uses_t *out);
/* Returns the parameter in the code that uses_find reads; null if that is not seen. */
CXCursor uses_parameter(CXCursor function, int number);
bool uses_only_reads(const uses_t *uses);
/* True if a value of the type is a pointer to data, or has one among its fields and elements. */
bool uses_holds_pointers(CXType type);

#endif
