/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of the blocks with which the file launches a kernel, where its numbers are written
 * there. It is a guess: other sizes are run too, by code that does not know its size.
 */
#ifndef KMMCC_CPU_TREE_EXTENT_H
#define KMMCC_CPU_TREE_EXTENT_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"

/* The value of a constant expression; false: it is none. */
bool extent_evaluate(CXCursor c, long long *out);
/* The size of a block in some launch of the kernel in the file; false: it is not written there. */
bool extent_find(const unit_t *main, CXCursor kernel, unsigned extent[3]);

#endif
