/* SPDX-License-Identifier: Apache-2.0 */
/* Hints to a compiler: what changes neither types nor statements. */
#ifndef KMMCC_CLANG_HINT_H
#define KMMCC_CLANG_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the tokens of the text without attributes, `inline`, `restrict` and pragmas for
 * optimisation. All strings are alike. Where one of two texts has __builtin_expect, what that adds
 * to an expression is left out of both if `expects`. */
const char *hint_without(const char *text, size_t length, bool expects);
/* True if a line of preprocessed text has nothing but hints. */
bool hint_is_all(const char *line, size_t length);

#endif
