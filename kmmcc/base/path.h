/* SPDX-License-Identifier: Apache-2.0 */
/* Splits paths into folder and name. */
#ifndef KMMCC_BASE_PATH_H
#define KMMCC_BASE_PATH_H

#include <stdbool.h>

/* Returns what follows the last slash. */
const char *path_base(const char *path);
/* Returns what is before the last slash: "." if there is none, "/" for a file in the root. */
const char *path_folder(const char *path);
/* True if both name one file. */
bool path_is_same(const char *a, const char *b);

#endif
