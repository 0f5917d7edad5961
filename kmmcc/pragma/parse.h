/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a pragma to a directive. */
#ifndef KMMCC_PRAGMA_PARSE_H
#define KMMCC_PRAGMA_PARSE_H

#include "base/source.h"
#include "base/token.h"
#include "pragma/directive.h"
#include "pragma/pragma.h"

/* Returns the directive; NULL after errors. */
directive_t *parse_directive(const source_t *s, pragma_t pragma);
/* Returns a string of the pragma as a literal of the program. */
const char *directive_string(const source_t *s, const directive_t *d, token_t string);

#endif
