/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with a launch once its chunks are known, and before any node runs one. */
#ifndef KMM__LAUNCH_PREPARE_H
#define KMM__LAUNCH_PREPARE_H

#include "launch/submission.h"

/* Plans the reductions, checks that chunks fit and that no two write the same elements. May divide
 * chunks that do not fit. The caller holds the lock; items have their arrays. */
int kmm__submission_prepare(kmm__submission_t *s);

#endif
