/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a wrong access is certain. A clause and the kernel may use different variables, between
 * which the program keeps a relation that no sample has: `half` in the kernel, and n / 2 in the
 * clause. So an access counts only where clause and kernel use the same variables.
 */
#ifndef KMMCC_ANALYZE_CERTAIN_H
#define KMMCC_ANALYZE_CERTAIN_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* Finds the variables on which nodes and items depend in this sample. */
void certain_begin(comparison_t *c);
/* The variables on which the access depends. */
uint64_t certain_names(const comparison_t *c, const ir_access_t *a);
/* True if no relation between variables can make the access right. */
bool certain_access(const comparison_t *c, const accessed_t *t, const ir_access_t *a);
/* The same for what no store reaches. */
bool certain_gap(const comparison_t *c, const accessed_t *t);
/* True if no store comes before the read, so that the read's value is older than the launch. */
bool certain_old(const comparison_t *c, const accessed_t *t, const ir_access_t *a);

#endif
