/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__MEMORY_RESIDENCY_DEAD_H
#define KMM__MEMORY_RESIDENCY_DEAD_H

#include "memory/residency/frame.h"

/* Locked: whether nobody will read what is in a frame that no issued task touches: its array has
 * been freed, or all of it is written anew before. */
bool kmm__frame_is_dead(const kmm__frame_t *f);

#endif
