/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that only limit how far a function goes. */
#ifndef KMMCC_ANALYZE_LIMIT_H
#define KMMCC_ANALYZE_LIMIT_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* True if the function visibly does nothing with its pointer parameter `number` but compare it with
 * addresses of elements, as in `p < end`. Then all chunks get the same pointer. False if it
 * computes a distance to the pointer, or compares two parameters by `a == b`. */
bool limit_is(CXCursor function, int number);

#endif
