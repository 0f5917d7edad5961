/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rewritten text again. An error in it is a mistake of kmmcc and is reported as such. */
#ifndef KMMCC_CLANG_VERIFY_H
#define KMMCC_CLANG_VERIFY_H

#include <stdbool.h>

#include "base/list.h"
#include "base/source.h"
#include "clang/unit.h"

/* Parses the result. text_of returns the text of each file, or NULL if it is unchanged. False after
 * errors have been shown. */
bool verify_unit(unit_t *u, const char *(*text_of)(unit_t *u));
/* Parses a file that kmmcc wrote, as plain C++ with these flags. `source` is the file that it was
 * made of. False after errors have been shown. */
__attribute__((visibility("default"))) bool verify_file(const source_t *source, const char *path,
                                                        const list_t *flags);

#endif
