/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to each file. */
#ifndef KMMCC_DRIVER_DRIVER_H
#define KMMCC_DRIVER_DRIVER_H

#include "base/options.h"

/* Does what the command line says; the exit status. */
int driver_run(options_t *o);

#endif
