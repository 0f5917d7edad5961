/* SPDX-License-Identifier: Apache-2.0 */
/* Preprocesses copies of a program's files by the real compiler. */
#ifndef KMMCC_DRIVER_PREPROCESS_H
#define KMMCC_DRIVER_PREPROCESS_H

#include "driver/plan.h"

/* Expands the macros in the job's files that write pragmas, and replaces __LINE__ in pragmas. If
 * the files ask for macros of the compiler, stores what they become with these. */
void preprocess_macros(const plan_t *p, const job_t *job, includes_t *includes);

#endif
