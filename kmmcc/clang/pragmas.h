/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the pragmas of a translation unit's files. */
#ifndef KMMCC_CLANG_PRAGMAS_H
#define KMMCC_CLANG_PRAGMAS_H

#include "clang/unit.h"

/* Parses all pragmas of the file into u->directives, and reports errors in them. */
void pragmas_parse(unit_t *u);
/* Takes back the messages about pragmas that #if disables, of the file and those after it; returns
 * how many there were. */
int pragmas_forget_disabled(unit_t *u);

#endif
