/* SPDX-License-Identifier: Apache-2.0 */
/* Items of clauses for what a kernel's graph accesses through its pointers. */
#ifndef KMMCC_ANALYZE_REGION_H
#define KMMCC_ANALYZE_REGION_H

#include <stdbool.h>

#include "analyze/affine.h"
#include "analyze/index.h"
#include "base/text.h"

/* Sets the ranges of axes that guard all accesses of the graph, where f has none. False: f has one
 * of an axis of which the graph has loops with the grid's stride. */
bool region_ranges(infer_t *f, footprint_t *x);
/* Adds the clauses of the parameter, a pointer. NULL: it did; else why it added none. */
const char *region_add(infer_t *f, footprint_t *x, int number, text_t *out);

#endif
