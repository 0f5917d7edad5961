/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of blocks that a kernel's code counts on. */
#ifndef KMMCC_ANALYZE_BLOCKS_H
#define KMMCC_ANALYZE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "clang/unit.h"
#include "ir/ir.h"
#include "pragma/directive.h"

/* Sets those of the launch's sizes of blocks that are no constants (0) to what the kernel's code
 * counts on, if the launch has a name for them. text[k] receives the name; NULL: block[k] is as it
 * was. True if there is one. */
bool blocks_assume(const unit_t *u, const directive_t *d, const ir_function_t *f, int64_t block[3],
                   const char *text[3]);

#endif
