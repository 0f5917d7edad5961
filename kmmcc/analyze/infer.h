/* SPDX-License-Identifier: Apache-2.0 */
/* Infers a kernel's accesses from its code. */
#ifndef KMMCC_ANALYZE_INFER_H
#define KMMCC_ANALYZE_INFER_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/declaration.h"
#include "clang/unit.h"

/* Where the launch's range comes from: the kernel's code, or the pragma. */
typedef enum range { RANGE_INFERRED, RANGE_GIVEN } range_t;
/* Returns the accesses of the `wanted` parameters as the kernel's code shows them; NULL if it shows
 * none. `instance` is the kernel, or the instance of a template that is launched. `block`: the size
 * of the launch's blocks in each dimension, 0 where that is no constant. `reason`: receives for
 * each wanted parameter that is left out why it is, as a constant or in the arena. */
declaration_t *infer_kernel(unit_t *main, CXCursor instance, const bool *wanted, range_t range,
                            const int64_t block[3], const char **reason);

#endif
