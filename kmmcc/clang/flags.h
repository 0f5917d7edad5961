/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments with which clang parses a file. */
#ifndef KMMCC_CLANG_FLAGS_H
#define KMMCC_CLANG_FLAGS_H

#include <stdbool.h>

#include "clang/unit.h"

typedef struct flags {
    const char **flag;
    int count;
} flags_t;

/* Returns the arguments, with room for a few more. */
flags_t flags_of(const unit_t *u, headers_t headers);
/* Returns the arguments with which the clang program compiles a file's kernels for a GPU: CUDA or
 * HIP source. */
flags_t flags_of_device(const unit_t *u, headers_t headers);
void flags_add(flags_t *f, const char *flag);
/* Returns the last headers to try. */
headers_t flags_last_headers(const unit_t *u);
/* True if a toolkit with headers of its own is installed for the file's target. */
bool flags_has_toolkit(const unit_t *u);

#endif
