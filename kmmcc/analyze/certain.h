/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certainty of wrong accesses. Clause and kernel may use different variables, such as n / 2 in
 * the clause and `half` in the kernel. The program may keep a relation between these that the
 * samples do not have. So an access is certainly wrong only if clause and kernel use the same
 * variables.
 */
#ifndef KMMCC_ANALYZE_CERTAIN_H
#define KMMCC_ANALYZE_CERTAIN_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* Finds the variables that each node and each item depends on in this sample. */
void certain_begin(comparison_t *c);
/* Returns the variables that the access depends on, as bits. */
uint64_t certain_names(const comparison_t *c, const ir_access_t *a);
/* True if the access is wrong whatever relations the program keeps between variables. */
bool certain_access(const comparison_t *c, const accessed_t *t, const ir_access_t *a);
/* True if the bytes that no store reaches are left out whatever relations the program keeps. */
bool certain_gap(const comparison_t *c, const accessed_t *t);
/* True if the bytes that no access reaches are named needlessly whatever relations the program
 * keeps.
 */
bool certain_wide(const comparison_t *c, const accessed_t *t);
/* True if no store of the launch comes before the read, so that it reads a value from before the
 * launch. */
bool certain_old(const comparison_t *c, const accessed_t *t, const ir_access_t *a);
/* The integers of `fits` stay within their bits in the sample. */
bool certain_fits(comparison_t *c);

#endif
