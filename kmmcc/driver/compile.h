/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms and compiles one file. */
#ifndef KMMCC_DRIVER_COMPILE_H
#define KMMCC_DRIVER_COMPILE_H

#include <stdbool.h>

#include "driver/plan.h"

/* The options with which the file is parsed. */
const options_t *compile_options(const options_t *o, const job_t *job);
/* Transforms all files of the plan. False after errors. */
bool compile_transform_all(plan_t *p);
/* Compiles one file. Returns the compiler's exit status. `number` names its temporary folder. */
int compile_job(const plan_t *p, job_t *job, int number);

#endif
