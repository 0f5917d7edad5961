/* SPDX-License-Identifier: Apache-2.0 */
/* The operator of a reduction against that of the code. */
#ifndef KMMCC_ANALYZE_OPERATOR_H
#define KMMCC_ANALYZE_OPERATOR_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* True if the operation is certainly on other elements than the item's, whose base is `base` bytes
 * from the array's. */
bool operator_is_beside(comparison_t *c, const accessed_t *t, const ir_access_t *a,
                        const item_t *item, int64_t base);

/* Reports items of `reduce` whose operator is another than that of the code. False: an error was
 * reported. */
bool operator_check(comparison_t *c);

#endif
