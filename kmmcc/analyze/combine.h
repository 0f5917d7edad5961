/* SPDX-License-Identifier: Apache-2.0 */
/* What is inferred of the instances of a launch in a template, as one pragma. */
#ifndef KMMCC_ANALYZE_COMBINE_H
#define KMMCC_ANALYZE_COMBINE_H

#include "analyze/complete.h"
#include "pragma/directive.h"

/*
 * Returns what holds for all instances of the launch, of which list[k] is that of instance k:
 *
 * - Texts that differ in numbers alone have expressions of the template's parameters instead, if
 *   one has the right value in each instance: `x - R` for `x - 3` and `x - 5`.
 * - What some instances only read, all may read.
 * - What one instance writes, another updates, or does not access, is updated.
 * - The conditions are those of all.
 *
 * Leaves out pointers of which that cannot be done, and sets d->instances_differ. Returns NULL if
 * the axes differ.
 */
completed_t *combine_instances(const unit_t *u, directive_t *d, completed_t **list);

#endif
