/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bytes of shared memory a kernel declares, itself and in the functions that it reaches:
 * what cudaFuncGetAttributes says of it.
 */
#ifndef KMMCC_CPU_SHARED_SIZE_H
#define KMMCC_CPU_SHARED_SIZE_H

#include "cpu/program/program.h"

/* As C++, since sizes may depend on the parameters of a template. */
const char *shared_bytes_text(const kernel_t *k, const program_t *h);

#endif
