/* SPDX-License-Identifier: Apache-2.0 */
/* clang's messages about a translation unit. */
#ifndef KMMCC_CLANG_MESSAGES_H
#define KMMCC_CLANG_MESSAGES_H

#include <stdbool.h>

#include "clang/unit.h"

/* Shows the errors and their notes at their positions in the sources. Returns how many are not
 * about a pragma. Warnings are left to the real compiler. */
int messages_show(const unit_t *u);
/* True if clang found an error. */
bool messages_have_error(const unit_t *u);
/* True if a message of clang has the path in its text. */
bool messages_name(const unit_t *u, const char *path);
/* True if clang found an error that is not about a pragma. */
bool messages_have_foreign(const unit_t *u);

#endif
