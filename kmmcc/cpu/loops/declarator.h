/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a variable of the function is declared again: its type, what stands behind its name, and
 * the array that holds its values of all threads.
 */
#ifndef KMMCC_CPU_LOOPS_DECLARATOR_H
#define KMMCC_CPU_LOOPS_DECLARATOR_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Its type as C++, without qualifiers. */
const char *declarator_type(emitter_t *e, const variable_t *v);
bool declarator_is_const(const variable_t *v);
/* Whether the end of the variable's life runs no code of the program; otherwise the function is not
 * split, since that code belongs to the end of the scope, wherever the phases end. */
bool declarator_ends_silently(emitter_t *e, CXCursor variable, const node_t *at);
/* The name of the array that holds its values of all threads. */
const char *declarator_values(const variable_t *v);
/* The text behind the name: an initializer, or "". */
const char *declarator_suffix(emitter_t *e, const variable_t *v);
/* The whole declaration, as it is written but for the type. */
const char *declarator_text(emitter_t *e, const variable_t *v);

#endif
