/* SPDX-License-Identifier: Apache-2.0 */
/* The copies of functions. */
#ifndef KMMCC_GPU_COPY_H
#define KMMCC_GPU_COPY_H

#include <stdbool.h>

#include "clang/unit.h"
#include "gpu/reach.h"

void copy_function(unit_t *u, function_t *f, bool shares);

#endif
