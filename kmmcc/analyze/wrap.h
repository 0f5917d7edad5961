/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions under which values of few bits are the polynomials that they are read as. */
#ifndef KMMCC_ANALYZE_WRAP_H
#define KMMCC_ANALYZE_WRAP_H

#include <stdbool.h>

#include "analyze/affine_value.h"

/* Sets b->fits to what must fit into how many bits so that the box is right, in terms of indices of
 * the grid and parameters. False: it cannot be said. */
bool wrap_settle(reading_t *r, box_t *b);

#endif
