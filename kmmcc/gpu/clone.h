/* SPDX-License-Identifier: Apache-2.0 */
/* Clones: copies of kernels that run some of the grid's thread blocks. */
#ifndef KMMCC_GPU_CLONE_H
#define KMMCC_GPU_CLONE_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Adds the edits that write all clones. */
void clone_kernels(unit_t *u);
/* Reports kernels of launches that cannot be cloned. */
void clone_check(unit_t *u);
/* Adds the edits by which a launch of a template names the clone; the compiler chooses the
 * instance. */
void clone_launch(unit_t *u, const directive_t *d);
/* True if a kernel that is to be cloned, or a function that it calls, is in a header of the
 * program. */
bool clone_needs_headers(unit_t *u);

#endif
