/* SPDX-License-Identifier: Apache-2.0 */
/* Prints, for --suggest, the pragmas that launches could have. */
#ifndef KMMCC_EMIT_SUGGESTION_H
#define KMMCC_EMIT_SUGGESTION_H

#include "base/source.h"
#include "base/text.h"
#include "clang/unit.h"

/* Returns the text with `_Pragma("kmm parallel")` before each kernel launch that has no pragma. */
const source_t *suggestion_mark(const source_t *s);
/* Prints the completed pragma of each kernel launch, and which pointers it leaves open, on stdout.
 */
void suggestion_print(const unit_t *u);
/* Adds lines that say how well the accesses of the launch's pointers are known. */
void suggestion_add_known(const unit_t *u, const directive_t *d, text_t *out);

#endif
