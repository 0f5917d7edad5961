/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses of all directives, each in one table and one function. */
#ifndef KMMCC_PRAGMA_CLAUSE_H
#define KMMCC_PRAGMA_CLAUSE_H

#include <stdbool.h>

#include "base/token.h"
#include "pragma/parser.h"

/* clauses = { [','] clause }, up to the end of the pragma, those of the directive p->d. False after
 * errors, each of which has been reported. */
bool clause_parse_all(parser_t *p);
/* Goes on behind the clause with the name, which has an error: behind its closing parenthesis, or
 * at the next known clause when it has none. */
void clause_skip(parser_t *p, token_t name);

#endif
