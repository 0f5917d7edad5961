/* SPDX-License-Identifier: Apache-2.0 */
/* Dead frames: frames whose contents no task will read. */
#ifndef KMM__MEMORY_RESIDENCY_DEAD_H
#define KMM__MEMORY_RESIDENCY_DEAD_H

#include "memory/residency/frame.h"

/* Locked: true if no task will read the contents of a frame, which no issued task touches: its
 * array has been freed, or queued tasks overwrite all of it first. */
bool kmm__frame_is_dead(const kmm__frame_t *f);
/* Locked: true if the tasks that use the frame next, in the order in which its device takes them,
 * overwrite all of it. Costs little. */
bool kmm__frame_is_overwritten(const kmm__frame_t *f);

#endif
