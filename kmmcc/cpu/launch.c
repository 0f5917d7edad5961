/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites launches: `k<<<grid, block>>>(n, x)` becomes `(kmm_host_configure(grid, block), k(n,
 * x))`. Launches are found by their tokens, so that those in macros and templates are found too.
 */
#include "cpu/launch.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "clang/disabled.h"

/* The tokens of the file of a launch. They are read backwards from its `<<<`. */
typedef struct place {
    const source_t *s;
    const tokens_t *list;
} place_t;

static bool at_is(const place_t *p, int k, const char *text)
{
    return tokens_is(p->s, p->list, k, text);
}

static bool at_is_one_of(const place_t *p, int k, const char *const *texts)
{
    return k >= 0 && k < p->list->count && text_is_one_of(token_text(p->s, p->list->at[k]), texts);
}

/* Returns the `<` of the template arguments that token k closes. Angle brackets inside parentheses
 * do not count. */
static int angle_begin(const place_t *p, int k)
{
    for (int depth = 0, round = 0; k >= 0; k--) {
        round += at_is(p, k, ")") - at_is(p, k, "(");
        if (round == 0)
            depth +=
                at_is(p, k, ">") + 2 * at_is(p, k, ">>") - at_is(p, k, "<") - 2 * at_is(p, k, "<<");
        if (depth <= 0)
            break;
    }
    return k;
}

/* Returns the bracket or parenthesis that token k closes. */
static int bracket_begin(const place_t *p, int k)
{
    for (int depth = 0; k >= 0; k--) {
        depth += at_is(p, k, ")") + at_is(p, k, "]") - at_is(p, k, "(") - at_is(p, k, "[");
        if (depth == 0)
            break;
    }
    return k;
}

/* True if token k ends an operand that what follows it calls or indexes. */
static bool is_called(const place_t *p, int k)
{
    static const char *const ends[] = {"]", ")", ">", NULL}, *const words[] = {"return", "if",
                                                                               NULL};
    if (k < 0)
        return false;
    return at_is_one_of(p, k, ends) ||
           (p->list->at[k].kind == TOKEN_NAME && !at_is_one_of(p, k, words));
}

/* Returns the first token of the operand that ends before token k: `a::b<c>`, `p->k`, `table[i]`,
 * `(f)`, `get(0)`. */
static int operand_begin(const place_t *p, int k)
{
    static const char *const angles[] = {">", ">>", NULL}, *const brackets[] = {")", "]", NULL},
                             *const joints[] = {"::", ".", "->", "##", NULL},
                             *const ends[] = {">", ")", "]", NULL},
                             *const words[] = {"return", "else", "do", NULL};
    for (int i = k - 1; i >= 0;) {
        if (at_is_one_of(p, i, angles)) {
            i = angle_begin(p, i) - 1;
        } else if (at_is_one_of(p, i, brackets)) {
            i = bracket_begin(p, i);
            /* `if (x) (f)<<<...>>>` and `(type)(f)` are not calls of what stands before. */
            if (!is_called(p, i - 1) || at_is(p, i - 1, ")"))
                return i;
            i--;
        } else if (i >= 1 && at_is_one_of(p, i - 1, joints)) {
            i -= 2;
            if (i < 0 || (p->list->at[i].kind != TOKEN_NAME && !at_is_one_of(p, i, ends)) ||
                at_is_one_of(p, i, words))
                return i + 1;
        } else {
            return i;
        }
    }
    return 0;
}

/* True if token k is a macro, or a parameter of a macro, that stands for the launch's arguments. It
 * is not if the `>>>` before it ends a line. */
static bool names_arguments(const source_t *s, const tokens_t *list, int k)
{
    if (k >= list->count || list->at[k].kind != TOKEN_NAME)
        return false;
    for (size_t at = list->at[k - 1].end; at < list->at[k].begin; at++)
        if (s->text[at] == '\n' && s->text[at - 1 - (s->text[at - 1] == '\r')] != '\\')
            return false;
    return true;
}

/* Returns the token that closes the parenthesis at token k; k itself if it opens none. */
static int closing(const place_t *p, int k)
{
    for (int depth = 0; k < p->list->count; k++) {
        depth += at_is(p, k, "(") - at_is(p, k, ")");
        if (depth == 0)
            break;
    }
    return k;
}

/* Returns the `>>>` of the launch whose `<<<` is token k. */
static int configuration_end(const place_t *p, int k)
{
    int depth = 0;
    for (k++; k < p->list->count && (depth > 0 || !at_is(p, k, ">>>")); k++)
        depth += at_is(p, k, "(") + at_is(p, k, "{") - at_is(p, k, ")") - at_is(p, k, "}");
    return k;
}

/* Returns the configuration: the program's text, or what is written in its place already. */
static const char *configuration_of(unit_t *u, size_t begin, size_t end)
{
    for (int k = 0; k < u->edit_count; k++)
        if (u->edits[k].begin == begin && u->edits[k].end == end && begin < end) {
            const char *text = u->edits[k].text;
            u->edits[k].begin = u->edits[k].end = 0;
            u->edits[k].text = "";
            return text;
        }
    return arena_copy(u->source->text + begin, end - begin);
}

void launch_edit(unit_t *u, const tokens_t *list, int k)
{
    const source_t *s = u->source;
    const place_t p = {s, list};
    const token_t *at = list->at;
    const int first = operand_begin(&p, k), close = configuration_end(&p, k), open = close + 1;
    const bool named = names_arguments(s, list, open);
    const int end = closing(&p, named && at_is(&p, open + 1, "(") ? open + 1 : open);
    if ((!named && !at_is(&p, open, "(")) || end >= list->count) {
        if (!disabled_in_source(u, at[k].begin))
            diag_at(SEVERITY_ERROR, s, at[k].begin, at[k].end,
                    "this launch has no arguments behind its '>>>'; write '<<<...>>>(...)' in one "
                    "place");
        return;
    }
    unit_edit(
        u, at[first].begin, at[first].begin,
        arena_printf("(kmm_host_configure(%s), ", configuration_of(u, at[k].end, at[close].begin)));
    unit_edit(u, at[k].begin, at[close].end, named ? " " : "");
    unit_edit(u, at[end].end, at[end].end, ")");
}
