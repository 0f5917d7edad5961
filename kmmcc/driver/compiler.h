/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the real compilers that compile the files, and the one that links. */
#ifndef KMMCC_DRIVER_COMPILER_H
#define KMMCC_DRIVER_COMPILER_H

#include "base/options.h"
#include "base/toolchain.h"
#include "driver/plan.h"

/* These return the C, CUDA and HIP compiler, and report an error if there is none. */
compiler_t compiler_of_c(const options_t *o);
compiler_t compiler_of_cuda(void);
compiler_t compiler_of_hip(void);
/* Returns the compiler of the file, and reports an error if there is none. */
compiler_t compiler_of(const options_t *o, const job_t *job);
/* Replaces TARGET_AUTO by the target of .cu files and of HIP source. */
void compiler_resolve_target(options_t *o);
/* Chooses the compiler of each file, and the one that links. */
void compiler_choose(plan_t *p);

#endif
