/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses as a box of an array with two dimensions, for elements that are not neighbours. */
#ifndef KMMCC_ANALYZE_REGION_ROWS_H
#define KMMCC_ANALYZE_REGION_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/affine_atom.h"

/* In elements: `columns` neighbours from `column` on, in each of `rows` rows from `row` on. A row
 * has `width` elements. Only `column` has indices. */
typedef struct rows {
    poly_t width, row, rows, column, columns;
    bool whole; /* each access is to whole elements */
} rows_t;

/* True if the box leaves no element out between its first and its last. */
bool region_is_run(const box_t *b, int64_t element);

/* Sets *out to the rows that the box reaches. The box then also holds only where all columns lie
 * within a row. False: the box is no such rows. */
bool region_rows(const footprint_t *x, box_t *b, int64_t element, rows_t *out);
/* The box holds only where p is not negative, and less than 2^32. False: that is never so. */
bool region_demand(const footprint_t *x, box_t *b, poly_t p);

#endif
