/* SPDX-License-Identifier: Apache-2.0 */
/* What plain functions do with their reductions' targets. */
#ifndef KMMCC_ANALYZE_REDUCED_H
#define KMMCC_ANALYZE_REDUCED_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* Returns the operator as accesses of graphs name it. */
ir_combine_t reduced_combine_of(kmm_op_t op);
/* Reports stores to a target that do not combine by the operator, and reductions whose chunks give
 * another result than one call. False: an error was reported. */
bool reduced_check(comparison_t *c);

#endif
