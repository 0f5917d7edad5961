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
/* Whether the argument is -f[no-]color-diagnostics. */
bool command_is_colour(const char *text);
/* Whether the argument is about messages, and nvcc does not know it. */
bool command_is_unknown_to_nvcc(const char *text);
/* Whether argument `index` is left out of the commands. */
bool command_drops(const options_t *o, int index);
/* Whether the compiler understands hipcc's options. */
bool command_takes_hip(const options_t *o, compiler_t compiler);
/* Adds argument `index` in the compiler's own spelling. */
void command_add_argument(const options_t *o, int index, compiler_t compiler, list_t *command);
/* Which of kmm's headers the file needs: NEEDS_..., for command_add_headers. */
unsigned command_headers_of(const plan_t *p, const job_t *job);
void command_add_headers(const options_t *o, unsigned needs, list_t *command);
/* The dependency file that the compiler writes for a temporary copy; NULL: none. */
const char *command_dep_place(const plan_t *p, const job_t *job, bool create);
/* The temporary file that gets the preprocessed text of a temporary copy, in which the copy's name
 * is replaced before it is shown; NULL: the compiler writes its output itself. */
const char *command_preprocessed_place(const plan_t *p, const job_t *job, bool create);
/* The whole command that compiles `copy`, which writes its dependencies to `deps`. */
list_t command_compile(const plan_t *p, const job_t *job, const char *copy, const char *deps);

#endif
