/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: from the description and the arguments to tasks in the DAG. */
#ifndef KMM__LAUNCH_SUBMIT_H
#define KMM__LAUNCH_SUBMIT_H

#include "launch/submission.h"

/* Not locked: submits a kernel as the description says, which it frees. 0 or an error with its
 * text. annotated: the description comes from a pragma. */
int kmm__submit_kernel(kmm_launch_t *l, bool annotated, const kmm_kernel_t *kernel,
                       const kmm_geometry_t *geometry, void **args);

/* ---- Of one submission; for `task` directives too ---- */
/* Locked: its work; a reference. */
kmm__work_t *kmm__submission_work(kmm__submission_t *s);
/* Locked: gives t the accesses of one chunk, one for each item that is not empty there. */
int kmm__submission_plan(kmm__submission_t *s, kmm__task_t *t, const kmm__chunk_box_t *box);

#endif
