/* SPDX-License-Identifier: Apache-2.0 */
/* Expands macros that write pragmas. */
#ifndef KMMCC_PRAGMA_MACRO_H
#define KMMCC_PRAGMA_MACRO_H

#include <stdbool.h>

#include "base/options.h"
#include "base/source.h"
#include "pragma/includes.h"

/* True if `#pragma kmm` or `_Pragma("kmm` is in the text outside of comments and strings, or if a
 * macro of the file may write one. */
bool source_has_pragma(const source_t *s);
/* True if the file has a directive's words where a macro may make a pragma of them: in a
 * definition, or in an argument. */
bool macro_may_write_pragma(const source_t *s);
/* Replaces the uses of macros that write kmm pragmas by their expansions, in each file. */
void macro_expand(const includes_t *includes);
/* Stores what `#include words` may include, where `words` is no name in quotes: each "name" or
 * <name> to which definitions in the files or on the command line may expand it. Returns how many;
 * at most `room`. */
int macro_header_names(const includes_t *includes, const options_t *o, const char *words,
                       const char **out, int room);

#endif
