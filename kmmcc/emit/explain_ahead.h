/* SPDX-License-Identifier: Apache-2.0 */
/* What ends lookahead in the loops around a launch. */
#ifndef KMMCC_EMIT_EXPLAIN_AHEAD_H
#define KMMCC_EMIT_EXPLAIN_AHEAD_H

#include "clang/unit.h"
#include "emit/explained.h"
#include "pragma/directive.h"

/* Adds to out->ends what stands in a loop around the directive's launch, in the same function, and
 * keeps steps of the loop from being submitted before earlier ones have run. */
void explain_ahead(const unit_t *u, const directive_t *d, explained_t *out);

#endif
