/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the copies of functions. */
#ifndef KMMCC_GPU_COPY_H
#define KMMCC_GPU_COPY_H

#include <stdbool.h>

#include "clang/unit.h"
#include "gpu/reach.h"

/* Adds the edits that write the copy behind the function. `shares`: kernels store the part of the
 * grid in shared memory for the functions that look it up. */
void copy_function(unit_t *u, function_t *f, bool shares);

#endif
