/* SPDX-License-Identifier: Apache-2.0 */
/* Precompiled headers, kept in the user's cache folder. */
#ifndef KMMCC_CLANG_CACHE_H
#define KMMCC_CLANG_CACHE_H

#include <stdbool.h>

#include "clang/unit.h"

/* The lines at the beginning of the file that include headers in angle brackets which are none of
 * the program's. */
const char *cache_leading(const unit_t *u);
/* The file in which clang finds these headers, read with these flags; it is made when it is new.
 * NULL: there is none. */
const char *cache_headers(const char *headers, const char *const *flags, int count,
                          bool skips_bodies);
void cache_forget(const char *path);

#endif
