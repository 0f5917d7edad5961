/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index variables in the lambdas and classes of a kernel. A function for one thread has the index
 * variables as parameters. A lambda in it must capture them, and a class in it names the variables
 * of all functions instead (`::threadIdx`).
 */
#ifndef KMMCC_CPU_INDEX_H
#define KMMCC_CPU_INDEX_H

#include <clang-c/Index.h>

#include "clang/unit.h"

/* Returns the number of lambdas in `body` that use an index variable and have no default capture
 * (`[=]` or `[&]`). */
int index_count_captures(unit_t *u, CXCursor body);
/* Adds edits that capture the index variables in these lambdas. */
void index_edit_captures(unit_t *u, CXCursor body);
/* Returns the number of uses of index variables in classes in `body`. */
int index_count_qualified(unit_t *u, CXCursor body);
/* Adds edits that write `::` before these uses. */
void index_edit_qualified(unit_t *u, CXCursor body);
/* Errors where a variable of the function has the name of an index variable. */
void index_refuse_hidden(unit_t *u, CXCursor function);

#endif
