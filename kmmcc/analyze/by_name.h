/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that a plain function reads by their names, while another directive may keep their
 * newest value on a device. */
#ifndef KMMCC_ANALYZE_BY_NAME_H
#define KMMCC_ANALYZE_BY_NAME_H

#include <stdint.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Warns (-Wkmm-unproven) of the first such variable. d launches a plain function with rebase; all
 * directives are bound. */
void check_by_name(unit_t *u, directive_t *d);

/* The elements (IR_ELEMENT) of the arrays that directives of the file name by pointers, and whose
 * newest values may be on a device when a launch has returned. */
uint64_t by_name_away(const unit_t *u);

#endif
