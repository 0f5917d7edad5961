/* SPDX-License-Identifier: Apache-2.0 */
/* Finds whether a default argument is the same in each chunk. */
#ifndef KMMCC_EMIT_DEFAULT_H
#define KMMCC_EMIT_DEFAULT_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* True if the default of the function's parameter is a constant. `argument` is what clang passes
 * for it. */
bool default_is_constant(CXCursor function, int number, CXCursor argument);

#endif
