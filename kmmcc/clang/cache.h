/* SPDX-License-Identifier: Apache-2.0 */
/* Precompiled headers, kept in the user's cache folder. */
#ifndef KMMCC_CLANG_CACHE_H
#define KMMCC_CLANG_CACHE_H

#include <stdbool.h>

#include "clang/unit.h"

/* The lines at the beginning of the file that include headers in angle brackets, as far as none of
 * them is the program's. */
const char *cache_leading(const unit_t *u);
/* The precompiled file of these headers for these flags, made when it does not exist. NULL: it
 * cannot be made, or the user has turned the cache off. */
const char *cache_headers(const char *headers, const char *const *flags, int count,
                          bool skips_bodies);
/* Removes a precompiled file that is out of date. */
void cache_forget(const char *path);

#endif
