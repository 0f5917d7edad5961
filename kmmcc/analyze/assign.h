/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether an assignment of a class stores the whole object. */
#ifndef KMMCC_ANALYZE_ASSIGN_H
#define KMMCC_ANALYZE_ASSIGN_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* True if `f`, an operator=, is made by the compiler, and that of each base and member is, too. */
bool assign_stores_whole(CXCursor f);
/* True if the compiler makes the member function. */
bool assign_is_implicit(CXCursor f);

#endif
