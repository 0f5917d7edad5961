/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether an expression has side effects. */
#ifndef KMMCC_ANALYZE_EFFECTS_H
#define KMMCC_ANALYZE_EFFECTS_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* A call may be repeated when its function can change nothing. What looks like one may be the use
 * of a macro. */
bool effects_is_pure(CXCursor call);

#endif
