/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements of kernels: fibers or a block for barriers, index variables for the functions that
 * it calls, and launches in order if it uses memory that libkmm does not see. They become the
 * kernel's flags (include/kmm/host/kmm_flags.h).
 */
#ifndef KMMCC_CPU_PROGRAM_REQUIREMENTS_H
#define KMMCC_CPU_PROGRAM_REQUIREMENTS_H

#include "cpu/program/program.h"

/* Sets the kernels' flags. */
void requirements_find(program_t *h);

#endif
