/* SPDX-License-Identifier: Apache-2.0 */
/* What messages propose to write. */
#ifndef KMMCC_ANALYZE_SUGGEST_H
#define KMMCC_ANALYZE_SUGGEST_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* After an error or a warning: the clause to add to the pragma, and why. */
void suggest_clause(const unit_t *u, const directive_t *d, const char *why, const char *clause);
/* After an error or a warning: another clause for an item that is alone in its own. */
void suggest_word(const item_t *item, const char *word);

#endif
