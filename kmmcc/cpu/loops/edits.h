/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of the source's text with the emitter's edits applied. Edits may be nested; then only the
 * outermost is applied.
 */
#ifndef KMMCC_CPU_LOOPS_EDITS_H
#define KMMCC_CPU_LOOPS_EDITS_H

#include <stddef.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Adds an edit that replaces [begin, end) of the source. */
void edits_add(emitter_t *e, size_t begin, size_t end, const char *text);
/* Returns the edited text of [begin, end). */
const char *edits_copy(const emitter_t *e, size_t begin, size_t end);
/* Returns the edited text of the node. */
const char *edits_copy_node(const emitter_t *e, const node_t *n);
/* Returns the #line directive for an offset in the source. */
const char *edits_line(const emitter_t *e, size_t at);
/* Copies the unit's edits of the body to the emitter. */
void edits_take(emitter_t *e);
/* Removes the edits of the body from the unit. */
void edits_release(const emitter_t *e);

#endif
