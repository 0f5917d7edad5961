/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites calls of plain functions that are divided into chunks. */
#ifndef KMMCC_EMIT_CALL_H
#define KMMCC_EMIT_CALL_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Returns the statement that throws what a chunk has thrown; it belongs behind calls that may wait
 * for chunks. "" if chunks throw nothing. */
const char *call_rethrow(const unit_t *u, unsigned line);
/* Adds the edits by which libkmm calls the function once for each chunk. */
void call_rewrite(unit_t *u, directive_t *d, const char *indent);

#endif
