/* SPDX-License-Identifier: Apache-2.0 */
/* A launch's configuration, `<<<...>>>`: its side effects, and the sizes of blocks. */
#ifndef KMMCC_ANALYZE_CONFIGURED_H
#define KMMCC_ANALYZE_CONFIGURED_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

#include "clang/unit.h"
#include "ir/ir.h"
#include "pragma/directive.h"

/* True if the expression is a dim3 that is no conversion of a class of the program: it is a copy, a
 * variable, or what dim3's own constructors make of numbers or of another dim3. */
bool configured_is_dim3(CXCursor c);
/* True if the configuration may change something. Then the launch is described behind it, as its
 * arguments are evaluated behind it. */
bool configured_has_effects(const directive_t *d);
/* Refuses such a launch if its configuration cannot be evaluated before the statement, and a launch
 * with an argument that changes what a clause names. */
void check_configured(unit_t *u, const directive_t *d);
/* Sets those of the launch's sizes of blocks that are no constants (0) to what the kernel's code
 * counts on, if the launch has a name for them. text[k] receives the name; NULL: block[k] is as it
 * was. True if there is one. */
bool configured_blocks(const unit_t *u, const directive_t *d, const ir_function_t *f,
                       int64_t block[3], const char *text[3]);

#endif
