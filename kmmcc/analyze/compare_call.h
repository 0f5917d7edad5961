/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of plain functions, for the comparison of clauses: a chunk is one call. */
#ifndef KMMCC_ANALYZE_COMPARE_CALL_H
#define KMMCC_ANALYZE_COMPARE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/compare_report.h"

/* Chooses a size for the sample that gives several chunks. */
void call_size(comparison_t *c);
/* Returns in *value what the chunk's call passes for a parameter that rebase names. False: rebase
 * does not name it. */
bool call_value(comparison_t *c, int param, int64_t *value);
/* Moves t->shift by as much as the chunk's call moves the argument. False: that is not known. */
bool call_advance(comparison_t *c, accessed_t *t, const chunk_box_t *box);
/* Runs the chunk's call, and visits each access `most` times at most. False: there are more, or an
 * unknown number of them, so that some were left out. */
bool call_run(comparison_t *c, const chunk_box_t *box, int64_t most, replay_visit_fn *visit);

#endif
