/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers with which a launch is compared by example. */
#ifndef KMMCC_ANALYZE_COMPARE_SAMPLE_H
#define KMMCC_ANALYZE_COMPARE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/compare_report.h"

/* Gives numbers to the launch's variables, and computes its grid and chunks. `block_x`: the size of
 * blocks that have variables for sizes. False: the launch is one chunk with these numbers, or its
 * grid is not known. */
bool compare_choose_sample(comparison_t *c, int trial, bool follows, int64_t block_x);

#endif
