/* SPDX-License-Identifier: Apache-2.0 */
/* Names of headers that macros stand for: `#include MACRO`. */
#ifndef KMMCC_PRAGMA_HEADER_NAME_H
#define KMMCC_PRAGMA_HEADER_NAME_H

#include "base/options.h"
#include "pragma/includes.h"

/* Stores what `#include words` may include, where `words` is no name in quotes: each "name" or
 * <name> to which definitions in the files or on the command line may expand it. Returns how many;
 * at most `room`. */
int header_names(const includes_t *includes, const options_t *o, const char *words,
                 const char **out, int room);

#endif
