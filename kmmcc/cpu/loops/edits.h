/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source's text with the edits that the body has. Edits may lie within others: the outermost
 * one that begins first counts.
 */
#ifndef KMMCC_CPU_LOOPS_EDITS_H
#define KMMCC_CPU_LOOPS_EDITS_H

#include <stddef.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Replaces [begin, end) of the source. */
void edits_add(emitter_t *e, size_t begin, size_t end, const char *text);
/* The text of [begin, end). */
const char *edits_copy(const emitter_t *e, size_t begin, size_t end);
const char *edits_copy_node(const emitter_t *e, const node_t *n);
/* The #line for a place in the source. */
const char *edits_line(const emitter_t *e, size_t at);
/* The unit's edits of the body become the emitter's ... */
void edits_take(emitter_t *e);
/* ... and are no longer the unit's. */
void edits_release(const emitter_t *e);

#endif
