/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of several processes: their start, and their end. */
#ifndef KMM__API_NODES_H
#define KMM__API_NODES_H

#include <stdbool.h>

/* True if this process is one of several that should run one program, but kmm_nodes_start was not
 * called. */
bool kmm__nodes_are_missing(void);

#endif
