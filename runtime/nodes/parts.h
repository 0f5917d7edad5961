/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a launch: which chunks each node runs, and what they read and write. */
#ifndef KMM__NODES_PARTS_H
#define KMM__NODES_PARTS_H

#include "launch/submission.h"
#include "nodes/state.h"

/* True if the launch may be divided among `count` nodes, as far as its chunks and their regions
 * tell. */
bool kmm__parts_are_possible(const kmm__submission_t *s, uint32_t count);
/* Brings what the part of this node reads, and sends what others need. Then all nodes hold what
 * their parts write. Sets s->begin and s->end. All arrays of items are shared. `ids` has their
 * numbers on node 0. */
void kmm__parts_begin(kmm__nodes_t *n, kmm__submission_t *s, const uint64_t *ids);

#endif
