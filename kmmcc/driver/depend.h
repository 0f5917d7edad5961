/* SPDX-License-Identifier: Apache-2.0 */
/* Dependency files, and preprocessed text, of sources that were compiled from a temporary copy. */
#ifndef KMMCC_DRIVER_DEPEND_H
#define KMMCC_DRIVER_DEPEND_H

#include <stdbool.h>

#include "base/options.h"
#include "base/toolchain.h"

const char *depend_file(const options_t *o, const char *source, const compiler_t *compiler);
/* Replaces the copy's name by the original's in a dependency file. False after an error. */
bool depend_mend(const char *path, const char *copy, const char *original);
bool depend_mend_lines(const char *path, const char *copy,
                       const char *original); /* does the same in preprocessed text */

#endif
