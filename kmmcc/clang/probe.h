/* SPDX-License-Identifier: Apache-2.0 */
/* Probes: the expressions of pragmas in the text that clang parses. */
#ifndef KMMCC_CLANG_PROBE_H
#define KMMCC_CLANG_PROBE_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Writes u->parsed: the source, in which each pragma is replaced by its expressions. */
void probe_write(unit_t *u);

/* Gives the expressions of a directive their types and cursors: those in the statement that begins
 * with the directive's probe, which may be in an instance of a template. */
void probe_types(unit_t *u, directive_t *d, CXCursor statement);

#endif
