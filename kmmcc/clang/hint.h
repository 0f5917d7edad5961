/* SPDX-License-Identifier: Apache-2.0 */
/* Hints to a compiler: what changes neither types nor statements. */
#ifndef KMMCC_CLANG_HINT_H
#define KMMCC_CLANG_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the tokens of the text without attributes, `inline`, `restrict`, what __builtin_expect
 * adds to an expression, and pragmas for optimisation. All strings are alike. */
const char *hint_without(const char *text, size_t length);
/* True if a line of preprocessed text has nothing but hints. */
bool hint_is_all(const char *line, size_t length);

#endif
