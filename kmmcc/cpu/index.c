/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index variables in lambdas and classes of a kernel. They are the kernel's parameters there: a
 * lambda has to capture them, and a class uses those of all functions instead.
 */
#include "cpu/index.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "cpu/program/collectives.h"

/* The index variables are parameters there, which a lambda has to capture. */
typedef struct captured {
    const char *name[4];
    int count;
} captured_t;

static enum CXChildVisitResult find_captured(CXCursor c, CXCursor parent, CXClientData data)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    captured_t *list = data;
    (void)parent;
    const char *name = clang_getCursorKind(c) == CXCursor_DeclRefExpr
                           ? clang_text(clang_getCursorSpelling(c))
                           : "";
    for (int k = 0; k < 4; k++) {
        bool known = strcmp(name, names[k]) != 0;
        for (int i = 0; i < list->count; i++)
            known |= list->name[i] == names[k];
        if (!known)
            list->name[list->count++] = names[k];
    }
    return CXChildVisit_Recurse;
}

/* Counts the lambdas that name what they capture and use an index variable; adds it to what they
 * capture. */
enum CXChildVisitResult index_capture_edit(CXCursor c, CXCursor parent, CXClientData data)
{
    captures_t *captures = data;
    unit_t *u = captures->u;
    captured_t list = {.count = 0};
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_LambdaExpr || !unit_range(u, c, &begin, &end))
        return CXChildVisit_Recurse;
    lexer_t l = lexer_at(u->source, begin, end);
    l.line_start = false;
    token_t open = lex(&l), first = lex(&l), second = lex(&l);
    bool by_default = (token_is(u->source, first, "=") || token_is(u->source, first, "&")) &&
                      (token_is(u->source, second, ",") || token_is(u->source, second, "]"));
    clang_visitChildren(c, find_captured, &list);
    text_t names = {0};
    for (int k = 0; k < list.count && !by_default; k++)
        text_printf(&names, "%s%s", k ? ", " : "", list.name[k]);
    captures->count += names.length > 0;
    if (names.length && captures->edits)
        unit_edit(u, open.end, open.end,
                  arena_printf("%s%s", names.data, token_is(u->source, first, "]") ? "" : ", "));
    return CXChildVisit_Recurse;
}

enum CXChildVisitResult index_qualify(CXCursor c, CXCursor parent, CXClientData data)
{
    locals_t *locals = data;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    const bool is_class = kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl;
    size_t begin, end;
    (void)parent;
    if (is_class) {
        locals->depth++;
        clang_visitChildren(c, index_qualify, locals);
        locals->depth--;
        return CXChildVisit_Continue;
    }
    if (locals->depth && kind == CXCursor_DeclRefExpr &&
        text_is_one_of(clang_text(clang_getCursorSpelling(c)), index_variables) &&
        unit_range(locals->u, c, &begin, &end)) {
        locals->count++;
        if (locals->edits)
            unit_edit(locals->u, begin, begin, "::");
    }
    return CXChildVisit_Recurse;
}
