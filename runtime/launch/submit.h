/* SPDX-License-Identifier: Apache-2.0 */
/* Submits launches: turns a description and arguments into tasks of the DAG. */
#ifndef KMM__LAUNCH_SUBMIT_H
#define KMM__LAUNCH_SUBMIT_H

#include "launch/submission.h"

/* A result of kmm__submit_kernel: the description is inferred, and does not hold. Nothing of the
 * launch has run. */
enum { KMM__NOT_HELD = 2 };

/* Submits a kernel launch and frees its description. Returns 0, an error with its text,
 * KMM__NOT_HELD, or KMM__LAUNCH_NATIVELY or KMM__LAUNCH_IN_CHUNKS (launch/natively.h). annotated:
 * the description comes from a pragma. The caller does not hold the lock. */
int kmm__submit_kernel(kmm_launch_t *l, bool annotated, const kmm_kernel_t *kernel,
                       const kmm_geometry_t *geometry, void **args);

/* ---- Steps of a submission, also used by `task` directives ---- */
/* Creates the submission's work and returns a reference. The caller holds the lock. */
kmm__work_t *kmm__submission_work(kmm__submission_t *s);
/* Checks a launch whose arguments are packed, finds its arrays, and chooses its chunks. The caller
 * holds the lock. */
int kmm__submission_check(kmm__submission_t *s, const uint32_t grid[3], const uint32_t block[3]);
/* Gives t the accesses of one chunk: one for each item whose region is not empty. The caller
 * holds the lock. */
int kmm__submission_plan(kmm__submission_t *s, kmm__task_t *t, const kmm__chunk_box_t *box);

#endif
