/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes that are checked when the block runs. The types between threadIdx and the variable may wrap,
 * or only an instance of the template tells whether they are integers; so the block's first and
 * last thread are compared.
 */
#ifndef KMMCC_CPU_LOOPS_AXIS_CHECK_H
#define KMMCC_CPU_LOOPS_AXIS_CHECK_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/text.h"
#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

bool axis_may_be_number(CXType type);
/* Adds `, decltype(n)` where only an instance of the template tells whether that is an integer. */
void axis_add_dependent(const emitter_t *e, const node_t *n, text_t *types);
/*
 * The axis of an expression, if types are what they may be: "x", "y" or NULL. What must be integers
 * is added to `types`.
 */
const char *axis_possible_of(const emitter_t *e, const node_t *n, text_t *types);
/* The same of a variable. */
const char *axis_possible(const emitter_t *e, const variable_t *v);
/* The axis of a variable, known or possible; NULL: neither. */
const char *axis_of_variable(const emitter_t *e, const variable_t *v);
/* The types that must be integers for that, the variable's first. */
const char *axis_types(emitter_t *e, const variable_t *v);
/* The variable's value in the block's last thread. */
const char *axis_last_value(emitter_t *e, const variable_t *v);
/* The variable that the expression is, if its axis is checked when the block runs. */
const variable_t *axis_checked_at_run(const emitter_t *e, const node_t *n);

#endif
