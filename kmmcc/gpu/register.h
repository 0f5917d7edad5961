/* SPDX-License-Identifier: Apache-2.0 */
/* The registration of clones with the runtime. */
#ifndef KMMCC_GPU_REGISTER_H
#define KMMCC_GPU_REGISTER_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "gpu/reach.h"
#include "pragma/directive.h"

/* The statement that registers the clones of a launch whose kernels are instances of templates and
 * which does not name the clone; "" for other launches. */
const char *register_launch(const unit_t *u, const directive_t *d);
/* The arguments of the instance, as text; NULL when they cannot be written down here. */
const char *register_template_arguments(CXCursor instance);
/* The declaration, behind the clone of a kernel that is no template, that registers it. */
const char *register_clone(const unit_t *u, const function_t *f);

#endif
