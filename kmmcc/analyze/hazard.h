/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel does that chunks cannot do. */
#ifndef KMMCC_ANALYZE_HAZARD_H
#define KMMCC_ANALYZE_HAZARD_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/list.h"
#include "clang/unit.h"

/* Where a kernel, or a function that it calls, waits in an idle loop for what others store,
 * launches kernels, reads or writes a texture or surface, changes a __device__ variable, and steps
 * by the size of the grid; null: nowhere. */
typedef struct hazards {
    CXCursor wait, launch, texture, symbol, stride, elsewhere;
    const char *texture_name, *symbol_name, *elsewhere_name;
} hazards_t;
hazards_t hazards_of(CXCursor kernel);
/* Whether functions that another file defines keep the kernel from being cloned: what they read of
 * the grid is not known. */
bool hazard_calls_elsewhere(const unit_t *u, const hazards_t *h);
/* The __device__ variables that the kernel uses and other kernels of the translation unit change.
 */
void hazard_shared_symbols(const unit_t *u, CXCursor kernel, list_t *names);

#endif
