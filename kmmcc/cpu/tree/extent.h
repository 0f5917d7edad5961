/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block size with which the file launches a kernel, if the source gives it as numbers. It is a
 * guess: blocks of other sizes run code that is made for any size.
 */
#ifndef KMMCC_CPU_TREE_EXTENT_H
#define KMMCC_CPU_TREE_EXTENT_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"

/* Stores the value of a constant integer expression to *out. False if it is none. */
bool extent_evaluate(CXCursor c, long long *out);
/* Stores the block size of the kernel's first launch in the file that gives it as numbers. False if
 * there is none. */
bool extent_find(const unit_t *main, CXCursor kernel, unsigned extent[3]);

#endif
