/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a module of LLVM's IR for AMD's GPUs. */
#ifndef KMMCC_AMD_MODULE_H
#define KMMCC_AMD_MODULE_H

#include "device/function.h"

/* Returns the functions in the order of the text. */
device_function_t *ir_module_functions(const char *ir);

#endif
