/* SPDX-License-Identifier: Apache-2.0 */
/* Finds from where a function reaches the memory of an lvalue. */
#ifndef KMMCC_ANALYZE_HOME_H
#define KMMCC_ANALYZE_HOME_H

#include <clang-c/Index.h>

#include "analyze/flow.h"

typedef enum home {
    HOME_LOCAL,     /* a local variable, or memory of which nothing is known */
    HOME_PARAMETER, /* what a parameter points to */
    HOME_ELSEWHERE  /* a variable of static storage, or what a pointer in memory points to */
} home_t;
home_t home_find(CXCursor lvalue);
/* Finds the assignment that stores an integer of which the place is an operand. Returns where it
 * stores; *where receives the assignment. HOME_LOCAL: there is none. */
home_t home_of_number(const place_t *at, CXCursor *where);

#endif
