/* SPDX-License-Identifier: Apache-2.0 */
/* Proposals that follow an error or a warning. */
#ifndef KMMCC_ANALYZE_SUGGEST_H
#define KMMCC_ANALYZE_SUGGEST_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Proposes a clause to add to the pragma. `why` is the text before it. */
void suggest_clause(const unit_t *u, const directive_t *d, const char *why, const char *clause);
/* Proposes another name of its clause for an item that is alone in it. */
void suggest_word(const item_t *item, const char *word);

#endif
