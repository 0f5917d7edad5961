/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly in device functions is PTX, which the CPU cannot run. Kernels must not reach it. */
#ifndef KMMCC_CPU_PROGRAM_PTX_H
#define KMMCC_CPU_PROGRAM_PTX_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "cpu/program/program.h"

/* Records the assembly of the function `c` in its definition `b`. */
void ptx_find(unit_t *u, CXCursor c, definition_t *b);
/* Reports errors for assembly that kernels reach. */
void ptx_refuse(const program_t *h);

#endif
