/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes that are checked at run time. A type between threadIdx and the variable may wrap, or only an
 * instance of the template tells if it is an integer. The rewritten code compares the values of the
 * variable in the block's first and last thread.
 */
#ifndef KMMCC_CPU_LOOPS_AXIS_CHECK_H
#define KMMCC_CPU_LOOPS_AXIS_CHECK_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/text.h"
#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* True if the type may be that of an integer of two or more bytes. */
bool axis_may_be_number(CXType type);
/* Appends `, decltype(n)` to `types` if only an instance of the template tells if `n` is an
 * integer. */
void axis_add_dependent(const emitter_t *e, const node_t *n, text_t *types);
/*
 * Returns the axis, "x" or "y", that the expression has if the types in it are integers and do not
 * wrap; otherwise NULL. Appends the types that must be integers to `types`.
 */
const char *axis_possible_of(const emitter_t *e, const node_t *n, text_t *types);
/* Returns the same for a variable, by its initializer. */
const char *axis_possible(const emitter_t *e, const variable_t *v);
/* Returns the axis of a variable, known or checked at run time; NULL if it has neither. */
const char *axis_of_variable(const emitter_t *e, const variable_t *v);
/* Returns the list of the types that must be integers for the variable to have its axis. The
 * variable's own type is the first. */
const char *axis_types(emitter_t *e, const variable_t *v);
/* Returns a C++ expression for the variable's value in the block's last thread. */
const char *axis_last_value(emitter_t *e, const variable_t *v);
/* Returns the variable that the expression names if its axis is checked at run time; otherwise
 * NULL. */
const variable_t *axis_checked_at_run(const emitter_t *e, const node_t *n);

#endif
