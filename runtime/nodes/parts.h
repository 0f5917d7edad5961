/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a launch: which chunks each node runs, and what they read and write. */
#ifndef KMM__NODES_PARTS_H
#define KMM__NODES_PARTS_H

#include "launch/submission.h"
#include "nodes/state.h"

/* Returns why the launch cannot be divided among `count` nodes, as far as its chunks and their
 * regions tell; NULL: it can be. */
const char *kmm__parts_refuse(const kmm__submission_t *s, uint32_t count);
/* Brings what the part of this node reads, and sends what others need. Then all nodes hold what
 * their parts write. Sets s->is_part, s->begin and s->end. All arrays of items are shared. `ids`
 * has their numbers on node 0. */
void kmm__parts_begin(kmm__nodes_t *n, kmm__submission_t *s, const uint64_t *ids);
/* When the chunks of a part have been submitted: brings the partials of all parts to node 0. */
void kmm__parts_gather(kmm__nodes_t *n, const kmm__submission_t *s);

#endif
