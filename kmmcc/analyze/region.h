/* SPDX-License-Identifier: Apache-2.0 */
/* Writes items of clauses for what a kernel's graph accesses through its pointers. */
#ifndef KMMCC_ANALYZE_REGION_H
#define KMMCC_ANALYZE_REGION_H

#include <stdbool.h>

#include "analyze/affine.h"
#include "analyze/index.h"
#include "base/text.h"

/* Sets the ranges of axes that guard all accesses of the graph, where f has none yet. False: f has
 * a range of an axis along which the graph has grid-stride loops. */
bool region_ranges(infer_t *f, footprint_t *x);
/* Adds the clauses of a pointer parameter to `out`. Returns NULL, or the reason why none was added.
 */
const char *region_add(infer_t *f, footprint_t *x, int number, text_t *out);
/* Adds the `reduce` clause of a pointer parameter of which the kernel only combines the same
 * elements in all threads, by one operator and without using the old values. False: it is none. */
bool region_reduce(infer_t *f, footprint_t *x, int number, text_t *out);

#endif
