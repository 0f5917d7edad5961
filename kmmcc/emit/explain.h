/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what --explain says. */
#ifndef KMMCC_EMIT_EXPLAIN_H
#define KMMCC_EMIT_EXPLAIN_H

#include "clang/unit.h"

void explain_directives(const unit_t *u); /* on stdout */

#endif
