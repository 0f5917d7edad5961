/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that only limit how far a function goes. */
#ifndef KMMCC_ANALYZE_LIMIT_H
#define KMMCC_ANALYZE_LIMIT_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* True if all that the function is seen to do with its pointer parameter `number` is to compare it
 * with elements' addresses, as in `p < end`. It is the same for every chunk then. False for a
 * pointer whose distance is computed, and for `a == b` of two parameters, which ask whether both
 * are one array. */
bool limit_is(CXCursor function, int number);

#endif
