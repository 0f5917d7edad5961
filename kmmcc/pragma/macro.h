/* SPDX-License-Identifier: Apache-2.0 */
/* Expands macros that write pragmas. */
#ifndef KMMCC_PRAGMA_MACRO_H
#define KMMCC_PRAGMA_MACRO_H

#include <stdbool.h>

#include "base/options.h"
#include "base/source.h"
#include "pragma/includes.h"

/* Whether `#pragma kmm` or `_Pragma("kmm` stands in the text outside comments and strings, or a
 * macro of the file may write one. */
bool source_has_pragma(const source_t *s);
/* Whether the file has a directive's words where a macro may make a pragma of them: in a
 * definition, or in an argument. */
bool macro_may_write_pragma(const source_t *s);
/* Replaces, in each file, the uses of macros that write our pragmas by what they stand for. */
void macro_expand(const includes_t *includes);
/* What `#include words` may include, words being no name in quotes: each "name" or <name> that some
 * definitions in the files or on the command line make of it. Returns how many; at most `room`. */
int macro_header_names(const includes_t *includes, const options_t *o, const char *words,
                       const char **out, int room);

#endif
