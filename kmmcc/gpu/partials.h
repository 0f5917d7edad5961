/* SPDX-License-Identifier: Apache-2.0 */
/* Clones of kernels that reduce: which of their pointers they move to the partial of a block's
 * chunk, so that one launch runs all chunks (kmm_partials of kmm/clone.h). */
#ifndef KMMCC_GPU_PARTIALS_H
#define KMMCC_GPU_PARTIALS_H

#include <stdbool.h>

#include "clang/unit.h"
#include "gpu/reach.h"
#include "pragma/directive.h"

/* Chooses the pointers of all kernels that the unit's directives divide and that reduce in an order
 * which decides the result. */
void partials_choose(unit_t *u);
/* Returns the type of the clone's first parameter. */
const char *partials_type(const function_t *f);
/* Returns that parameter with its name. */
const char *partials_parameter(const function_t *f);
/* Returns the statements with which the clone's body begins. */
const char *partials_locals(const function_t *f);

#endif
