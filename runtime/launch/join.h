/* SPDX-License-Identifier: Apache-2.0 */
/* Items of more dimensions than a box has. */
#ifndef KMM__LAUNCH_JOIN_H
#define KMM__LAUNCH_JOIN_H

#include "launch/builder.h"

/* Joins dimensions of the item until KMM__DIMS are left. Its elements remain the same. A mistake of
 * the launch if more are left. */
void kmm__join_item(kmm_launch_t *l, kmm__item_t *item);
/* The same for all items of a description that is complete. */
void kmm__join_items(kmm_launch_t *l);
static inline void kmm__launch_join(kmm_launch_t *l)
{
    if (l->has_more_dims)
        kmm__join_items(l);
}

#endif
