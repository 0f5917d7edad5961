/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of the blocks with which the file launches a kernel, where its numbers are written
 * there, and how often loops run in blocks of that size. It is a guess: other sizes are run too, by
 * code that does not know its size.
 */
#include <clang-c/Index.h>
#include <stdbool.h>
#include <string.h>

#include "clang/cursor.h"
#include "clang/unit.h"
#include "cpu/split.h"

enum { MAX_THREADS = 1024, MAX_DEPTH = 8 };

/* ---- Numbers ---- */

static bool evaluated(CXCursor c, long long *out)
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

/* `256`, `dim3(16, 16)`, and variables that begin so. */
static bool read_extent(CXCursor c, unsigned extent[3], int depth)
{
    long long value;
    children_t list = children_of(c);
    if (depth > MAX_DEPTH)
        return false;
    if (evaluated(c, &value)) {
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

/* ---- Launches ---- */

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
    if (clang_isDeclaration(clang_getCursorKind(c)) &&
        clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
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

/* ---- Loops ---- */

/* A loop's variable, and its value in some round. */
typedef struct round {
    const variable_t *variable;
    long long value;
    const unsigned *extent;
} round_t;

static const node_t *tree_stripped(const node_t *n)
{
    while (n && n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr ||
            n->kind == CXCursor_CStyleCastExpr))
        n = n->child;
    return n;
}

static bool compute(enum CXBinaryOperatorKind kind, long long a, long long b, long long *out)
{
    bool shifts = kind == CXBinaryOperator_Shl || kind == CXBinaryOperator_Shr ||
                  kind == CXBinaryOperator_ShlAssign || kind == CXBinaryOperator_ShrAssign;
    bool divides = kind == CXBinaryOperator_Div || kind == CXBinaryOperator_Rem ||
                   kind == CXBinaryOperator_DivAssign;
    if (a < -(1 << 20) || a > 1 << 20 || b < -(1 << 20) || b > 1 << 20 ||
        (shifts && (a < 0 || b < 0 || b > 20)) || (divides && b == 0))
        return false;
    switch ((int)kind) {
    case CXBinaryOperator_Add:
    case CXBinaryOperator_AddAssign: *out = a + b; return true;
    case CXBinaryOperator_Sub:
    case CXBinaryOperator_SubAssign: *out = a - b; return true;
    case CXBinaryOperator_Mul:
    case CXBinaryOperator_MulAssign: *out = a * b; return true;
    case CXBinaryOperator_Div:
    case CXBinaryOperator_DivAssign: *out = a / b; return true;
    case CXBinaryOperator_Rem: *out = a % b; return true;
    case CXBinaryOperator_Shl:
    case CXBinaryOperator_ShlAssign: *out = a << b; return true;
    case CXBinaryOperator_Shr:
    case CXBinaryOperator_ShrAssign: *out = a >> b; return true;
    case CXBinaryOperator_LT: *out = a < b; return true;
    case CXBinaryOperator_GT: *out = a > b; return true;
    case CXBinaryOperator_LE: *out = a <= b; return true;
    case CXBinaryOperator_GE: *out = a >= b; return true;
    case CXBinaryOperator_NE: *out = a != b; return true;
    default: return false;
    }
}

/* The value of an expression of numbers, the loop's variable, blockDim and variables that are made
 * of these once. */
static bool value_of(const round_t *r, const node_t *n, long long *out, int depth)
{
    n = tree_stripped(n);
    if (!n || depth > MAX_DEPTH)
        return false;
    if (n->kind == CXCursor_DeclRefExpr && n->variable == r->variable) {
        *out = r->value;
        return true;
    }
    if (evaluated(n->cursor, out))
        return true;
    if (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->storage == STORAGE_UNIFORM &&
        !n->variable->change_count && n->variable->initializer)
        return value_of(r, n->variable->initializer, out, depth + 1);
    if (n->kind == CXCursor_MemberRefExpr && n->child) {
        const node_t *base = tree_stripped(n->child);
        const char *member = clang_text(clang_getCursorSpelling(n->cursor));
        bool is_extent = base->kind == CXCursor_DeclRefExpr && !base->variable &&
                         !strcmp(clang_text(clang_getCursorSpelling(base->cursor)), "blockDim");
        if (is_extent)
            *out = r->extent[*member == 'x' ? 0 : *member == 'y' ? 1 : 2];
        return is_extent;
    }
    long long a, b;
    return n->kind == CXCursor_BinaryOperator && value_of(r, n->child, &a, depth + 1) &&
           value_of(r, n->last, &b, depth + 1) &&
           compute(clang_getCursorBinaryOperatorKind(n->cursor), a, b, out);
}

/* `width /= 2`, `k++`, `s = s / 2` */
static bool advance(round_t *r, const node_t *increment)
{
    const node_t *n = tree_stripped(increment);
    long long by;
    if (!n || !n->child || tree_stripped(n->child)->variable != r->variable)
        return false;
    if (n->kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(n->cursor);
        bool up = kind == CXUnaryOperator_PreInc || kind == CXUnaryOperator_PostInc;
        r->value += up ? 1 : -1;
        return up || kind == CXUnaryOperator_PreDec || kind == CXUnaryOperator_PostDec;
    }
    if ((n->kind != CXCursor_CompoundAssignOperator && n->kind != CXCursor_BinaryOperator) ||
        !value_of(r, n->last, &by, 0))
        return false;
    enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
    if (kind != CXBinaryOperator_Assign)
        return compute(kind, r->value, by, &r->value);
    r->value = by;
    return true;
}

/* The variable that the loop begins with, and the expression that it begins as. */
static const variable_t *begin_of(const parts_t *p, const node_t **initial)
{
    const node_t *n = p->initial ? tree_stripped(p->initial) : NULL;
    if (n && n->kind == CXCursor_DeclStmt) {
        *initial = n->child && n->child == n->last && n->child->variable
                       ? n->child->variable->initializer
                       : NULL;
        return *initial ? n->child->variable : NULL;
    }
    if (!n || n->kind != CXCursor_BinaryOperator ||
        clang_getCursorBinaryOperatorKind(n->cursor) != CXBinaryOperator_Assign)
        return NULL;
    *initial = n->last;
    return tree_stripped(n->child)->variable;
}

static bool changes_in(const variable_t *v, const node_t *body)
{
    for (int k = 0; k < v->change_count; k++)
        for (const node_t *p = v->change[k]; p; p = p->parent)
            if (p == body)
                return true;
    return false;
}

int extent_rounds(const node_t *loop, const parts_t *p, const unsigned extent[3], int most)
{
    const node_t *initial = NULL;
    round_t r = {.extent = extent};
    long long goes_on;
    const variable_t *v = loop->kind == CXCursor_ForStmt && p->condition && p->increment
                              ? begin_of(p, &initial)
                              : NULL;
    if (!v || v->escapes || changes_in(v, p->first) || !value_of(&r, initial, &r.value, 0))
        return 0;
    r.variable = v;
    for (int rounds = 0; rounds <= most; rounds++) {
        if (!value_of(&r, p->condition, &goes_on, 0))
            return 0;
        if (!goes_on)
            return rounds;
        if (!advance(&r, p->increment))
            return 0;
    }
    return 0;
}
