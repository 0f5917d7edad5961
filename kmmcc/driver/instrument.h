/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-check: compiles a file so that it calls runtime/instrument before each load and store. */
#ifndef KMMCC_DRIVER_INSTRUMENT_H
#define KMMCC_DRIVER_INSTRUMENT_H

#include <stdbool.h>

#include "base/list.h"
#include "driver/plan.h"

/* True if the file has a pragma and is compiled for GPUs, by nvcc or for AMD's, so that its kernels
 * are checked (driver/steps.h, driver/amd_steps.h). */
bool instrument_wants_steps(const options_t *o, const job_t *job);
/* Adds the flags with which the compiler prepares kernels for the check. */
void instrument_kernels(const options_t *o, const job_t *job, list_t *command);
/* True if gcc compiles the file with a call before each load and store. */
bool instrument_wants(const options_t *o, const job_t *job);
/* Reports a file that cannot be checked: host code that a compiler other than gcc compiles. True:
 * an error was reported. False: the file can be checked, or no check was asked for. */
bool instrument_refuses(const options_t *o, const job_t *job);
/* Adds the compiler's flags that stand before the user's, or those behind them. */
void instrument_before(list_t *command);
void instrument_behind(list_t *command);

#endif
