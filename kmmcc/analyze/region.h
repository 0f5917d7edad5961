/* SPDX-License-Identifier: Apache-2.0 */
/* Writes items of clauses for what a kernel's graph accesses through its pointers. */
#ifndef KMMCC_ANALYZE_REGION_H
#define KMMCC_ANALYZE_REGION_H

#include <stdbool.h>

#include "analyze/affine.h"
#include "analyze/index.h"
#include "base/text.h"

/* Finds ranges that guard all accesses of the graph, and sets the axes' ranges that f lacks. False:
 * f already has a range of an axis along which the graph has grid-stride loops. */
bool region_ranges(infer_t *f, footprint_t *x);
/* Adds the clauses of a pointer parameter to `out`. Returns NULL, or the reason why none was added.
 */
const char *region_add(infer_t *f, footprint_t *x, int number, text_t *out);
/* Adds the `reduce` clauses of a pointer parameter, if it is the target of a reduction: all threads
 * combine values into the same elements, by one operator, do not use the old values, and access
 * nothing else through the parameter. False: it is no such target. */
bool region_reduce(infer_t *f, footprint_t *x, int number, text_t *out);

#endif
