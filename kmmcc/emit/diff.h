/* SPDX-License-Identifier: Apache-2.0 */
/* Unified diffs. */
#ifndef KMMCC_EMIT_DIFF_H
#define KMMCC_EMIT_DIFF_H

#include <stdbool.h>

/* Prints a unified diff on stdout; false if the texts are equal. */
typedef struct version {
    const char *label, *text;
} version_t;
bool diff_print(version_t before, version_t after);

#endif
