/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the chunks of a launch write different elements. */
#ifndef KMM__LAUNCH_DISJOINT_H
#define KMM__LAUNCH_DISJOINT_H

#include "launch/submission.h"

/* Refuses the launch with KMM_E_OVERLAP if two of its chunks write the same elements of exact
 * regions. Warns once of a launch of a plain function if a chunk reads through one pointer what
 * another chunk writes through another one. Nothing of the launch has run yet; the items have their
 * arrays. */
int kmm__submission_disjoint(const kmm__submission_t *s);

/* For warnings of what other chunks write: true at each further call for a launch in the source, of
 * the first 64 launches. */
bool kmm__disjoint_is_said(const kmm_launch_t *l);

/* True if no two items with stores, as inferred through different pointers, are in one array. */
bool kmm__stores_are_apart(const kmm_launch_t *l);

#endif
