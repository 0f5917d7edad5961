/* SPDX-License-Identifier: Apache-2.0 */
/* The pragmas that launches could have: chosen where all that their kernels access is proven. */
#ifndef KMMCC_EMIT_SUGGESTION_H
#define KMMCC_EMIT_SUGGESTION_H

#include "clang/unit.h"
#include "emit/explained.h"
#include "emit/mark.h"

/* Sets the pragma of each mark, or the reason why it has none. The unit is that of mark_trial, with
 * completed directives. It takes back all messages that it gives rise to. */
void suggestion_choose(unit_t *u, marks_t *m);
/* Prints the completed pragma of each kernel launch, and which pointers it leaves open, on stdout.
 */
void suggestion_print(const unit_t *u, marks_t *m);
/* Adds how well the accesses of the launch's pointers are known. */
void suggestion_add_known(const unit_t *u, const directive_t *d, explained_t *out);

#endif
