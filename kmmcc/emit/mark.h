/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel launches of a source that have no pragma, and the source with pragmas for them. */
#ifndef KMMCC_EMIT_MARK_H
#define KMMCC_EMIT_MARK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "clang/unit.h"
#include "pragma/directive.h"

/* One launch without a pragma. */
typedef struct mark {
    size_t begin;       /* of its statement */
    bool inside;        /* it stands within parentheses, where no line may be a directive */
    bool is_seen;       /* #if does not disable it */
    const char *name;   /* of the kernel */
    const char *pragma; /* what to write, from the word kmm on; NULL: none */
    const char *reason; /* why there is no pragma */
} mark_t;

typedef struct marks {
    const source_t *source;
    mark_t *at;
    int count, capacity;
} marks_t;

/* Finds the launches, token by token. */
marks_t *mark_launches(const source_t *s);
/* The text with `_Pragma("kmm parallel")` before each of them. */
const source_t *mark_trial(const marks_t *m);
/* Which of them the directive of that text governs; NULL: its pragma is the user's. */
mark_t *mark_of(marks_t *m, const unit_t *u, const directive_t *d);
/* The text with the pragmas that were chosen, on the same lines. */
const source_t *mark_chosen(const marks_t *m);
/* The text with the pragmas that were chosen, as the user would write them. */
const char *mark_written(const marks_t *m);
/* How many launches get a pragma. */
int mark_count(const marks_t *m);
/* Prints the pragma of each mark, or why it has none. */
void mark_print(const marks_t *m);

#endif
