/* SPDX-License-Identifier: Apache-2.0 */
/* --check-dir and --update: a folder with copies of all rewritten files. */
#ifndef KMMCC_DRIVER_COPIES_H
#define KMMCC_DRIVER_COPIES_H

#include "driver/plan.h"

/* Compares the rewritten files, or with --update writes them. Returns the exit status. */
int copies_handle(const plan_t *p);

#endif
