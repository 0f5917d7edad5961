/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the stages for each file of the command line. */
#ifndef KMMCC_DRIVER_DRIVER_H
#define KMMCC_DRIVER_DRIVER_H

#include "base/options.h"

/* Runs the command line and returns the exit status. */
int driver_run(options_t *o);

/* Prints and writes the messages that are left. Returns the exit status of kmmcc. */
int driver_finish(int status);

#endif
