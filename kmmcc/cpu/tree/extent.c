/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block size with which the file launches a kernel, if the source gives it as numbers. It is a
 * guess: blocks of other sizes run code that is made for any size.
 */
#include "cpu/tree/extent.h"

#include "clang/cursor.h"

enum { MAX_THREADS = 1024, MAX_DEPTH = 8 };

bool extent_evaluate(CXCursor c, long long *out)
{
    CXEvalResult r = clang_Cursor_Evaluate(c);
    bool is_int = r && clang_EvalResult_getKind(r) == CXEval_Int;
    if (is_int)
        *out = clang_EvalResult_getAsLongLong(r);
    if (r)
        clang_EvalResult_dispose(r);
    return is_int;
}

typedef struct children {
    CXCursor at[8];
    int count;
} children_t;

static enum CXChildVisitResult add_child(CXCursor c, CXCursor parent, CXClientData data)
{
    children_t *list = data;
    (void)parent;
    if (clang_isExpression(clang_getCursorKind(c)) && list->count < 8)
        list->at[list->count++] = c;
    return CXChildVisit_Continue;
}

static children_t children_of(CXCursor c)
{
    children_t list = {.count = 0};
    clang_visitChildren(c, add_child, &list);
    return list;
}

static bool is_constructor(CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_CallExpr &&
           clang_getCursorKind(clang_getCursorReferenced(c)) == CXCursor_Constructor;
}

/* Reads `256`, `dim3(16, 16)`, or a variable with such an initializer. */
static bool read_extent(CXCursor c, unsigned extent[3], int depth)
{
    long long value;
    children_t list = children_of(c);
    if (depth > MAX_DEPTH)
        return false;
    if (extent_evaluate(c, &value)) {
        extent[0] = value > 0 && value <= MAX_THREADS ? (unsigned)value : 0;
        extent[1] = extent[2] = 1;
        return extent[0] > 0;
    }
    CXCursor v = clang_getCursorReferenced(c);
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
        clang_getCursorKind(v) == CXCursor_VarDecl) {
        CXCursor initial = clang_Cursor_getVarDeclInitializer(v);
        return !clang_Cursor_isNull(initial) && read_extent(initial, extent, depth + 1);
    }
    if (!is_constructor(c) || list.count == 0)
        return list.count == 1 && read_extent(list.at[0], extent, depth + 1);
    if (list.count == 1)
        return read_extent(list.at[0], extent, depth + 1);
    unsigned one[3];
    extent[0] = extent[1] = extent[2] = 1;
    for (int k = 0; k < list.count && k < 3; k++) {
        if (!read_extent(list.at[k], one, depth + 1) || one[1] * one[2] != 1)
            return false;
        extent[k] = one[0];
    }
    return true;
}

typedef struct search {
    CXCursor kernel;
    unsigned *extent;
    bool found;
} search_t;

static CXCursor general(CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    return clang_getCanonicalCursor(clang_Cursor_isNull(template) ? f : template);
}

static enum CXChildVisitResult find_launch(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *s = data;
    (void)parent;
    if (cursor_is_system(c))
        return CXChildVisit_Continue;
    if (clang_getCursorKind(c) != CXCursor_CallExpr || !cursor_is_launch(c))
        return CXChildVisit_Recurse;
    CXCursor f = clang_getCursorReferenced(c);
    children_t list = children_of(c),
               configuration = list.count > 1 ? children_of(list.at[1]) : list;
    if (clang_Cursor_isNull(f) || !clang_equalCursors(general(f), s->kernel) ||
        configuration.count < 3)
        return CXChildVisit_Recurse;
    /* Behind the name of what takes the configuration: the grid, the block ... */
    s->found = read_extent(configuration.at[2], s->extent, 0) &&
               s->extent[0] * s->extent[1] * s->extent[2] <= MAX_THREADS;
    return s->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* Templates over numbers mostly make a kernel for each size: what is right for one instance could
 * not even be compiled for another. */
bool extent_find(const unit_t *main, CXCursor kernel, unsigned extent[3])
{
    search_t s = {general(kernel), extent, false};
    if (cursor_has_child(kernel, CXCursor_NonTypeTemplateParameter))
        return false;
    clang_visitChildren(clang_getTranslationUnitCursor(main->tu), find_launch, &s);
    return s.found;
}
