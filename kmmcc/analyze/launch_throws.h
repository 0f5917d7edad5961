/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions of what a launch evaluates before the kernel runs. */
#ifndef KMMCC_ANALYZE_LAUNCH_THROWS_H
#define KMMCC_ANALYZE_LAUNCH_THROWS_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* True if an argument of the launch, or its configuration, may throw. */
bool launch_throws(const unit_t *u, const directive_t *d);
/* True if `constexpr` stands before the body of the function around the launch. Before C++23, such
 * a function may have no static variable, and none with a destructor. */
bool launch_is_in_constexpr(const unit_t *u, const directive_t *d);
/* Refuses a launch in a constexpr function that may throw. */
void check_launch_throws(unit_t *u, const directive_t *d);

#endif
