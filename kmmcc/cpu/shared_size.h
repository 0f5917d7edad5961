/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of a kernel's static shared memory, as cudaFuncGetAttributes returns it: that of its own
 * declarations and of those in the functions that it reaches.
 */
#ifndef KMMCC_CPU_SHARED_SIZE_H
#define KMMCC_CPU_SHARED_SIZE_H

#include "cpu/program/program.h"

/* Returns the number of bytes as a C++ expression, since sizes may depend on the parameters of a
 * template. */
const char *shared_bytes_text(const kernel_t *k, const program_t *h);

#endif
