/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preprocessor lines in a body: #define, #undef and #pragma are copied to where the statements
 * behind them go; #if must not divide a statement.
 */
#ifndef KMMCC_CPU_LOOPS_PREPROCESSOR_H
#define KMMCC_CPU_LOOPS_PREPROCESSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Whether conditions in the text begin and end in it; if not, the body cannot be split. */
bool preprocessor_is_balanced(emitter_t *e, const node_t *n, size_t begin, size_t end);
/* Where the statement before `n` ends, or the brace that opens its block. */
size_t preprocessor_end_before(const emitter_t *e, const node_t *n);
/* The #define and #undef lines of [begin, end). */
void preprocessor_add_definitions(emitter_t *e, size_t begin, size_t end);
/* The pragmas before the statement. */
void preprocessor_add_pragmas(emitter_t *e, const node_t *n);

#endif
