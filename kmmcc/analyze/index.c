/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of an index: a sum of products of block and thread numbers with expressions of the
 * kernel's parameters.
 */
#include "analyze/index.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/token.h"
#include "clang/cursor.h"

/* ---- Indices as sums ---- */

const index_t index_unknown = {.known = false};

static const char *index_source(const infer_t *f, CXCursor c)
{
    size_t begin, end;
    return unit_range(f->u, c, &begin, &end) ? source_words(f->u->source, begin, end) : NULL;
}

static bool is_atom(const char *text)
{
    for (; *text; text++)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
              (*text >= '0' && *text <= '9') || *text == '_' || *text == '$'))
            return false;
    return true;
}

static const char *add(const char *a, const char *b, bool minus)
{
    if (!b)
        return a;
    if (!a)
        return minus ? arena_printf("-%s", b) : b;
    if (b[0] == '-' && is_atom(b + 1))
        return add(a, b + 1, !minus);
    return arena_printf("%s %c %s", a, minus ? '-' : '+', b);
}

static const char *closed(const char *text)
{
    return is_atom(text) ? text : arena_printf("(%s)", text);
}

static const char *multiply(const char *a, const char *b)
{
    if (!a || !b)
        return NULL;
    if (!strcmp(a, "1") || !strcmp(b, "1"))
        return !strcmp(a, "1") ? b : a;
    return arena_printf("%s * %s", closed(a), closed(b));
}

index_t index_constant(const char *text)
{
    return text ? (index_t){.known = true, .sum = {.constant = strcmp(text, "0") ? text : NULL}}
                : index_unknown;
}

bool index_is_constant(const index_t *v)
{
    bool moves = false;
    for (int d = 0; d < 3; d++)
        moves |= v->sum.thread[d] || v->sum.block[d];
    return v->known && v->term == TERM_SUM && !moves;
}

static index_t sum_of(index_t a, index_t b, bool minus)
{
    if (!a.known || !b.known || a.term != TERM_SUM || b.term != TERM_SUM)
        return index_unknown;
    a.sum.constant = add(a.sum.constant,
                         b.sum.constant && minus ? closed(b.sum.constant) : b.sum.constant, minus);
    for (int d = 0; d < 3; d++) {
        a.sum.thread[d] =
            add(a.sum.thread[d], b.sum.thread[d] ? closed(b.sum.thread[d]) : NULL, minus);
        a.sum.block[d] = add(a.sum.block[d], b.sum.block[d] ? closed(b.sum.block[d]) : NULL, minus);
    }
    return a;
}

static index_t product_of(index_t a, index_t b)
{
    if (!a.known || !b.known)
        return index_unknown;
    if (a.term != TERM_SUM && b.term != TERM_SUM && a.term != b.term &&
        a.dimension == b.dimension) {
        index_t v = {.known = true};
        v.sum.block[a.dimension] = "1";
        return v;
    }
    if (a.term != TERM_SUM || b.term != TERM_SUM ||
        (!index_is_constant(&a) && !index_is_constant(&b)))
        return index_unknown;
    if (!index_is_constant(&a)) {
        index_t swap = a;
        a = b;
        b = swap;
    }
    b.sum.constant = multiply(b.sum.constant, a.sum.constant);
    for (int d = 0; d < 3; d++) {
        b.sum.thread[d] = multiply(b.sum.thread[d], a.sum.constant);
        b.sum.block[d] = multiply(b.sum.block[d], a.sum.constant);
    }
    return b;
}

/* ---- Cursors ---- */

/* True if the integer type holds every value of an index, with no bits cut off. */
static bool is_wide(CXType type)
{
    return type_is_integer(type) && clang_Type_getSizeOf(clang_getCanonicalType(type)) >= 4;
}

bool index_is_same(CXCursor a, CXCursor b)
{
    CXSourceRange x = clang_getCursorExtent(a), y = clang_getCursorExtent(b);
    return clang_getCursorKind(a) == clang_getCursorKind(b) &&
           clang_equalLocations(clang_getRangeStart(x), clang_getRangeStart(y)) &&
           clang_equalLocations(clang_getRangeEnd(x), clang_getRangeEnd(y));
}

CXCursor index_operand(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        cursors_t list = cursor_children(c);
        bool cast = kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
                    kind == CXCursor_CXXFunctionalCastExpr;
        bool narrows = kind == CXCursor_UnexposedExpr && type_is_integer(clang_getCursorType(c)) &&
                       !is_wide(clang_getCursorType(c));
        if (list.count == 0 || narrows ||
            !(kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr ||
              (cast && is_wide(clang_getCursorType(c)))))
            return c;
        c = list.at[list.count - 1];
    }
}

typedef struct changes {
    CXCursor variable;
    bool found;
} changes_t;

/* True if the parent of a mention uses the variable's value, and not the variable itself. */
static bool takes_value(CXCursor mention, CXCursor parent)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(parent));
    switch (clang_getCursorKind(parent)) {
    case CXCursor_UnexposedExpr: return !clang_isVolatileQualifiedType(type);
    case CXCursor_CallExpr: /* T(i) of a template's type */
        return !clang_isExpression(clang_getCursorKind(cursor_first_child(parent)));
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: {
        bool assigns = clang_getCursorKind(parent) == CXCursor_CompoundAssignOperator ||
                       clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_Assign;
        bool comma = clang_getCursorKind(parent) == CXCursor_BinaryOperator &&
                     clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_Comma;
        return !comma && !(assigns && index_is_same(cursor_first_child(parent), mention));
    }
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr: return true;
    case CXCursor_VarDecl:
        return type.kind != CXType_LValueReference && type.kind != CXType_RValueReference;
    default: return false;
    }
}

/* Visitor: sets found if the variable may change, since more than its value is used. */
static enum CXChildVisitResult find_change(CXCursor c, CXCursor parent, CXClientData data)
{
    changes_t *x = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_LambdaExpr || kind == CXCursor_GCCAsmStmt)
        x->found = true;
    CXCursor inner = c;
    while (clang_getCursorKind(inner) == CXCursor_ParenExpr)
        inner = cursor_first_child(inner);
    if (clang_getCursorKind(inner) == CXCursor_DeclRefExpr &&
        clang_getCursorKind(parent) != CXCursor_ParenExpr &&
        clang_equalCursors(clang_getCursorReferenced(inner), x->variable) &&
        !takes_value(c, parent))
        x->found = true;
    return x->found                     ? CXChildVisit_Break
           : kind == CXCursor_UnaryExpr ? CXChildVisit_Continue /* sizeof */
                                        : CXChildVisit_Recurse;
}

static bool is_changed(const infer_t *f, CXCursor variable)
{
    changes_t x = {variable, false};
    clang_visitChildren(f->body, find_change, &x);
    return x.found;
}

/* ---- The value of an index ---- */

/* threadIdx.x and its like: known by their words, whatever headers declare them. */
static bool built_in(const char *text, index_t *v)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim"};
    size_t length = strlen(text);
    for (int k = 0; k < 3; k++) {
        size_t name = strlen(names[k]);
        if (length != name + 2 || strncmp(text, names[k], name) != 0 || text[name] != '.' ||
            text[name + 1] < 'x' || text[name + 1] > 'z')
            continue;
        int d = text[name + 1] - 'x';
        *v = (index_t){.known = true,
                       .term = k == 0   ? TERM_SUM
                               : k == 1 ? TERM_BLOCK_INDEX
                                        : TERM_BLOCK_DIM,
                       .dimension = d};
        if (k == 0)
            v->sum.thread[d] = "1";
        return true;
    }
    return false;
}

/* True if the expression begins with a variable of the kernel, whatever its name. */
static bool is_local(CXCursor c)
{
    CXCursor root = cursor_root(c);
    enum CXCursorKind kind = clang_getCursorKind(root),
                      scope = clang_getCursorKind(clang_getCursorSemanticParent(root));
    return kind == CXCursor_ParmDecl ||
           (kind == CXCursor_VarDecl &&
            (scope == CXCursor_FunctionDecl || scope == CXCursor_FunctionTemplate));
}

/* `threadIdx.x` from the cursor of a member: its words, also where a macro writes them. */
static const char *member_text(CXCursor c)
{
    CXCursor object = index_operand(cursor_first_child(c));
    bool is_member = clang_getCursorKind(c) == CXCursor_MemberRefExpr &&
                     clang_getCursorKind(object) == CXCursor_DeclRefExpr;
    return is_member ? arena_printf("%s.%s", cursor_name(object), cursor_name(c)) : NULL;
}

static index_t value_of_variable(infer_t *f, CXCursor variable)
{
    enum CXCursorKind kind = clang_getCursorKind(variable);
    CXType type = clang_getCursorType(variable);
    if (kind == CXCursor_NonTypeTemplateParameter)
        return index_constant(cursor_name(variable));
    if (!type_is_integer(type) || is_changed(f, variable))
        return index_unknown;
    if (kind == CXCursor_ParmDecl)
        return index_constant(cursor_name(variable));
    bool local = kind == CXCursor_VarDecl && clang_Cursor_getStorageClass(variable) == CX_SC_None &&
                 clang_getCursorKind(clang_getCursorSemanticParent(variable)) ==
                     clang_getCursorKind(f->n->kernel);
    cursors_t list = cursor_children(variable);
    return local && is_wide(type) && list.count &&
                   clang_isExpression(clang_getCursorKind(list.at[list.count - 1]))
               ? index_value(f, list.at[list.count - 1])
               : index_unknown;
}

/* The value of a constant expression: a number means the same at every launch, and a name may not.
 */
static bool is_number(CXCursor c, index_t *v)
{
    if (!type_is_integer(clang_getCursorType(c)))
        return false;
    CXEvalResult result = clang_Cursor_Evaluate(c);
    if (!result)
        return false;
    bool found = clang_EvalResult_getKind(result) == CXEval_Int;
    long long value = 0;
    if (found)
        value = clang_EvalResult_isUnsignedInt(result)
                    ? (long long)clang_EvalResult_getAsUnsigned(result)
                    : clang_EvalResult_getAsLongLong(result);
    if (found) /* in 32 bits, to add 4294967295 is to subtract 1 */
        *v = index_constant(arena_printf(
            "%lld", clang_Type_getSizeOf(clang_getCursorType(c)) == 4 ? (int)value : value));
    clang_EvalResult_dispose(result);
    return found;
}

index_t index_value(infer_t *f, CXCursor c)
{
    enum { DEEPEST = 64 };
    index_t v = index_unknown;
    const char *text = index_source(f, c);
    if (f->depth > DEEPEST)
        return index_unknown;
    if (is_number(c, &v) || (text && !is_local(c) && built_in(text, &v)))
        return v;
    CXCursor inner = index_operand(c);
    f->depth++;
    cursors_t list = cursor_children(inner);
    text = index_source(f, inner);
    switch (clang_getCursorKind(inner)) {
    case CXCursor_DeclRefExpr: v = value_of_variable(f, clang_getCursorReferenced(inner)); break;
    case CXCursor_BinaryOperator:
        if (list.count != 2)
            break;
        switch (clang_getCursorBinaryOperatorKind(inner)) {
        case CXBinaryOperator_Add:
            v = sum_of(index_value(f, list.at[0]), index_value(f, list.at[1]), false);
            break;
        case CXBinaryOperator_Sub:
            v = sum_of(index_value(f, list.at[0]), index_value(f, list.at[1]), true);
            break;
        case CXBinaryOperator_Mul:
            v = product_of(index_value(f, list.at[0]), index_value(f, list.at[1]));
            break;
        default: break;
        }
        break;
    default: {
        const char *member = member_text(inner);
        if (!is_local(inner) && !(member && built_in(member, &v)) && text)
            built_in(text, &v);
        break;
    }
    }
    f->depth--;
    return v;
}

const char *index_text(infer_t *f, const index_t *v)
{
    const char *text = NULL;
    if (!v->known || v->term != TERM_SUM)
        return NULL;
    for (int d = 0; d < 3; d++) {
        const char *thread = v->sum.thread[d], *block = v->sum.block[d];
        if (!thread && !block)
            continue;
        if (!thread || !block || strcmp(thread, block) != 0)
            return NULL;
        f->used[d] = true;
        text = add(text, multiply(thread, f->axis[d]), false);
    }
    return text ? add(text, v->sum.constant, false) : v->sum.constant ? v->sum.constant : "0";
}
