/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels that have no clone, which run as one chunk. */
#ifndef KMM__LAUNCH_WHOLE_H
#define KMM__LAUNCH_WHOLE_H

#include "launch/builder.h"

/* Makes the launch one chunk, because a kernel for a GPU without a clone cannot be told which of
 * its blocks to run. */
void kmm__launch_whole(kmm_launch_t *l, const kmm_kernel_t *kernel);

#endif
