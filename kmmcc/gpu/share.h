/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that look up in shared memory which part of the grid runs. */
#ifndef KMMCC_GPU_SHARE_H
#define KMMCC_GPU_SHARE_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "gpu/reach.h"

/* Visitor: adds edits by which each kernel stores the part of the grid in shared memory. `data` is
 * the main unit. */
enum CXChildVisitResult share_kernel(CXCursor c, CXCursor parent, CXClientData data);
/* Adds the edits of a function that looks the part up. */
void share_function(unit_t *u, function_t *f);
/* Adds the edits of a host function's lambdas that run in kernels. */
void share_lambdas(function_t *f);
/* True if some function looks the part up. */
bool share_is_needed(const unit_t *u);

#endif
