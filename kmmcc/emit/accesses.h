/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the accesses of a file's kernels: --accesses. */
#ifndef KMMCC_EMIT_ACCESSES_H
#define KMMCC_EMIT_ACCESSES_H

#include <stdbool.h>

#include "clang/unit.h"

/* Prints one line for each pointer of each kernel of the file. False: nothing is known, and a
 * message has said why. */
bool accesses_print(const unit_t *main);

#endif
