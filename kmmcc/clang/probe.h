/* SPDX-License-Identifier: Apache-2.0 */
/* Probes: the expressions of pragmas in the text that clang parses. */
#ifndef KMMCC_CLANG_PROBE_H
#define KMMCC_CLANG_PROBE_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Writes u->parsed: the source, in which each pragma is replaced by its expressions. */
void probe_write(unit_t *u);

/* On the way through a probe: `probe` is the one whose initializer is visited. */
typedef struct walk {
    unit_t *u;
    directive_t *d;
    probe_t *probe;
    size_t macro_begin, macro_end; /* the range of an expression around, which a macro writes */
} probe_walk_t;

/* Visitor: gives the expressions of a directive their types and cursors. `data` is a probe_walk_t.
 */
enum CXChildVisitResult probe_visit(CXCursor c, CXCursor parent, CXClientData data);

#endif
