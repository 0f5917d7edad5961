/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of a reduction against that of the code. */
#ifndef KMMCC_ANALYZE_OPERATOR_H
#define KMMCC_ANALYZE_OPERATOR_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* The reduced item whose elements the access may be on; of several, one whose operator is that of
 * the access. NULL: there is none, or the access may be on another item. */
item_t *operator_item(comparison_t *c, const accessed_t *t, const ir_access_t *a);
/* Reports items of `reduce` whose operator is another than that of the code. False: an error was
 * reported. */
bool operator_check(comparison_t *c);

#endif
