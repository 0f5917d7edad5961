/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a graph as polynomials, and conditions as guards. */
#ifndef KMMCC_ANALYZE_AFFINE_VALUE_H
#define KMMCC_ANALYZE_AFFINE_VALUE_H

#include <stdbool.h>

#include "analyze/affine_atom.h"

typedef struct reading {
    footprint_t *x;
    guards_t guards;    /* conditions of the access that is read */
    const char *reason; /* the first reason why a value has no polynomial */
    int choice;         /* a select whose condition is not decided yet; -1: none was met */
    /* for each select: 1 takes the first value, 2 the second, 0 is not decided */
    signed char *taken;
    int steps;      /* number of nodes visited */
    fit_t *fits;    /* values that were assumed not to leave their bits */
    fit_at_t at;    /* what the values that are read now decide */
    int loop;       /* of FIT_TEST */
    guards_t tests; /* those of the loops around the access alone */
} reading_t;

/* Returns the node's value, read as a signed or an unsigned number. */
poly_t affine_value(reading_t *r, int node, bool is_unsigned);
/* Adds the conditions under which the node, of one bit, equals `truth`. */
void affine_guard(reading_t *r, int node, bool truth);

#endif
