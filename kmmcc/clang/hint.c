/* SPDX-License-Identifier: Apache-2.0 */
/* Hints to a compiler: what changes neither types nor statements. */
#include "clang/hint.h"

#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"

/* With the parentheses behind them. */
static const char *const calls[] = {"__attribute__",
                                    "__attribute",
                                    "__declspec",
                                    "_Pragma",
                                    "__pragma",
                                    "__assume",
                                    "__builtin_unreachable",
                                    "__builtin_assume",
                                    "__builtin_prefetch",
                                    NULL};
static const char *const words[] = {
    "inline",        "__inline",      "__inline__", "restrict", "__restrict", "__restrict__",
    "__extension__", "__forceinline", "noexcept",   "register", NULL};
/* Of expressions that __builtin_expect holds. */
static const char *const marks[] = {"(", ")", ",", "__builtin_expect", NULL};

static bool is_any(const source_t *s, token_t t, const char *const *list)
{
    for (; *list; list++)
        if (token_is(s, t, *list))
            return true;
    return false;
}

/* Passes over what is in parentheses, or in the brackets of [[...]]. */
static void skip(lexer_t *l, const char *open, const char *close)
{
    int depth = 0;
    lexer_t next = *l;
    for (token_t t = lex(&next); t.kind != TOKEN_END; t = lex(&next)) {
        depth += token_is(l->s, t, open) - token_is(l->s, t, close);
        if (depth > 0 || token_is(l->s, t, close))
            *l = next;
        if (depth <= 0)
            return;
    }
}

static bool is_doubled(lexer_t l, token_t t, const char *text)
{
    return token_is(l.s, t, text) && token_is(l.s, lex(&l), text);
}

/* Strings name the compiler. Those beside each other are one. */
static void add_string(text_t *out)
{
    static const char string[] = "\"\" ";
    size_t length = strlen(string);
    if (out->length < length || strcmp(out->data + out->length - length, string) != 0)
        text_add(out, string, length);
}

const char *hint_without(const char *text, size_t length, bool expects)
{
    const source_t *s = source_from("", arena_copy(text, length), length);
    lexer_t l = lexer_within(s, 0, s->length);
    text_t out = {0};
    text_add(&out, "", 0);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (is_any(s, t, calls))
            skip(&l, "(", ")");
        else if (is_doubled(l, t, "["))
            skip(&l, "[", "]"), lex(&l);
        else if (expects && is_doubled(l, t, "!"))
            lex(&l);
        else if (t.kind == TOKEN_STRING || token_is(s, t, "__VERSION__"))
            add_string(&out);
        else if (!is_any(s, t, words) &&
                 !(expects && (is_any(s, t, marks) || t.kind == TOKEN_NUMBER)))
            text_printf(&out, "%s ", token_text(s, t));
    }
    return out.data;
}

/* A pragma for the compiler, but for those that change types. */
static bool is_hint_pragma(const source_t *s)
{
    static const char *const words_of_pragmas[] = {
        "GCC",       "clang",   "omp",        "message",       "once",  "region",
        "endregion", "warning", "unroll",     "nounroll",      "ivdep", "simd",
        "acc",       "STDC",    "diagnostic", "system_header", NULL};
    lexer_t l = lexer_within(s, 1, s->length);
    return token_is(s, lex(&l), "pragma") && is_any(s, lex(&l), words_of_pragmas);
}

bool hint_is_all(const char *line, size_t length)
{
    const source_t *s = source_from("", arena_copy(line, length), length);
    size_t at = strspn(s->text, " \t");
    if (s->text[at] == '#')
        return is_hint_pragma(source_from("", s->text + at, length - at));
    const char *rest = hint_without(line, length, false);
    return rest[strspn(rest, " ;")] == 0;
}
