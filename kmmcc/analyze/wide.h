/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses that name more than the kernel accesses. */
#ifndef KMMCC_ANALYZE_WIDE_H
#define KMMCC_ANALYZE_WIDE_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* Before a sample, and before each of its chunks. */
void wide_begin_sample(comparison_t *c);
void wide_begin_chunk(comparison_t *c);
/* Notes an access of the chunk. */
void wide_note(comparison_t *c, accessed_t *t, int64_t begin, int64_t end, bool certain);
/* True if the chunk, which has others on both sides, accesses less than the items name. */
bool wide_is(comparison_t *c, accessed_t *t);

#endif
