/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly in functions of the device is PTX, which the CPU does not have: kernels must not reach
 * it. */
#ifndef KMMCC_CPU_PROGRAM_PTX_H
#define KMMCC_CPU_PROGRAM_PTX_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "cpu/program/program.h"

/* Notes assembly in the definition at the cursor. */
void ptx_find(unit_t *u, CXCursor c, definition_t *b);
/* Reports the assembly that kernels reach. */
void ptx_refuse(const program_t *h);

#endif
