/* SPDX-License-Identifier: Apache-2.0 */
/* Texts written to files. */
#ifndef KMMCC_DRIVER_WRITE_H
#define KMMCC_DRIVER_WRITE_H

#include "driver/plan.h"

/* Each returns 0, or 1 after an error was reported. */

/* Reports that the file cannot be written, for errno; 1. */
int write_fail(const char *path);
int write_text(const char *path, const char *text);
/* Writes the headers that the rewritten text of the job includes. */
int write_headers(const job_t *job, const char *folder);

#endif
