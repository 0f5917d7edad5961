/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An expression may ask for its line and column: by __LINE__ itself, by a macro, by
 * __builtin_LINE(), or in C++ by a call of which that is a default argument.
 */
#include "emit/place.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"

/* A call, or __builtin_LINE() and the like, which libclang shows as nothing. */
static bool is_call(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_CallExpr ||
           (kind == CXCursor_UnexposedExpr && cursor_children(c).count == 0);
}

/* A number that clang has made of __LINE__ is in no file. */
static enum CXChildVisitResult find_asking(CXCursor c, CXCursor parent, CXClientData data)
{
    bool *found = data;
    CXSourceLocation at = clang_getCursorLocation(c);
    CXFile file, spelled_file;
    unsigned offset, spelled;
    (void)parent;
    clang_getExpansionLocation(at, &file, NULL, NULL, &offset);
    clang_getSpellingLocation(at, &spelled_file, NULL, NULL, &spelled);
    bool is_from_macro = file != spelled_file || offset != spelled;
    *found |= is_from_macro && (!spelled_file || is_call(c));
    return *found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* True if a macro has written a call or a __LINE__ in the expression. */
static bool macro_may_ask(CXCursor expression)
{
    bool found = false;
    find_asking(expression, expression, &found);
    if (!found)
        clang_visitChildren(expression, find_asking, &found);
    return found;
}

/* True for a call, also of a macro, and for __LINE__. In C++, casts and lists of values may call
 * constructors. */
static bool may_ask(const unit_t *u, size_t begin, size_t end)
{
    const source_t *s = u->source;
    lexer_t l = lexer_within(s, begin, end);
    for (token_t t = lex(&l), last = {0}; t.kind != TOKEN_END; last = t, t = lex(&l)) {
        bool opens = token_is(s, t, "(") || token_is(s, t, "{"),
             constructs =
                 token_is(s, t, "{") || (token_is(s, last, ")") &&
                                         (t.kind == TOKEN_NAME || t.kind == TOKEN_NUMBER || opens));
        if (token_is(s, t, "__LINE__") || (constructs && u->lang != LANG_C) ||
            (opens && (last.kind == TOKEN_NAME || token_is(s, last, ">"))))
            return true;
    }
    return false;
}

const char *place_kept(const unit_t *u, CXCursor expression, size_t begin, size_t end)
{
    const source_t *s = u->source;
    if (!may_ask(u, begin, end) && !macro_may_ask(expression))
        return source_words(s, begin, end);
    unsigned line, column;
    source_place(s, begin, &line, &column);
    return arena_printf("\n%s\n%*s%.*s", source_line_marker(s, line), (int)column - 1, "",
                        (int)(end - begin), s->text + begin);
}
