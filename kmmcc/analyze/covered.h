/* SPDX-License-Identifier: Apache-2.0 */
/* Which items of a launch speak of which of its arguments. */
#ifndef KMMCC_ANALYZE_COVERED_H
#define KMMCC_ANALYZE_COVERED_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* True if the item says what the launch does with the pointer argument of this number. One that was
 * added for a parameter speaks of that parameter alone. */
bool covered_by(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument,
                int number);
/* True if an item does, or if the kernel's code is compared with all items. */
bool covered(const unit_t *u, const directive_t *d, CXCursor argument, int number);

/* True if all items that begin as the argument does were made for another parameter, which gets the
 * same struct, and what the kernel does with this one is not known exactly. */
bool covered_for_another(const unit_t *u, const directive_t *d, int number);

#endif
