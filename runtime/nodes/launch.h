/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that several nodes run: which these are, and their command. */
#ifndef KMM__NODES_LAUNCH_H
#define KMM__NODES_LAUNCH_H

#include "launch/submission.h"
#include "nodes/state.h"

/* Returns why the launch cannot be divided among the nodes, and stays on node 0; NULL: it can be.
 */
const char *kmm__launch_refuse(const kmm__nodes_t *n, const kmm__submission_t *s);
/* True if the launch uses nothing but the arrays of its items. */
bool kmm__launch_is_confined(const kmm__submission_t *s);
/* Node 0: sends the launch to the others. Its arrays are shared. */
void kmm__launch_send(kmm__nodes_t *n, const kmm__submission_t *s);
/* Other nodes: makes the launch of a command, and submits the part of this node. */
void kmm__launch_execute(kmm__nodes_t *n, const char *bytes, size_t count);
/* Called by the hooks of that launch: gives it the chunks of node 0's; completes its submission. */
void kmm__launch_divide(kmm__submission_t *s);
void kmm__launch_begin_part(kmm__nodes_t *n, kmm__submission_t *s);

#endif
