/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a PTX module. */
#ifndef KMMCC_PTX_MODULE_H
#define KMMCC_PTX_MODULE_H

#include "device/function.h"

/* Returns the functions in the order of the text. */
device_function_t *module_functions(const char *ptx);

#endif
