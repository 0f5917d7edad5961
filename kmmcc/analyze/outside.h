/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a plain function reaches and no clause of its launch names. */
#ifndef KMMCC_ANALYZE_OUTSIDE_H
#define KMMCC_ANALYZE_OUTSIDE_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* True if an item is of this member of the argument. */
bool outside_is_named(const directive_t *d, CXCursor argument, CXCursor field);
/* True if the function may read memory besides its own variables, constants, numbers that are
 * passed by value, and memory to which its pointer parameters lead directly. The program may change
 * or free such memory while chunks run. False only where the function's IR proves it. */
bool outside_is_read(const unit_t *u, const directive_t *d);
/* True if the kernel uses nothing but its arguments, constants, shared memory, and memory to which
 * its pointer arguments lead, and stores no addresses there. */
bool outside_is_unused(const unit_t *u, const directive_t *d);
/* True if the function allocates or frees memory to which pointers in the launch's arrays lead. */
bool outside_is_owned(const unit_t *u, const directive_t *d);

#endif
