/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a variable's declaration as C++: its type, its initializer, and the name of the
 * array that holds one value for each thread.
 */
#ifndef KMMCC_CPU_LOOPS_DECLARATOR_H
#define KMMCC_CPU_LOOPS_DECLARATOR_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Returns the variable's type as C++, without qualifiers. */
const char *declarator_type(emitter_t *e, const variable_t *v);
/* True if the variable is const. */
bool declarator_is_const(const variable_t *v);
/* True unless the variable's type is known to have a destructor; then the function is not split. A
 * destructor runs at the end of the variable's scope, which may be in another phase. */
bool declarator_ends_silently(emitter_t *e, CXCursor variable, const node_t *at);
/* Returns the name of the array that holds the variable's value for each thread. */
const char *declarator_values(const variable_t *v);
/* Returns the initializer as it is written behind the name; "" if there is none. */
const char *declarator_suffix(emitter_t *e, const variable_t *v);
/* Returns the whole declaration, with the type as declarator_type returns it. */
const char *declarator_text(emitter_t *e, const variable_t *v);

#endif
