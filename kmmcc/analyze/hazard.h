/* SPDX-License-Identifier: Apache-2.0 */
/* Finds hazards: what a kernel cannot do if its launch is split into chunks. */
#ifndef KMMCC_ANALYZE_HAZARD_H
#define KMMCC_ANALYZE_HAZARD_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/list.h"
#include "clang/unit.h"

/* For each hazard, the first cursor with it in a kernel or in a function that the kernel calls;
 * null if there is none. */
typedef struct hazards {
    CXCursor wait;      /* waits in an idle loop for what other threads store */
    CXCursor launch;    /* launches a kernel */
    CXCursor texture;   /* reads or writes a texture or surface */
    CXCursor symbol;    /* changes a __device__ variable */
    CXCursor stride;    /* steps by the size of the grid */
    CXCursor elsewhere; /* calls a device function that another file defines */
    const char *texture_name, *symbol_name, *elsewhere_name;
} hazards_t;
hazards_t hazards_of(CXCursor kernel);
/* True if the kernel cannot be cloned since it calls functions that another file defines. These may
 * read blockIdx or gridDim. */
bool hazard_calls_elsewhere(const unit_t *u, const hazards_t *h);
/* Adds the names of the __device__ variables that the kernel uses and other kernels of the
 * translation unit change. */
void hazard_shared_symbols(const unit_t *u, CXCursor kernel, list_t *names);

#endif
