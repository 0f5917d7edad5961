/* SPDX-License-Identifier: Apache-2.0 */
/* What --explain says of a file. */
#ifndef KMMCC_EMIT_EXPLAIN_H
#define KMMCC_EMIT_EXPLAIN_H

#include "clang/unit.h"

/* Adds the launches and tasks of the file to those that explained_print prints. */
void explain_directives(const unit_t *u);

#endif
