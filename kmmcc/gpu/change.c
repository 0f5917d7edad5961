/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the text of a function for its copy: its head, its body and the captures of its
 * lambdas. */
#include "gpu/change.h"

#include "base/arena.h"
#include "base/options.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "gpu/name.h"
#include "gpu/partials.h"

void change_add(changes_t *list, size_t begin, size_t end, const char *text)
{
    change_t **at = &list->first;
    while (*at && ((*at)->begin < begin || ((*at)->begin == begin && (*at)->end <= end)))
        at = &(*at)->next;
    change_t *c = arena_alloc(sizeof(*c));
    *c = (change_t){begin, end, text, *at};
    *at = c;
}

char *change_text(const source_t *s, size_t begin, size_t end, const changes_t *list)
{
    text_t out = {0};
    size_t from = begin;
    for (const change_t *c = list->first; c; c = c->next) {
        if (c->begin < from || c->end > end)
            continue;
        text_add(&out, s->text + from, c->begin - from);
        text_printf(&out, "%s", c->text);
        from = c->end;
    }
    text_add(&out, s->text + from, end - from);
    return out.data;
}

size_t change_find_token(const source_t *s, size_t from, size_t end, const char *text)
{
    lexer_t l = lexer_at(s, from, end);
    l.line_start = false;
    token_t t = lex(&l);
    while (t.kind != TOKEN_END && !token_is(s, t, text))
        t = lex(&l);
    return t.kind == TOKEN_END ? end : t.end;
}

/* True if something other than `)` or `void)` follows. */
static bool has_parameters(const source_t *s, size_t open)
{
    lexer_t l = lexer_at(s, open, s->length);
    l.line_start = false;
    token_t first = lex(&l), second = lex(&l);
    return !token_is(s, first, ")") && !(token_is(s, first, "void") && token_is(s, second, ")"));
}

bool change_has_arguments(const source_t *s, size_t open)
{
    lexer_t l = lexer_at(s, open, s->length);
    l.line_start = false;
    return !token_is(s, lex(&l), ")");
}

void change_head(const unit_t *u, const source_t *s, size_t name, const function_t *f,
                 changes_t *list)
{
    reach_call_t head = {.name = f->name, .at = name};
    size_t open = reach_open(s, &head);
    change_add(list, name, name, u->main->prefix);
    if (!has_parameters(s, open))
        change_add(list, open, change_find_token(s, open, s->length, ")") - 1,
                   partials_parameter(f));
    else
        change_add(list, open, open, arena_printf("%s, ", partials_parameter(f)));
}

/* `[=]`, `[&]` and those that go on with a comma capture what they need by themselves. */
static void change_captures(const function_t *f, const lambda_t *l, changes_t *list)
{
    const source_t *s = f->u->source;
    lexer_t lexer = lexer_at(s, l->begin, l->end);
    lexer.line_start = false;
    token_t open = lex(&lexer), first = lex(&lexer), second = lex(&lexer);
    bool by_default = (token_is(s, first, "=") || token_is(s, first, "&")) &&
                      (token_is(s, second, ",") || token_is(s, second, "]"));
    bool blocks = l->calls_told || l->reads_group;
    if (by_default || !(l->reads_index || l->reads_dim || blocks))
        return;
    text_t names = {0};
    text_printf(&names, "%s%s%s", l->reads_index ? "blockIdx" : "",
                l->reads_index && (l->reads_dim || blocks) ? ", " : "",
                l->reads_dim ? "gridDim" : "");
    text_printf(&names, "%s%s%s", l->reads_dim && blocks ? ", " : "", blocks ? "kmm__blocks" : "",
                token_is(s, first, "]") ? "" : ", ");
    change_add(list, open.end, open.end, names.data);
}

void change_body(const unit_t *u, const function_t *f, changes_t *list)
{
    const source_t *s = f->u->source;
    for (const change_t *c = f->changes; c; c = c->next)
        change_add(list, c->begin, c->end, c->text);
    for (const reach_call_t *c = f->calls; c; c = c->next) {
        if (!c->is_told)
            continue;
        size_t open = reach_open(s, c);
        change_add(list, c->at, c->at,
                   c->is_member ? u->main->prefix
                                : name_prefix_at(u, s, c->at, c->callee[0]->cursor, f->cursor));
        change_add(list, open, open,
                   change_has_arguments(s, open) ? "kmm__blocks, " : "kmm__blocks");
        for (lambda_t *l = c->lambda; l; l = l->up)
            l->calls_told = true;
    }
    for (const lambda_t *l = f->lambdas; l; l = l->next)
        change_captures(f, l, list);
}

const char *change_locals(const unit_t *u, const function_t *f)
{
    const char *index = u->lang == LANG_HIP ? "kmm_uint3" : "uint3";
    return arena_printf(
        "%s%s%s%s",
        f->reads_index ? arena_printf(" const %s blockIdx = kmm_block_index(kmm__blocks);", index)
                       : "",
        f->reads_index && f->hidden ? " (void)blockIdx;" : "",
        f->reads_dim ? " const dim3 gridDim = kmm_grid_dim(kmm__blocks);" : "",
        f->reads_dim && f->hidden ? " (void)gridDim;" : "");
}

size_t change_body_begin(const unit_t *u, CXCursor function)
{
    CXCursor body = cursor_body(function);
    size_t begin, end;
    return !clang_Cursor_isNull(body) && unit_range(u, body, &begin, &end) ? begin + 1 : 0;
}

size_t change_name_offset(const unit_t *u, CXCursor c)
{
    unsigned offset;
    clang_getFileLocation(clang_getCursorLocation(c), NULL, NULL, NULL, &offset);
    return unit_offset(u, offset);
}
