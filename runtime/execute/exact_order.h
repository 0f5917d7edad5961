/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of chunks against each other. Clauses may let a chunk of a plain function read elements
 * that another chunk stores, through two items of one array. Chunks run in any order, and a device
 * may have a copy of what another one stores. So it is an error if the chunk reads such an element
 * indeed.
 */
#ifndef KMM__EXECUTE_EXACT_ORDER_H
#define KMM__EXECUTE_EXACT_ORDER_H

#include "execute/shadow.h"

/* Sets is_ordered of each copy whose loads have to be noted. Called before the chunk runs. */
void kmm__exact_order_open(kmm__check_t *c);
/* Called when the chunk is done. Not locked. */
void kmm__exact_order_report(kmm__check_t *c);

#endif
