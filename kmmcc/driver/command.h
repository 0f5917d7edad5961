/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of the real compilers' commands. */
#ifndef KMMCC_DRIVER_COMMAND_H
#define KMMCC_DRIVER_COMMAND_H

#include <stdbool.h>

#include "base/list.h"
#include "base/options.h"
#include "base/toolchain.h"
#include "driver/plan.h"

/* Where kmm's own cuda_runtime.h is, and hip/hip_runtime.h over CUDA's. */
#define HOST_HEADERS "include/kmm/host"
#define HIP_HEADERS "include/kmm/hip"
bool command_is_colour(const char *text);
/* About messages, and nothing to nvcc. */
bool command_is_unknown_to_nvcc(const char *text);
bool command_drops(const options_t *o, int index);
bool command_takes_hip(const options_t *o, compiler_t compiler);
/* One argument as the compiler wants it. -f[no-]color-diagnostics is clang's. */
void command_add_argument(const options_t *o, int index, compiler_t compiler, list_t *command);
unsigned command_headers_of(const plan_t *p, const job_t *job);
void command_add_headers(const options_t *o, unsigned needs, list_t *command);
/* Where the compiler's dependencies of a copy go until they are mended. */
const char *command_dep_place(const plan_t *p, const job_t *job, bool create);
/* Text that is preprocessed is mended before it is shown, so that the same source gives the same
 * text each time; NULL: the compiler's output needs no change. */
const char *command_preprocessed_place(const plan_t *p, const job_t *job, bool create);
list_t command_compile(const plan_t *p, const job_t *job, const char *copy, const char *deps);

#endif
