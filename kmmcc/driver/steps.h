/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-check with nvcc: nvcc's own steps, with a change of the PTX code between them. */
#ifndef KMMCC_DRIVER_STEPS_H
#define KMMCC_DRIVER_STEPS_H

#include "base/list.h"
#include "base/options.h"

/* Runs what nvcc would run for the command, step by step, and checks each PTX file after the step
 * that has written it. `folder` is for nvcc's temporary files; `path` is the source in messages.
 * Returns the exit status of the first step that fails; errors are reported. */
int steps_run(const options_t *o, const list_t *command, const char *folder, const char *path);
/* Marks the files of the folder that a command's text names, to be removed at exit. */
void steps_remember(const char *text, const char *folder);

#endif
