/* SPDX-License-Identifier: Apache-2.0 */
/* Which item says how far a pointer argument of a plain function moves from chunk to chunk. */
#ifndef KMMCC_EMIT_MOVED_H
#define KMMCC_EMIT_MOVED_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Returns the item; NULL: there is none. `text`: the argument as it is written; `inner`: N for a
 * pointer to an N-dimensional array. Items that do not agree are an error. */
const item_t *moved_item(const unit_t *u, const directive_t *d, int number, int inner,
                         const char *text);

#endif
