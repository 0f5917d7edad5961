/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a chunk's part of an array, for pictures. */
#ifndef KMMCC_EMIT_EXPLAIN_PART_H
#define KMMCC_EMIT_EXPLAIN_PART_H

#include "emit/explain_region.h"
#include "emit/explained.h"
#include "pragma/directive.h"

/* Sets the parts of the item, or why it cannot be drawn. */
void explain_parts(const explanation_t *x, const item_t *item, explained_item_t *out);

#endif
