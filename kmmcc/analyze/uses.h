/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how a function uses what its pointer parameters point to. */
#ifndef KMMCC_ANALYZE_USES_H
#define KMMCC_ANALYZE_USES_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* What a function's code does with the memory that a parameter points to. Each cursor is a place; a
 * null cursor means nowhere. Memory is proven to be only read if stored, updated, assigned, changed
 * and escaped are all null. */
typedef struct uses {
    CXCursor stored;   /* stores */
    CXCursor updated;  /* stores depending on what was there */
    CXCursor assigned; /* calls an operator= of the program, which may store all or a part */
    CXCursor changed;  /* may store; the code of all functions that get the pointer is seen */
    CXCursor escaped;  /* does something that may store and is not seen */
    CXCursor strayed;  /* may reach from one element to others: by arithmetic on its address */
    CXCursor result;   /* uses what an atomic addition returns */
    CXCursor kept;     /* stores the address in memory that is no parameter's */
    CXCursor number;   /* stores the address as an integer, other than in a local variable */
    bool accessed;     /* false: the code never looks at what the parameter points to */
} uses_t;
/* Finds the uses of the parameter `number` of a function, or of the instance of a template that is
 * called. False if the function's code is not seen. */
bool uses_find(CXCursor function, int number, uses_t *out);
/* Returns the parameter in the code that uses_find reads; null if that is not seen. */
CXCursor uses_parameter(CXCursor function, int number);
bool uses_only_reads(const uses_t *uses);

#endif
