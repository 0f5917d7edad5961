/* SPDX-License-Identifier: Apache-2.0 */
/* Preprocesses copies of a program's files by the real compiler. */
#ifndef KMMCC_DRIVER_PREPROCESS_H
#define KMMCC_DRIVER_PREPROCESS_H

#include "driver/plan.h"

/* Expands the macros in the job's files that write pragmas, and replaces __LINE__ in pragmas. */
void preprocess_macros(const plan_t *p, const job_t *job, const includes_t *includes);

#endif
