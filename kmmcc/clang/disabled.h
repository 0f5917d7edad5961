/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parts of a file that #if disables. */
#ifndef KMMCC_CLANG_DISABLED_H
#define KMMCC_CLANG_DISABLED_H

#include <stdbool.h>
#include <stddef.h>

#include "clang/unit.h"

/* True if #if disables this offset of the parsed text. */
bool disabled_in_parsed(unit_t *u, size_t parsed);
/* True if #if disables this offset of the source. */
bool disabled_in_source(unit_t *u, size_t offset);

#endif
