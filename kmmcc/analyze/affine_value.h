/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a graph as polynomials, and conditions as guards. */
#ifndef KMMCC_ANALYZE_AFFINE_VALUE_H
#define KMMCC_ANALYZE_AFFINE_VALUE_H

#include <stdbool.h>

#include "analyze/affine.h"

typedef struct reading {
    footprint_t *x;
    guards_t guards;    /* of the access that is read */
    const char *reason; /* why a value has no polynomial; the first */
    int choice;         /* a select that no condition decides yet; -1: none was met */
    signed char *taken; /* of each select: 1 the first value, 2 the second, 0 not decided */
    int steps;          /* nodes that were looked at */
    bool noted;         /* a value was taken not to leave its 32 bits */
} reading_t;

/* The node's value, as a signed or an unsigned number. */
poly_t affine_value(reading_t *r, int node, bool is_unsigned);
/* Adds what holds if the node, of one bit, is `truth`. */
void affine_guard(reading_t *r, int node, bool truth);

#endif
