/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites each directive into calls of libkmm. */
#ifndef KMMCC_EMIT_REWRITE_H
#define KMMCC_EMIT_REWRITE_H

#include "clang/unit.h"

/* Adds the edits of all directives of the file. */
void rewrite_directives(unit_t *u);
/* Adds the `#include` of kmm's header, if an edit needs it. Called after all other edits. */
void rewrite_include(unit_t *u);

#endif
