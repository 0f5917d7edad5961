/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the check of host code (execute/exact_host.h) which bytes a launch or a task uses. Without
 * KMM_CHECK=access nothing here has an effect. */
#ifndef KMM__LAUNCH_HOST_USES_H
#define KMM__LAUNCH_HOST_USES_H

#include "launch/submission.h"

/* For KMM_CHECK=access. Locked: the launch is about to be submitted. Returns an error, with its
 * text, if the host has stored to what it uses without an `update to`. */
int kmm__host_uses_check(const kmm__submission_t *s);
/* Locked: a launch with nowait leaves its maps. */
void kmm__host_uses_defer(const kmm__submission_t *s);
/* The statements of a task begin, or have ended: until then, all threads may touch its elements. */
void kmm__host_uses_task(const kmm__submission_t *s, bool begins);

#endif
