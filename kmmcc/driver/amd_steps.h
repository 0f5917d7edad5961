/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-check for AMD's GPUs: the steps of hipcc, with a change of LLVM's IR between them. */
#ifndef KMMCC_DRIVER_AMD_STEPS_H
#define KMMCC_DRIVER_AMD_STEPS_H

#include "base/list.h"
#include "base/options.h"

/* Runs the command of hipcc or clang, which compiles one file, with the accesses of its kernels
 * checked. `folder` is for temporary files. `path` is the source, for messages. Returns the exit
 * status. */
int amd_steps_run(const options_t *o, const list_t *command, const char *folder, const char *path);

#endif
