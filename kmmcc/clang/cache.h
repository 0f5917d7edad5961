/* SPDX-License-Identifier: Apache-2.0 */
/* Precompiled headers, kept in the user's cache folder. */
#ifndef KMMCC_CLANG_CACHE_H
#define KMMCC_CLANG_CACHE_H

#include <stdbool.h>

#include "clang/unit.h"

/* Returns the lines at the beginning of the file that include headers in angle brackets, up to the
 * first that is the program's. */
const char *cache_leading(const unit_t *u);
/* Returns the precompiled file of these headers for these flags, and makes it if it does not exist.
 * NULL if it cannot be made, or if the user has turned the cache off. */
const char *cache_headers(const char *headers, const char *const *flags, int count,
                          bool skips_bodies);
/* Removes a precompiled file that is out of date. */
void cache_forget(const char *path);

#endif
