/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the pragmas of launches by declarations, which are written or inferred. */
#ifndef KMMCC_ANALYZE_DECLARE_H
#define KMMCC_ANALYZE_DECLARE_H

#include <stdbool.h>

#include "clang/unit.h"

/* Adds to the pragmas of launches what their kernels' declarations say. True if the units must be
 * parsed and bound again; the messages from number `first` on are then taken back. */
bool declare_complete(unit_t *u, int first);

#endif
