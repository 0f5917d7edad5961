/* SPDX-License-Identifier: Apache-2.0 */
/* --emit-source, --check, --check-dir, --diff, --explain and --accesses. */
#ifndef KMMCC_DRIVER_SHOW_H
#define KMMCC_DRIVER_SHOW_H

#include "driver/plan.h"

/* Shows the rewritten text of all files as the command line asks. Returns the exit status. */
int show_all(plan_t *p);

#endif
