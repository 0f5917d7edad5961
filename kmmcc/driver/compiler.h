/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the real compilers compiles a file, and which links. */
#ifndef KMMCC_DRIVER_COMPILER_H
#define KMMCC_DRIVER_COMPILER_H

#include "base/options.h"
#include "base/toolchain.h"
#include "driver/plan.h"

/* The C, CUDA and HIP compiler; an error is reported where there is none. */
compiler_t compiler_of_c(const options_t *o);
compiler_t compiler_of_cuda(void);
compiler_t compiler_of_hip(void);
/* Turns TARGET_AUTO into what .cu files and HIP source are compiled for. */
void compiler_resolve_target(options_t *o);
/* Chooses the compiler of each file, and the one that links. */
void compiler_choose(plan_t *p);

#endif
