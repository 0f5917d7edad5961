/* SPDX-License-Identifier: Apache-2.0 */
/* Where plain functions print to. Chunks may print in any order to standard error, and to memory or
 * a file that nobody else has. */
#ifndef KMMCC_ANALYZE_OUTPUT_H
#define KMMCC_ANALYZE_OUTPUT_H

#include <clang-c/Index.h>
#include <stdbool.h>

/* True if the function is one of the library's that print, whichever stream it gets. */
bool output_is_printer(CXCursor f);
/* True if the call is one of a function that prints, and not only to where any order is right.
 * functions: all functions of the program that run in the chunk, by their definitions; the first is
 * the one that is launched. */
bool output_is_ordered(CXCursor call, const CXCursor *functions, int count);

#endif
