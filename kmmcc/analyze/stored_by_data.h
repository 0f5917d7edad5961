/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of plain functions that only happen where data has some value. */
#ifndef KMMCC_ANALYZE_STORED_BY_DATA_H
#define KMMCC_ANALYZE_STORED_BY_DATA_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Warns (-Wkmm-update) of a `write` item whose elements the function stores through the parameter
 * of this number only if data says so. */
void check_stored_by_data(unit_t *u, const directive_t *d, const item_t *item, int number);

#endif
