/* SPDX-License-Identifier: Apache-2.0 */
/* Runs commands, and keeps temporary files. These are removed at exit and after signals. */
#ifndef KMMCC_BASE_PROCESS_H
#define KMMCC_BASE_PROCESS_H

#include <stdbool.h>

#include "base/list.h"
#include "base/text.h"

/* Installs the signal handlers and the removal of temporary files at exit. */
void process_start(void);
/* Returns the folder of temporary files, which is made at first use; NULL after an error. Without
 * `create` it returns the pattern of the folder's name. */
const char *process_folder(bool create);
/* Returns the path of a file in the folder, which will be removed. */
const char *process_file(const char *folder, const char *name);
/* Returns a folder of this number in the folder of temporary files, which is made if `create`; NULL
 * after an error. */
const char *process_subfolder(int number, bool create);
/* Runs the command. Returns its exit status; reports errors. */
int process_run(const list_t *command);
/* Replaces kmmcc by the command. Returns only if that fails. */
int process_replace(const list_t *command);
/* Prints the command on stderr, quoted for a shell. */
void process_print(const list_t *command);
/* Runs the command and stores what it writes on stdout. False if it fails. */
bool process_capture(const list_t *command, text_t *out);
/* Like process_run, but stores what the command writes on stderr. */
int process_run_quiet(const list_t *command, text_t *messages);

#endif
