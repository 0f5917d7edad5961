/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the function or kernels that a launch runs. */
#ifndef KMMCC_CLANG_CALLEE_H
#define KMMCC_CLANG_CALLEE_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Reports an error at the cursor, or at the directive's name where the cursor is not in the source.
 */
void callee_error(const unit_t *u, const directive_t *d, CXCursor c, const char *message);
/* Finds the kernels or the function that d->launch runs, and its arguments. */
void callee_bind(unit_t *u, directive_t *d);
/* Returns what stands before the function's name where a chunk of a C++ program calls it: its
 * namespaces, or nothing. */
const char *callee_path(const unit_t *u, const directive_t *d);
/* Returns what the launch refers to as its kernel. */
CXCursor callee_of(CXCursor launch);
/* Sets the kernel and the arguments of d->launch, which is that of an instance of a template. */
void callee_bind_instance(directive_t *d);
/* True if the call does not write the argument, which is a default. */
bool callee_is_left_out(CXCursor argument);
/* Finds where an argument of the launch is written. False: it is left out, or comes from a macro
 * that writes more than it. */
bool callee_argument_range(const unit_t *u, const directive_t *d, CXCursor argument, size_t *begin,
                           size_t *end);

#endif
