/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a launch with `nowait` does not outlive its arrays. */
#ifndef KMMCC_ANALYZE_CHECK_NOWAIT_H
#define KMMCC_ANALYZE_CHECK_NOWAIT_H

#include "clang/unit.h"
#include "pragma/directive.h"

void check_nowait(const unit_t *u, const directive_t *d);

#endif
