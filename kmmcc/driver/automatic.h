/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-auto and --suggest: pragmas for launches that have none. */
#ifndef KMMCC_DRIVER_AUTOMATIC_H
#define KMMCC_DRIVER_AUTOMATIC_H

#include "driver/plan.h"

/* For -fkmm-auto: gives launches pragmas where all that their kernels access is proven. With
 * --explain it prints which. */
void automatic_choose_all(plan_t *p);
/* For --suggest: prints or, with --in-place, writes pragmas. Returns the exit status. */
int automatic_suggest(const plan_t *p);
/* Takes the pragmas back that automatic_choose_all gave the file's launches. False: there are none.
 */
bool automatic_undo(const plan_t *p, job_t *job);

#endif
