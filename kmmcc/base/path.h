/* SPDX-License-Identifier: Apache-2.0 */
/* Splits paths into folder and name. */
#ifndef KMMCC_BASE_PATH_H
#define KMMCC_BASE_PATH_H

/* Returns what follows the last slash. */
const char *path_base(const char *path);
/* Returns what is before the last slash: "." if there is none, "/" for a file in the root. */
const char *path_folder(const char *path);

#endif
