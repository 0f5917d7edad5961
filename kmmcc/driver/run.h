/* SPDX-License-Identifier: Apache-2.0 */
/* Runs commands as --verbose and -### say. */
#ifndef KMMCC_DRIVER_RUN_H
#define KMMCC_DRIVER_RUN_H

#include "base/list.h"
#include "base/options.h"

/* Runs the command, unless -### only prints it. Returns its exit status. */
int run_command(const options_t *o, const list_t *command);
/* Does the same, but the command replaces kmmcc. */
int run_in_place(const options_t *o, const list_t *command);

#endif
