/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of the source's text with the emitter's edits applied. Edits may be nested; then only the
 * outermost is applied.
 */
#include "cpu/loops/edits.h"

#include <string.h>

#include "base/arena.h"
#include "base/source.h"

void edits_add(emitter_t *e, size_t begin, size_t end, const char *text)
{
    e->edit = arena_grow(e->edit, e->edit_count, &e->edit_capacity, sizeof(*e->edit));
    e->edit[e->edit_count] = (edit_t){begin, end, text, e->edit_count};
    e->edit_count++;
}

/* Returns the edit that begins first in [begin, end); of several, the outermost. */
static const edit_t *next_edit(const emitter_t *e, size_t begin, size_t end)
{
    const edit_t *best = NULL;
    for (int k = 0; k < e->edit_count; k++) {
        const edit_t *x = &e->edit[k];
        if (x->begin < begin || x->end > end || (x->begin == end && x->begin != begin))
            continue;
        if (!best || x->begin < best->begin || (x->begin == best->begin && x->end > best->end))
            best = x;
    }
    return best;
}

const char *edits_copy(const emitter_t *e, size_t begin, size_t end)
{
    text_t out = {0};
    const char *source = e->s->u->source->text;
    text_add(&out, "", 0);
    for (const edit_t *x = next_edit(e, begin, end); x; x = next_edit(e, begin, end)) {
        text_add(&out, source + begin, x->begin - begin);
        text_add(&out, x->text, strlen(x->text));
        begin = x->end > x->begin ? x->end : x->begin + 1;
        if (x->end == x->begin)
            text_add(&out, source + x->begin, 1);
    }
    if (end > begin)
        text_add(&out, source + begin, end - begin);
    return out.data;
}

const char *edits_copy_node(const emitter_t *e, const node_t *n)
{
    return edits_copy(e, n->begin, n->end);
}

const char *edits_line(const emitter_t *e, size_t at)
{
    return source_line_marker(e->s->u->source, source_line(e->s->u->source, at));
}

void edits_take(emitter_t *e)
{
    unit_t *u = e->s->u;
    for (int k = 0; k < u->edit_count; k++)
        if (u->edits[k].begin >= e->b.root->begin && u->edits[k].end <= e->b.root->end)
            edits_add(e, u->edits[k].begin, u->edits[k].end, u->edits[k].text);
}

void edits_release(const emitter_t *e)
{
    unit_t *u = e->s->u;
    int kept = 0;
    for (int k = 0; k < u->edit_count; k++)
        if (u->edits[k].begin < e->b.root->begin || u->edits[k].end > e->b.root->end)
            u->edits[kept++] = u->edits[k];
    u->edit_count = kept;
}
