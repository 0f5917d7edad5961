/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the chunks of a launch fit on its devices, asked before any of them has run. */
#ifndef KMM__LAUNCH_FIT_H
#define KMM__LAUNCH_FIT_H

#include "launch/submission.h"

/* Locked; items have their arrays, and chunks are known. KMM_E_MEMORY, with its text set: a chunk
 * needs more than a device has that cannot use the host's memory for the rest. To find that out
 * when others have run would lose their results. */
int kmm__submission_fits(const kmm__submission_t *s);

#endif
