/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements of the block: blocks, expressions and branches with barriers in them. A branch with a
 * uniform condition stays one; in a divergent one, the threads that do not take it get a state.
 */
#ifndef KMMCC_CPU_LOOPS_STATEMENT_H
#define KMMCC_CPU_LOOPS_STATEMENT_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

void statement_emit(emitter_t *e, node_t *n);
void statement_emit_children(emitter_t *e, node_t *n);
/* The statement in braces. */
void statement_emit_inner(emitter_t *e, node_t *n);
/* The threads for which the condition does not hold get the state. */
void statement_emit_condition(emitter_t *e, node_t *condition, int state);
void statement_emit_expression(emitter_t *e, node_t *n);
/* Whether the expression changes only variables of the block, and changes one. */
bool statement_changes_block(const emitter_t *e, const node_t *n);

#endif
