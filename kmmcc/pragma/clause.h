/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the clauses of all directives. Each clause is one line of a table; one with a grammar of
 * its own has a function. */
#ifndef KMMCC_PRAGMA_CLAUSE_H
#define KMMCC_PRAGMA_CLAUSE_H

#include <stdbool.h>

#include "base/token.h"
#include "pragma/parser.h"

/* clauses = { [','] clause }, up to the end of the pragma, for the directive p->d. False after
 * errors, each of which has been reported. */
bool clause_parse_all(parser_t *p);
/* Skips a clause that has an error. `name` is its name. The parser goes on behind the clause's
 * closing parenthesis, or at the next known clause if it has none. */
void clause_skip(parser_t *p, token_t name);

#endif
