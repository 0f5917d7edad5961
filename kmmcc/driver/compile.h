/* SPDX-License-Identifier: Apache-2.0 */
/* One file, transformed and compiled. */
#ifndef KMMCC_DRIVER_COMPILE_H
#define KMMCC_DRIVER_COMPILE_H

#include <stdbool.h>

#include "driver/plan.h"

bool compile_transform_all(plan_t *p);
int compile_job(const plan_t *p, job_t *job, int number);

#endif
