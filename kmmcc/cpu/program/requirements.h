/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each kernel requires: which of the program's functions with barriers, index variables or
 * variables outside it reaches. They become the kernel's flags (include/kmm/host/kmm_flags.h).
 */
#ifndef KMMCC_CPU_PROGRAM_REQUIREMENTS_H
#define KMMCC_CPU_PROGRAM_REQUIREMENTS_H

#include "cpu/program/program.h"

/* Sets the kernels' flags. */
void requirements_find(program_t *h);

#endif
