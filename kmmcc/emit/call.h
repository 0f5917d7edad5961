/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of plain functions, divided into chunks. */
#ifndef KMMCC_EMIT_CALL_H
#define KMMCC_EMIT_CALL_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* The declaration of a variable: the name stands within the type of an array or of a pointer to a
 * function. */
const char *declaration_of(const char *type, const char *name);
/* Behind what may wait for chunks: throws what one of them threw. "": chunks throw nothing. */
const char *call_rethrow(const unit_t *u, unsigned line);
/* Adds the edits by which libkmm calls the function once for each chunk. */
void call_rewrite(unit_t *u, directive_t *d, const char *indent);

#endif
