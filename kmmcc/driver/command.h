/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of the real compilers' commands. */
#ifndef KMMCC_DRIVER_COMMAND_H
#define KMMCC_DRIVER_COMMAND_H

#include <stdbool.h>

#include "base/list.h"
#include "base/options.h"
#include "base/toolchain.h"
#include "driver/plan.h"

/* The folders of kmm's own cuda_runtime.h, and of hip/hip_runtime.h over CUDA's. */
#define HOST_HEADERS "include/kmm/host"
#define HIP_HEADERS "include/kmm/hip"
/* True if the argument is -f[no-]color-diagnostics. */
bool command_is_colour(const char *text);
/* True if the argument is about messages, and nvcc does not know it. */
bool command_is_unknown_to_nvcc(const char *text);
/* True if argument `index` is -Wl,..., which nvcc calls -Xlinker ..., and no option has nvcc take
 * it as it is. */
bool command_is_for_linker(const options_t *o, int index);
/* True if argument `index` is left out of the commands. */
bool command_drops(const options_t *o, int index);
/* True if the compiler understands hipcc's options. */
bool command_takes_hip(const options_t *o, compiler_t compiler);
/* Adds argument `index` in the compiler's own spelling. */
void command_add_argument(const options_t *o, int index, compiler_t compiler, list_t *command);
/* Returns which of kmm's headers the file needs: NEEDS_..., for command_add_headers. */
unsigned command_headers_of(const plan_t *p, const job_t *job);
void command_add_headers(const options_t *o, unsigned needs, list_t *command);
/* Adds a flag of gcc and clang, with its value unless that is NULL, through nvcc too. */
void command_add_host_flag(const compiler_t *compiler, list_t *command, const char *flag,
                           const char *value);
/* Adds what the preprocessor has to know to read `copy` as it reads the file. */
void command_add_preprocessing(const plan_t *p, const job_t *job, const char *copy,
                               list_t *command);
/* Returns the dependency file that the compiler writes for a temporary copy; NULL if it writes
 * none. */
const char *command_dep_place(const plan_t *p, const job_t *job, bool create);
/* Returns the temporary file for the preprocessed text of a temporary copy. The copy's name is
 * replaced in it before it is shown. NULL if the compiler writes its output itself. */
const char *command_preprocessed_place(const plan_t *p, const job_t *job, bool create);
/* Returns the whole command that compiles `copy` and writes its dependencies to `deps`. */
list_t command_compile(const plan_t *p, const job_t *job, const char *copy, const char *deps);

#endif
