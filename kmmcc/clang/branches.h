/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the branches of #if that the real compiler takes with those that clang takes. */
#ifndef KMMCC_CLANG_BRANCHES_H
#define KMMCC_CLANG_BRANCHES_H

#include <stdbool.h>

#include "clang/unit.h"

/* Reports branches of the program's files that only one of the two takes and that have code, and
 * macros that stand for other code in one than in the other. Costs nothing where the files ask for
 * no macro of the compiler. False after an error. The unit has been parsed. */
bool branches_check(const unit_t *main);

#endif
