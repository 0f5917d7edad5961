/* SPDX-License-Identifier: Apache-2.0 */
/* Macros of the real compiler for which the program asks, for clang. */
#ifndef KMMCC_CLANG_ASKED_H
#define KMMCC_CLANG_ASKED_H

#include "clang/flags.h"

/* Adds the flags by which clang defines these macros as the real compiler does. Some stay as they
 * are, because the system's headers ask for them, too, and clang needs its own there. */
void asked_add_flags(const unit_t *u, flags_t *f);
/* Returns the value that the real compiler gives to the macro before the first line of a file;
 * NULL: it defines none. */
const char *asked_value(const unit_t *u, const char *name);

#endif
