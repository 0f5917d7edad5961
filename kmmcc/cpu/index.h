/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index variables in lambdas and classes of a kernel. They are the kernel's parameters there: a
 * lambda has to capture them, and a class uses those of all functions instead.
 */
#ifndef KMMCC_CPU_INDEX_H
#define KMMCC_CPU_INDEX_H

#include <clang-c/Index.h>

#include "clang/unit.h"

/* The lambdas in `body` that name what they capture and use an index variable, which they do not
 * capture. */
int index_count_captures(unit_t *u, CXCursor body);
void index_edit_captures(unit_t *u, CXCursor body);
/* The uses of index variables in functions of classes in `body`. */
int index_count_qualified(unit_t *u, CXCursor body);
void index_edit_qualified(unit_t *u, CXCursor body);
/* Errors where a variable of the function has the name of an index variable. */
void index_refuse_hidden(unit_t *u, CXCursor function);

#endif
