/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preprocessor lines in a body. #define, #undef and #pragma are copied to where the statements
 * behind them go. A statement that an #if divides cannot be written.
 */
#ifndef KMMCC_CPU_LOOPS_PREPROCESSOR_H
#define KMMCC_CPU_LOOPS_PREPROCESSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* True if each #if in [begin, end) has its #endif there, and each #endif its #if. Otherwise the
 * body cannot be split. */
bool preprocessor_is_balanced(emitter_t *e, const node_t *n, size_t begin, size_t end);
/* Returns the offset behind the statement before `n`, or behind the brace that opens its block. */
size_t preprocessor_end_before(const emitter_t *e, const node_t *n);
/* Writes the #define and #undef lines of [begin, end). */
void preprocessor_add_definitions(emitter_t *e, size_t begin, size_t end);
/* Writes the #pragma lines before the statement to the open phase. */
void preprocessor_add_pragmas(emitter_t *e, const node_t *n);

#endif
