/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, and temporary files, which are removed at exit and after signals. */
#ifndef KMMCC_BASE_PROCESS_H
#define KMMCC_BASE_PROCESS_H

#include <stdbool.h>

#include "base/list.h"
#include "base/text.h"

void process_start(void);
const char *process_folder(bool create); /* the folder of temporary files, made at first use */
const char *process_file(const char *folder, const char *name); /* its path; it will be removed */
const char *process_subfolder(int number, bool create);
int process_run(const list_t *command);     /* its exit status; errors are printed */
int process_replace(const list_t *command); /* becomes the command; returns only on failure */
void process_print(const list_t *command);  /* on stderr, quoted for a shell */
bool process_capture(const list_t *command, text_t *out); /* its stdout */
int process_run_quiet(const list_t *command,
                      text_t *messages); /* as process_run; what it says on stderr is kept */

#endif
