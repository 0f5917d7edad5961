/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments with which clang parses a file. */
#ifndef KMMCC_CLANG_FLAGS_H
#define KMMCC_CLANG_FLAGS_H

#include <stdbool.h>

#include "clang/unit.h"

/*
 * What CUDA and HIP source is parsed with, the quickest first; the next one is tried where a file
 * does not parse. kmm's own headers declare what most programs use, and take a quarter of the time
 * of the toolkit's. Light: without <cmath>, unless the file includes it. include/kmm/parse stands
 * in for the toolkit's headers of textures until a file needs them.
 */
typedef enum headers { HEADERS_LIGHT, HEADERS_OWN, HEADERS_TOOLKIT, HEADERS_TEXTURES } headers_t;

typedef struct flags {
    const char **flag;
    int count;
} flags_t;

/* The arguments, with room for a few more. */
flags_t flags_of(const unit_t *u, headers_t headers);
/* Those with which the clang program compiles the kernels of a file of CUDA or HIP for a GPU. */
flags_t flags_of_device(const unit_t *u);
void flags_add(flags_t *f, const char *flag);
/* The last headers to try. */
headers_t flags_last_headers(const unit_t *u);
/* Whether a toolkit with headers of its own is installed for the file's target. */
bool flags_has_toolkit(const unit_t *u);

#endif
