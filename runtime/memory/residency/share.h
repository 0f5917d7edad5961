/* SPDX-License-Identifier: Apache-2.0 */
/* Access of other devices to frames. */
#ifndef KMM__MEMORY_RESIDENCY_SHARE_H
#define KMM__MEMORY_RESIDENCY_SHARE_H

#include "memory/residency/frame.h"

/* Not locked: gives device `to` access to the frames of `from`, a device of the same backend, that
 * have bytes of the box. */
void kmm__frames_share(kmm__array_t *a, kmm__device_t *from, kmm__device_t *to,
                       const kmm__layout_t *l, const kmm__box_t *b);

#endif
