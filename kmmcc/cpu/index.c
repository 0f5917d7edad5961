/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index variables in the lambdas and classes of a kernel. A function for one thread has the index
 * variables as parameters. A lambda in it must capture them, and a class in it names the variables
 * of all functions instead (`::threadIdx`).
 */
#include "cpu/index.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "cpu/program/collectives.h"

typedef struct search {
    unit_t *u;
    bool edits;
    int class_depth, count;
} search_t;

/* Adds the index variables that an expression names, each once, in the order of their use. */
static enum CXChildVisitResult find_captured(CXCursor c, CXCursor parent, CXClientData data)
{
    list_t *found = data;
    (void)parent;
    const char *name = clang_getCursorKind(c) == CXCursor_DeclRefExpr
                           ? clang_text(clang_getCursorSpelling(c))
                           : "";
    if (collectives_is_index_variable(name) && !(found->count && text_is_one_of(name, found->item)))
        list_add(found, name);
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_lambda(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *captures = data;
    unit_t *u = captures->u;
    list_t list = {0};
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_LambdaExpr || !unit_range(u, c, &begin, &end))
        return CXChildVisit_Recurse;
    lexer_t l = lexer_within(u->source, begin, end);
    token_t open = lex(&l), first = lex(&l), second = lex(&l);
    bool by_default = (token_is(u->source, first, "=") || token_is(u->source, first, "&")) &&
                      (token_is(u->source, second, ",") || token_is(u->source, second, "]"));
    clang_visitChildren(c, find_captured, &list);
    text_t names = {0};
    for (int k = 0; k < list.count && !by_default; k++)
        text_printf(&names, "%s%s", k ? ", " : "", list.item[k]);
    captures->count += names.length > 0;
    if (names.length && captures->edits)
        unit_edit(u, open.end, open.end,
                  arena_printf("%s%s", names.data, token_is(u->source, first, "]") ? "" : ", "));
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_in_class(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *classes = data;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    const bool is_class = kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl;
    size_t begin, end;
    (void)parent;
    if (is_class) {
        classes->class_depth++;
        clang_visitChildren(c, find_in_class, classes);
        classes->class_depth--;
        return CXChildVisit_Continue;
    }
    if (classes->class_depth && kind == CXCursor_DeclRefExpr &&
        collectives_is_index_variable(clang_text(clang_getCursorSpelling(c))) &&
        unit_range(classes->u, c, &begin, &end)) {
        classes->count++;
        if (classes->edits)
            unit_edit(classes->u, begin, begin, "::");
    }
    return CXChildVisit_Recurse;
}

static int visit(unit_t *u, CXCursor body, CXCursorVisitor visitor, bool edits)
{
    search_t s = {.u = u, .edits = edits};
    clang_visitChildren(body, visitor, &s);
    return s.count;
}

int index_count_captures(unit_t *u, CXCursor body)
{
    return visit(u, body, find_lambda, false);
}

void index_edit_captures(unit_t *u, CXCursor body)
{
    visit(u, body, find_lambda, true);
}

int index_count_qualified(unit_t *u, CXCursor body)
{
    return visit(u, body, find_in_class, false);
}

void index_edit_qualified(unit_t *u, CXCursor body)
{
    visit(u, body, find_in_class, true);
}

static enum CXChildVisitResult refuse_variable(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *u = data;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    const char *name = clang_text(clang_getCursorSpelling(c));
    size_t begin, end;
    (void)parent;
    if ((kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) &&
        collectives_is_index_variable(name) && unit_range(u, c, &begin, &end))
        diag_at(SEVERITY_ERROR, u->source, begin, end,
                "'%s' is the name of CUDA's own variable, which the CPU target declares in each "
                "kernel and device function; call this one otherwise",
                name);
    return CXChildVisit_Recurse;
}

void index_refuse_hidden(unit_t *u, CXCursor function)
{
    clang_visitChildren(function, refuse_variable, u);
}
