/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out if an expression has side effects. */
#ifndef KMMCC_ANALYZE_EFFECTS_H
#define KMMCC_ANALYZE_EFFECTS_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* True if the call may be repeated, since its function changes nothing. The call may also be the
 * use of a macro. */
bool effects_is_pure(CXCursor call);
/* The same for an expression in a template, where calls may depend on the template's arguments:
 * those are taken for calls that change nothing. */
bool effects_may_be_pure(CXCursor e);

#endif
