/* SPDX-License-Identifier: Apache-2.0 */
/* Registers clones with the runtime. */
#ifndef KMMCC_GPU_REGISTER_H
#define KMMCC_GPU_REGISTER_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "gpu/reach.h"
#include "pragma/directive.h"

/* Returns the statement that registers the clones of a launch that does not name them, since its
 * kernels are instances of templates; "" for other launches. */
const char *register_launch(const unit_t *u, const directive_t *d);
/* Returns the template arguments of the instance as text; NULL if they cannot be written there. */
const char *register_template_arguments(CXCursor instance);
/* Returns the declaration that registers the clone of a kernel that is no template. */
const char *register_clone(const unit_t *u, const function_t *f);

#endif
