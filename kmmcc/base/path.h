/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a path. */
#ifndef KMMCC_BASE_PATH_H
#define KMMCC_BASE_PATH_H

#include <stdbool.h>

/* What follows the last slash. */
const char *path_base(const char *path);
/* What stands before the last slash: "." where there is none, "/" of a file in the root. */
const char *path_folder(const char *path);
/* True if both name one file. */
bool path_is_same(const char *a, const char *b);

#endif
