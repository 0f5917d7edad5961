/* SPDX-License-Identifier: Apache-2.0 */
/* The edits that turn directives into calls of libkmm. */
#include <stdint.h>
#include <string.h>

#include "directive.h"

/* The white space before the place on its line, when there is nothing else. */
static char *indent_at(const source_t *s, size_t offset)
{
    size_t begin = s->lines[source_line(s, offset) - 1], end = begin;
    while (s->text[end] == ' ' || s->text[end] == '\t')
        end++;
    return arena_copy(s->text + begin, end - begin);
}

/* The pragma as a comment. A line splice would continue it, so each line has its own `//`. */
static char *comment_of(const source_t *s, const pragma_t *pragma, const char *indent)
{
    text_t out = {0};
    text_printf(&out, "// ");
    for (size_t k = pragma->begin; k < pragma->end; k++) {
        char c = s->text[k];
        while (c == '\n' && (out.data[out.length - 1] == ' ' || out.data[out.length - 1] == '\t'))
            out.length--;
        if (c == '\n')
            text_printf(&out, "\n%s//", indent);
        else if (c != '\r' && !(c == '\\' && (s->text[k + 1] == '\n' || s->text[k + 1] == '\r')))
            text_add(&out, &c, 1);
    }
    return out.data;
}

/* The line below the pragma, which the text behind its edit belongs to. */
static const char *line_below(const source_t *s, const pragma_t *pragma)
{
    return emit_line(s, source_line(s, pragma->end) + 1);
}

/* ---- The header ---- */

/* The header stands before the first declaration at the top of the file that is changed: so it sees what the program
 * defines before its own headers, and is in no namespace. */
void rewrite_include(unit_t *u)
{
    if (u->include_at == SIZE_MAX)
        return;
    size_t place = clone_begin(u->source, u->include_at);
    unit_edit(u, place, place, arena_printf("#include <kmm/%s>\n%s\n", u->target != TARGET_HOST ? "cuda.h" : "launch.h",
                                            emit_line(u->source, source_line(u->source, place))));
    u->edits[u->edit_count - 1].order = -1;
}

/* ---- parallel ---- */

/* Whether the launch stands directly below the pragma. */
static bool stands_below(const unit_t *u, const directive_t *d)
{
    lexer_t l = lexer_at(u->source, d->pragma.end, u->source->length);
    return lex(&l).begin == d->launch_begin;
}

static void rewrite_parallel(unit_t *u, directive_t *d)
{
    const source_t *s = u->source;
    const char *indent = indent_at(s, d->pragma.begin), *comment = comment_of(s, &d->pragma, indent);
    const char *inner = arena_printf("%s    ", indent);
    text_t out = {0};
    bool below = stands_below(u, d);
    if (below)
        text_printf(&out, "{ %s\n", comment);
    else
        text_printf(&out, "{\n");
    describe_launch(u, d, inner, &out);
    if (d->is_kernel && u->target != TARGET_HOST && *clone_registration(u, d))
        text_printf(&out, "%s%s\n", inner, clone_registration(u, d));
    if (d->is_kernel)
        text_printf(&out, "%skmm_launch_arm(kmm);\n", inner);
    if (below) {
        text_printf(&out, "%s", line_below(s, &d->pragma));
        unit_edit(u, d->pragma.begin, d->pragma.end, out.data);
    } else {
        text_printf(&out, "%s\n%s", emit_line(s, source_line(s, d->launch_begin)), inner);
        unit_edit(u, d->pragma.begin, d->pragma.end, comment);
        unit_edit(u, d->launch_begin, d->launch_begin, out.data);
    }
    if (!d->is_kernel) {
        call_rewrite(u, d, indent);
        return;
    }
    if (u->target != TARGET_HOST)
        clone_launch(u, d);
    unit_edit(u, d->launch_end, d->launch_end, " }");
}

/* ---- wait and data ---- */

static void rewrite_wait(unit_t *u, const directive_t *d)
{
    const source_t *s = u->source;
    unit_edit(u, d->pragma.begin, d->pragma.end,
              arena_printf("kmm_directive_wait(%s, %u); %s", emit_quoted(s->path), source_line(s, d->pragma.begin),
                           comment_of(s, &d->pragma, indent_at(s, d->pragma.begin))));
}

/* The first byte of the item, and how many follow. */
static void map_extent(const unit_t *u, const map_item_t *item, const char **base, const char **bytes)
{
    const char *text = source_words(u->source, item->base->begin, item->base->end);
    *base = text;
    *bytes = arena_printf("sizeof(%s)", text);
    if (!item->length)
        return;
    form_t lower = form_of(u->source, item->lower), length = form_of(u->source, item->length);
    if (!form_is(lower, 0))
        *base = arena_printf("%s + (%s)", describe_base(u, item->base), form_text(lower));
    *bytes = arena_printf("(size_t)(%s) * sizeof(*(%s))", form_text(length), text);
}

/* The addresses are kept, because the block may change the pointers. */
static void rewrite_data(unit_t *u, const directive_t *d)
{
    static const char *const maps[] = {"KMM_MAP_TO", "KMM_MAP_FROM", "KMM_MAP_TOFROM", "KMM_MAP_ALLOC"};
    const source_t *s = u->source;
    const char *indent = indent_at(s, d->pragma.begin), *file = emit_quoted(s->path);
    unsigned line = source_line(s, d->pragma.begin);
    size_t begin, end;
    text_t enter = {0}, leave = {0};
    text_printf(&enter, "{ %s\n", comment_of(s, &d->pragma, indent));
    for (int k = 0; k < d->map_count; k++) {
        const char *base, *bytes;
        map_extent(u, &d->map[k], &base, &bytes);
        text_printf(&enter, "%s    void *const kmm_base_%d = (void *)(%s);\n%s    const size_t kmm_bytes_%d = %s;\n", indent, k, base,
                    indent, k, bytes);
        text_printf(&enter, "%s    kmm_data_enter(%s, %s, kmm_base_%d, kmm_bytes_%d, %s, %u);\n", indent, maps[d->map[k].map],
                    emit_quoted(source_words(s, d->map[k].begin, d->map[k].end)), k, k, file, line);
    }
    for (int k = d->map_count - 1; k >= 0; k--)
        text_printf(&leave, " kmm_data_exit(kmm_base_%d, kmm_bytes_%d, %s, %u);", k, k, file, line);
    text_printf(&enter, "%s", line_below(s, &d->pragma));
    text_printf(&leave, " }");
    unit_edit(u, d->pragma.begin, d->pragma.end, enter.data);
    if (unit_range(u, d->statement, &begin, &end))
        unit_edit(u, end, end, leave.data);
}

void rewrite_directives(unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++) {
        directive_t *d = u->directives[k];
        if (!d->bound)
            continue;
        unit_include_before(u, d->outermost);
        if (d->kind == DIRECTIVE_PARALLEL)
            rewrite_parallel(u, d);
        else if (d->kind == DIRECTIVE_WAIT)
            rewrite_wait(u, d);
        else
            rewrite_data(u, d);
    }
}
