/* SPDX-License-Identifier: Apache-2.0 */
/* Plain functions whose chunks do not do together what the call of the whole range does. */
#ifndef KMMCC_ANALYZE_CARRIED_H
#define KMMCC_ANALYZE_CARRIED_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* Looks for values that a loop carries from chunk to chunk. */
void carried_begin(comparison_t *c);
/* Compares the chunks of the sample with the call of the whole range. */
void carried_look(comparison_t *c);
/* True if all samples so far have shown a difference. */
bool carried_is_suspect(const comparison_t *c);
/* Reports what carried_begin has found, and what is different in all samples.
 * False: an error was reported. */
bool carried_report(comparison_t *c);
/* Reports what is reduced and reads less in chunks than in one call. Called when the other checks
 * of reductions have found nothing, since these know better what is wrong. */
bool carried_report_missed(comparison_t *c);

#endif
