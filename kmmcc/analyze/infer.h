/* SPDX-License-Identifier: Apache-2.0 */
/* Infers a kernel's accesses from its code. */
#ifndef KMMCC_ANALYZE_INFER_H
#define KMMCC_ANALYZE_INFER_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "analyze/declaration.h"
#include "clang/unit.h"

/* Whose the range of the launch will be. */
typedef enum range { RANGE_INFERRED, RANGE_GIVEN } range_t;
/* What the kernel's code shows of the wanted parameters; NULL: nothing. `instance`: the kernel, or
 * the instance of a template that is launched. */
declaration_t *infer_kernel(unit_t *main, CXCursor instance, const bool *wanted, range_t range);

#endif
