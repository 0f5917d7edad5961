/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: `k<<<grid, block>>>(n, x)` becomes `(kmm_host_configure(grid, block), k(n, x))`. They
 * are found by their tokens, which works in macros and templates alike.
 */
#include "cpu/launch.h"

#include "base/arena.h"
#include "base/diag.h"
#include "clang/disabled.h"

/* The token at which the operand that ends before token k begins: `a::b<c>`, `p->k`, `table[i]`,
 * `(f)`, `get(0)`. */
static int operand_begin(const source_t *s, const tokens_t *list, int k)
{
    int i = k - 1;
    while (i >= 0) {
        int depth = 0;
        if (tokens_is(s, list, i, ">") || tokens_is(s, list, i, ">>")) {
            int round = 0; /* what parentheses hold is no angle bracket */
            for (; i >= 0; i--) {
                round += tokens_is(s, list, i, ")") - tokens_is(s, list, i, "(");
                if (round == 0)
                    depth += tokens_is(s, list, i, ">") + 2 * tokens_is(s, list, i, ">>") -
                             tokens_is(s, list, i, "<") - 2 * tokens_is(s, list, i, "<<");
                if (depth <= 0)
                    break;
            }
            i--;
            continue;
        }
        if (tokens_is(s, list, i, ")") || tokens_is(s, list, i, "]")) {
            for (; i >= 0; i--) {
                depth += tokens_is(s, list, i, ")") + tokens_is(s, list, i, "]") -
                         tokens_is(s, list, i, "(") - tokens_is(s, list, i, "[");
                if (depth == 0)
                    break;
            }
            bool called =
                i > 0 &&
                (tokens_is(s, list, i - 1, "]") || tokens_is(s, list, i - 1, ")") ||
                 tokens_is(s, list, i - 1, ">") ||
                 (list->at[i - 1].kind == TOKEN_NAME && !tokens_is(s, list, i - 1, "return") &&
                  !tokens_is(s, list, i - 1, "if")));
            /* `if (x) (f)<<<...>>>` and `(type)(f)` are not calls of what stands before. */
            if (!called || tokens_is(s, list, i - 1, ")"))
                return i;
            i--;
            continue;
        }
        if (i >= 1 && (tokens_is(s, list, i - 1, "::") || tokens_is(s, list, i - 1, ".") ||
                       tokens_is(s, list, i - 1, "->") || tokens_is(s, list, i - 1, "##"))) {
            i -= 2;
            if (i < 0 || (list->at[i].kind != TOKEN_NAME && !tokens_is(s, list, i, ">") &&
                          !tokens_is(s, list, i, ")") && !tokens_is(s, list, i, "]")))
                return i + 1;
            if (list->at[i].kind == TOKEN_NAME &&
                (tokens_is(s, list, i, "return") || tokens_is(s, list, i, "else") ||
                 tokens_is(s, list, i, "do")))
                return i + 1;
            continue;
        }
        return i;
    }
    return 0;
}

/* Whether a macro, or a parameter of the macro that writes the launch, stands for its arguments. A
 * definition that ends with `>>>` writes none. */
static bool names_arguments(const source_t *s, const tokens_t *list, int k)
{
    if (k >= list->count || list->at[k].kind != TOKEN_NAME)
        return false;
    for (size_t at = list->at[k - 1].end; at < list->at[k].begin; at++)
        if (s->text[at] == '\n' && s->text[at - 1 - (s->text[at - 1] == '\r')] != '\\')
            return false;
    return true;
}

void launch_edit(unit_t *u, const tokens_t *list, int k)
{
    const source_t *s = u->source;
    int first = operand_begin(s, list, k), close = k + 1, depth = 0;
    for (; close < list->count && (depth > 0 || !tokens_is(s, list, close, ">>>")); close++)
        depth += tokens_is(s, list, close, "(") + tokens_is(s, list, close, "{") -
                 tokens_is(s, list, close, ")") - tokens_is(s, list, close, "}");
    int open = close + 1;
    bool named = names_arguments(s, list, open);
    int end = named && tokens_is(s, list, open + 1, "(") ? open + 1 : open;
    depth = 0;
    for (; end < list->count; end++) {
        depth += tokens_is(s, list, end, "(") - tokens_is(s, list, end, ")");
        if (depth == 0)
            break;
    }
    if ((!named && !tokens_is(s, list, open, "(")) || end >= list->count) {
        if (disabled_in_source(u, list->at[k].begin))
            return;
        diag_at(
            SEVERITY_ERROR, s, list->at[k].begin, list->at[k].end,
            "this launch has no arguments behind its '>>>'; write '<<<...>>>(...)' in one place");
        return;
    }
    const char *configuration =
        arena_copy(s->text + list->at[k].end, list->at[close].begin - list->at[k].end);
    unit_edit(u, list->at[first].begin, list->at[first].begin,
              arena_printf("(kmm_host_configure(%s), ", configuration));
    unit_edit(u, list->at[k].begin, list->at[close].end, named ? " " : "");
    unit_edit(u, list->at[end].end, list->at[end].end, ")");
}
