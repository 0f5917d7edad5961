/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, before any chunk of a launch runs, that its chunks fit on the devices. */
#ifndef KMM__LAUNCH_FIT_H
#define KMM__LAUNCH_FIT_H

#include "launch/submission.h"

/* The caller holds the lock; items have their arrays and the chunks are known. KMM_E_MEMORY,
 * with the text set: a chunk needs more memory than a device has, and the device cannot use host
 * memory for the rest. If this were found later, results of chunks that have run would be lost. */
int kmm__submission_fits(const kmm__submission_t *s);

#endif
