/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts to files. */
#ifndef KMMCC_DRIVER_WRITE_H
#define KMMCC_DRIVER_WRITE_H

#include "driver/plan.h"

/* Each function returns 0, or 1 after an error was reported. */

/* Reports that the file cannot be written, by errno. Returns 1. */
int write_fail(const char *path);
int write_text(const char *path, const char *text);
/* Writes the headers that the rewritten text of the job includes. */
int write_headers(const job_t *job, const char *folder);

#endif
