/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, before any chunk of a launch runs, that each has room where it may run. */
#ifndef KMM__LAUNCH_FIT_H
#define KMM__LAUNCH_FIT_H

#include "launch/submission.h"

/* The caller holds the lock; items have their arrays, and the chunks and reductions are known.
 * KMM_E_MEMORY, with the text set: a task of the launch needs more memory than there is, and cannot
 * use other memory for the rest. If this were found later, results of chunks that have run would be
 * lost. */
int kmm__submission_fits(kmm__submission_t *s);

#endif
