/* SPDX-License-Identifier: Apache-2.0 */
/* The source with its edits applied. */
#include "emit/emit.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"

/* By place; an insertion before the replacement of the same place, and equal ones as they were
 * made. */
static bool comes_before(const edit_t *a, const edit_t *b)
{
    if (a->begin != b->begin)
        return a->begin < b->begin;
    if ((a->end == a->begin) != (b->end == b->begin))
        return a->end == a->begin;
    return a->order < b->order;
}

static void sort_edits(edit_t *edits, int count)
{
    for (int k = 1; k < count; k++) {
        edit_t moved = edits[k];
        int i = k;
        for (; i > 0 && comes_before(&moved, &edits[i - 1]); i--)
            edits[i] = edits[i - 1];
        edits[i] = moved;
    }
}

char *emit_text(unit_t *u)
{
    text_t out = {0};
    size_t from = u->source->lines[0];
    sort_edits(u->edits, u->edit_count);
    text_printf(&out, "%s\n", source_line_marker(u->source, 1));
    for (int k = 0; k < u->edit_count; k++) {
        const edit_t *e = &u->edits[k];
        if (e->begin < from) {
            diag_at(SEVERITY_ERROR, u->source, e->begin, e->end,
                    "this is a mistake of kmmcc: it would rewrite this place twice");
            return NULL;
        }
        text_add(&out, u->source->text + from, e->begin - from);
        text_add(&out, e->text, strlen(e->text));
        from = e->end;
    }
    text_add(&out, u->source->text + from, u->source->length - from);
    return out.data;
}
