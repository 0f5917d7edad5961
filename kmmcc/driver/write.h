/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts to files. */
#ifndef KMMCC_DRIVER_WRITE_H
#define KMMCC_DRIVER_WRITE_H

#include <stdbool.h>

#include "driver/plan.h"

/* Each function returns 0, or 1 after an error was reported. */

/* Reports that the file cannot be written, by errno. Returns 1. */
int write_fail(const char *path);
int write_text(const char *path, const char *text);
/* Prints the messages that were not printed yet and how many there were, and writes all of them
 * where -fkmm-diagnostics-add-output= says. */
int write_messages(bool successful);
/* Puts the text in place of the file, which is `before`, at once: whoever reads it sees the one or
 * the other. The file keeps its permissions, and a link stays one. */
int write_replace(const char *path, const source_t *before, const char *text);
/* Makes a file with the text, or puts it in place of the file that is there, at once. Makes the
 * folders around it. */
int write_new(const char *path, const char *text);
/* Writes the headers that the rewritten text of the job includes. */
int write_headers(const job_t *job, const char *folder);

#endif
