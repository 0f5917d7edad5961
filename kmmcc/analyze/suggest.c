/* SPDX-License-Identifier: Apache-2.0 */
/* Proposals that follow an error or a warning. */
#include "analyze/suggest.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

void suggest_clause(const unit_t *u, const directive_t *d, const char *why, const char *clause)
{
    size_t at = d->pragma.content_end;
    diag_at(SEVERITY_NOTE, u->source, at, at, "%s", why);
    diag_fix(at, at, arena_printf(" %s", clause));
}

void suggest_word(const item_t *item, const char *word)
{
    if (item->word.end)
        diag_fix(item->word.begin, item->word.end, word);
}
