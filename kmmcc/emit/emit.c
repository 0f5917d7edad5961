/* SPDX-License-Identifier: Apache-2.0 */
/* The source with its edits applied. */
#include <string.h>

#include "directive.h"

void unit_edit(unit_t *u, size_t begin, size_t end, const char *text)
{
    if (u->edit_count == u->edit_capacity) {
        u->edit_capacity = 2 * u->edit_capacity + 64;
        edit_t *edits = arena_alloc((size_t)u->edit_capacity * sizeof(*edits));
        if (u->edit_count)
            memcpy(edits, u->edits, (size_t)u->edit_count * sizeof(*edits));
        u->edits = edits;
    }
    u->edits[u->edit_count] = (edit_t){begin, end, text, u->edit_count};
    u->edit_count++;
}

char *emit_quoted(const char *text)
{
    text_t out = {0};
    text_add(&out, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            text_add(&out, "\\", 1);
        text_add(&out, text, 1);
    }
    text_add(&out, "\"", 1);
    return out.data;
}

char *emit_line(const source_t *s, unsigned line)
{
    return arena_printf("#line %u %s", line, emit_quoted(s->path));
}

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
    size_t from = 0;
    sort_edits(u->edits, u->edit_count);
    text_printf(&out, "%s\n", emit_line(u->source, 1));
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
