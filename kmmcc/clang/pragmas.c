/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the pragmas of a file. Messages about pragmas that #if disables are taken back. */
#include "clang/pragmas.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "clang/disabled.h"
#include "pragma/directive.h"
#include "pragma/parse.h"
#include "pragma/pragma.h"

/* A pragma that could not be parsed, and the messages [first, last) about it. */
typedef struct mistake {
    struct mistake *next;
    size_t at;
    int first, last;
} mistake_t;

/* All pragmas are parsed before the first error stops the file. */
void pragmas_parse(unit_t *u)
{
    size_t from = 0;
    pragma_t pragma;
    int capacity = 0;
    while (pragma_next(u->source, &from, &pragma)) {
        int first = diag_count();
        directive_t *d = parse_directive(u->source, pragma);
        if (!d) {
            mistake_t *m = arena_alloc(sizeof(*m));
            *m = (mistake_t){u->mistakes, pragma.begin, first, diag_count()};
            u->mistakes = m;
            continue;
        }
        u->directives =
            arena_grow(u->directives, u->directive_count, &capacity, sizeof(*u->directives));
        d->order = u->directive_count;
        u->directives[u->directive_count++] = d;
    }
}

/* Pragmas that #if disables may be wrong. The last messages are taken back first, so that the other
 * messages keep their numbers. */
int pragmas_forget_disabled(unit_t *u)
{
    int count = u->next ? pragmas_forget_disabled(u->next) : 0;
    for (const mistake_t *m = u->mistakes; m; m = m->next) {
        if (!disabled_in_source(u, m->at))
            continue;
        diag_retract(m->first, m->last);
        count += m->last - m->first;
    }
    u->mistakes = NULL;
    return count;
}
