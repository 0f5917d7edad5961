/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of a reduction against that of the code. */
#ifndef KMMCC_ANALYZE_OPERATOR_H
#define KMMCC_ANALYZE_OPERATOR_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* Reports items of `reduce` whose operator is another than that of the code. False: an error was
 * reported. */
bool operator_check(comparison_t *c);

#endif
