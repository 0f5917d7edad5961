/* SPDX-License-Identifier: Apache-2.0 */
/* The registration of clones with the runtime. */
#ifndef KMMCC_GPU_REGISTER_H
#define KMMCC_GPU_REGISTER_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "gpu/reach.h"
#include "pragma/directive.h"

/* The statement that a launch needs whose kernels are instances of templates and which does not
 * name the clone. Empty for others. */
const char *register_launch(const unit_t *u, const directive_t *d);
/* The arguments of the instance, as text; NULL when they cannot be written down here. */
const char *register_template_arguments(CXCursor instance);
/* Behind the clone of a kernel that is no template. */
const char *register_clone(const unit_t *u, const function_t *f);

#endif
