/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line. */
#ifndef KMMCC_DRIVER_OPTIONS_H
#define KMMCC_DRIVER_OPTIONS_H

#include "base/options.h"

/* Returns the options; NULL after errors have been printed. */
options_t *options_read(int argc, char **argv);

#endif
