/* SPDX-License-Identifier: Apache-2.0 */
/* Texts written to files. */
#ifndef KMMCC_DRIVER_WRITE_H
#define KMMCC_DRIVER_WRITE_H

#include "driver/plan.h"

int write_fail(const char *path);
int write_text(const char *path, const char *text);
/* The headers that the new text includes lie beside it. */
int write_headers(const job_t *job, const char *folder);

#endif
