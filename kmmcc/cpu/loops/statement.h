/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the block's statements: compound statements, expressions, and branches with barriers in
 * them. A branch with a uniform condition stays a branch. In a divergent branch, the threads that
 * do not take it get a state.
 */
#ifndef KMMCC_CPU_LOOPS_STATEMENT_H
#define KMMCC_CPU_LOOPS_STATEMENT_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Writes a statement of the block. */
void statement_emit(emitter_t *e, node_t *n);
/* Writes the statements in `n`, without braces. */
void statement_emit_children(emitter_t *e, node_t *n);
/* Writes the statement in braces. */
void statement_emit_inner(emitter_t *e, node_t *n);
/* Writes a phase in which the threads for which the condition is false get the state. */
void statement_emit_condition(emitter_t *e, node_t *condition, int state);
/* Writes an expression that is a statement. */
void statement_emit_expression(emitter_t *e, node_t *n);
/* True if the expression changes a uniform variable. */
bool statement_changes_block(const emitter_t *e, const node_t *n);

#endif
