/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of a launch's kernel, as text for libkmm. */
#ifndef KMMCC_EMIT_GRAPH_H
#define KMMCC_EMIT_GRAPH_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Returns an expression of what include/kmm/launch.h says of kmm_launch_graph, which is null for
 * instances of a template of which it is not known. NULL: not all accesses of the kernel are in a
 * graph, or the kernel may have other code when another compiler compiles it. */
const char *graph_of_launch(const unit_t *u, const directive_t *d);

#endif
