/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that nobody declared, where the kernel's code shows them: each use of the pointer is
 * `p[e]`, and e is a sum of global indices, parameters and constants. What is found is a
 * declaration like one that a person writes, in the names of the kernel's parameters.
 *
 * An element that a thread stores to is `write` only where every thread of the range stores: behind
 * nothing but the comparisons that give the range. Elsewhere it is `update`, which is right
 * whatever is stored.
 */
#include "analyze/infer.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "pragma/directive.h"
#include "pragma/parse.h"
#include "pragma/pragma.h"

/* ---- Indices as sums ---- */

/* constant + sum of thread[d] * threadIdx.d + block[d] * blockIdx.d * blockDim.d; NULL is 0. */
typedef struct sum {
    const char *constant, *thread[3], *block[3];
} sum_t;

/* What may be a factor of a product: a sum, or blockIdx.d or blockDim.d by itself. */
typedef enum term { TERM_SUM, TERM_BLOCK_INDEX, TERM_BLOCK_DIM } term_t;
typedef struct value {
    bool known;
    term_t term;
    int dimension;
    sum_t sum;
} value_t;

typedef struct infer {
    const unit_t *u; /* of the kernel's definition */
    const declaration_t *n;
    CXCursor body;
    bool used[3];         /* an index moves with the dimension */
    const char *range[3]; /* all that is stored is behind `index < range` */
    const char *axis[3];
    bool certain; /* the range will be what the kernel compares with */
    int depth;
} infer_t;

static const value_t unknown = {.known = false};

static const char *text_of(const infer_t *f, CXCursor c)
{
    size_t begin, end;
    return unit_range(f->u, c, &begin, &end) ? source_words(f->u->source, begin, end) : NULL;
}

static bool is_atom(const char *text)
{
    for (; *text; text++)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
              (*text >= '0' && *text <= '9') || *text == '_'))
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

static value_t constant(const char *text)
{
    return text ? (value_t){.known = true, .sum = {.constant = strcmp(text, "0") ? text : NULL}}
                : unknown;
}

static bool is_constant(const value_t *v)
{
    bool moves = false;
    for (int d = 0; d < 3; d++)
        moves |= v->sum.thread[d] || v->sum.block[d];
    return v->known && v->term == TERM_SUM && !moves;
}

static value_t sum_of(value_t a, value_t b, bool minus)
{
    if (!a.known || !b.known || a.term != TERM_SUM || b.term != TERM_SUM)
        return unknown;
    a.sum.constant = add(a.sum.constant,
                         b.sum.constant && minus ? closed(b.sum.constant) : b.sum.constant, minus);
    for (int d = 0; d < 3; d++) {
        a.sum.thread[d] =
            add(a.sum.thread[d], b.sum.thread[d] ? closed(b.sum.thread[d]) : NULL, minus);
        a.sum.block[d] = add(a.sum.block[d], b.sum.block[d] ? closed(b.sum.block[d]) : NULL, minus);
    }
    return a;
}

static value_t product_of(value_t a, value_t b)
{
    if (!a.known || !b.known)
        return unknown;
    if (a.term != TERM_SUM && b.term != TERM_SUM && a.term != b.term &&
        a.dimension == b.dimension) {
        value_t v = {.known = true};
        v.sum.block[a.dimension] = "1";
        return v;
    }
    if (a.term != TERM_SUM || b.term != TERM_SUM || (!is_constant(&a) && !is_constant(&b)))
        return unknown;
    if (!is_constant(&a)) {
        value_t swap = a;
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

/* Whether two cursors are the same expression or statement, however they were reached. */
static bool is_same(CXCursor a, CXCursor b)
{
    CXSourceRange x = clang_getCursorExtent(a), y = clang_getCursorExtent(b);
    return clang_getCursorKind(a) == clang_getCursorKind(b) &&
           clang_equalLocations(clang_getRangeStart(x), clang_getRangeStart(y)) &&
           clang_equalLocations(clang_getRangeEnd(x), clang_getRangeEnd(y));
}

static bool is_integer(CXType type)
{
    type = clang_getCanonicalType(type);
    return type.kind >= CXType_Bool && type.kind <= CXType_Int128 &&
           clang_Type_getSizeOf(type) >= 4;
}

/* Below parentheses, implicit conversions, and casts between integers that keep every index. */
static CXCursor operand_of(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        cursors_t list = cursor_children(c);
        bool cast = kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
                    kind == CXCursor_CXXFunctionalCastExpr;
        if (list.count == 0 || !(kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr ||
                                 (cast && is_integer(clang_getCursorType(c)))))
            return c;
        c = list.at[list.count - 1];
    }
}

typedef struct changes {
    CXCursor variable;
    bool found;
} changes_t;

/* Whether a variable may change: it is assigned to, or its address is taken. */
static enum CXChildVisitResult find_change(CXCursor c, CXCursor parent, CXClientData data)
{
    changes_t *x = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    bool assigns = kind == CXCursor_CompoundAssignOperator ||
                   (kind == CXCursor_BinaryOperator &&
                    clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign);
    if (kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
        assigns = op == CXUnaryOperator_AddrOf ||
                  (op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec);
    }
    cursors_t list = assigns ? cursor_children(c) : (cursors_t){0};
    CXCursor operand = assigns && list.count ? operand_of(list.at[0]) : clang_getNullCursor();
    if (assigns && clang_getCursorKind(operand) == CXCursor_DeclRefExpr &&
        clang_equalCursors(clang_getCursorReferenced(operand), x->variable))
        x->found = true;
    if (kind == CXCursor_LambdaExpr || kind == CXCursor_GCCAsmStmt)
        x->found = true;
    if (kind == CXCursor_VarDecl &&
        clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_LValueReference)
        x->found = true;
    return x->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool is_changed(const infer_t *f, CXCursor variable)
{
    changes_t x = {variable, false};
    clang_visitChildren(f->body, find_change, &x);
    return x.found;
}

/* ---- The value of an index ---- */

static value_t value_of(infer_t *f, CXCursor c);

/* threadIdx.x and its like: known by their words, whatever headers declare them. */
static bool built_in(const char *text, value_t *v)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim"};
    size_t length = strlen(text);
    for (int k = 0; k < 3; k++) {
        size_t name = strlen(names[k]);
        if (length != name + 2 || strncmp(text, names[k], name) != 0 || text[name] != '.' ||
            text[name + 1] < 'x' || text[name + 1] > 'z')
            continue;
        int d = text[name + 1] - 'x';
        *v = (value_t){.known = true,
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

static value_t value_of_variable(infer_t *f, CXCursor variable)
{
    enum CXCursorKind kind = clang_getCursorKind(variable);
    CXType type = clang_getCursorType(variable);
    CXCursor outer = kind == CXCursor_EnumConstantDecl
                         ? clang_getCursorSemanticParent(clang_getCursorSemanticParent(variable))
                         : variable;
    if (kind == CXCursor_NonTypeTemplateParameter ||
        (kind == CXCursor_EnumConstantDecl &&
         clang_getCursorKind(outer) == CXCursor_TranslationUnit))
        return constant(clang_text(clang_getCursorSpelling(variable)));
    if (!is_integer(type) || is_changed(f, variable))
        return unknown;
    if (kind == CXCursor_ParmDecl)
        return constant(clang_text(clang_getCursorSpelling(variable)));
    if (kind != CXCursor_VarDecl)
        return unknown;
    cursors_t list = cursor_children(variable);
    enum CXCursorKind scope = clang_getCursorKind(clang_getCursorSemanticParent(variable));
    if (scope == CXCursor_TranslationUnit) /* known to the host by the same name */
        return clang_isConstQualifiedType(type) && list.count == 1 &&
                       clang_isExpression(clang_getCursorKind(list.at[0]))
                   ? constant(clang_text(clang_getCursorSpelling(variable)))
                   : unknown;
    if (scope == CXCursor_Namespace || clang_Cursor_getStorageClass(variable) == CX_SC_Static)
        return unknown;
    return list.count && clang_isExpression(clang_getCursorKind(list.at[list.count - 1]))
               ? value_of(f, list.at[list.count - 1])
               : unknown;
}

static value_t value_of(infer_t *f, CXCursor c)
{
    enum { DEEPEST = 64 };
    value_t v = unknown;
    const char *text = text_of(f, c);
    if (!text || f->depth > DEEPEST)
        return unknown;
    if (built_in(text, &v))
        return v;
    CXCursor inner = operand_of(c);
    f->depth++;
    cursors_t list = cursor_children(inner);
    text = text_of(f, inner);
    switch (clang_getCursorKind(inner)) {
    case CXCursor_IntegerLiteral: v = constant(text); break;
    case CXCursor_DeclRefExpr: v = value_of_variable(f, clang_getCursorReferenced(inner)); break;
    case CXCursor_BinaryOperator:
        if (list.count != 2)
            break;
        switch (clang_getCursorBinaryOperatorKind(inner)) {
        case CXBinaryOperator_Add:
            v = sum_of(value_of(f, list.at[0]), value_of(f, list.at[1]), false);
            break;
        case CXBinaryOperator_Sub:
            v = sum_of(value_of(f, list.at[0]), value_of(f, list.at[1]), true);
            break;
        case CXBinaryOperator_Mul:
            v = product_of(value_of(f, list.at[0]), value_of(f, list.at[1]));
            break;
        default: break;
        }
        break;
    default:
        if (text && !clang_equalCursors(inner, c))
            built_in(text, &v);
        break;
    }
    f->depth--;
    return v;
}

/* The sum as words of a clause, in the names of the axes; NULL when it depends on a part of a
 * global index. */
static const char *index_text(infer_t *f, const value_t *v)
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

/* ---- The range that comparisons give ---- */

/* One comparison `index < n` of a whole global index, or `index >= n` when it leaves. */
static bool read_comparison(infer_t *f, CXCursor left, CXCursor right, const char **range)
{
    value_t index = value_of(f, left), bound = value_of(f, right);
    int found = -1;
    if (!is_constant(&bound) || !index.known || index.term != TERM_SUM || index.sum.constant)
        return false;
    for (int d = 0; d < 3; d++) {
        const char *thread = index.sum.thread[d], *block = index.sum.block[d];
        if (!thread && !block)
            continue;
        if (found >= 0 || !thread || !block || strcmp(thread, "1") || strcmp(block, "1"))
            return false;
        found = d;
    }
    const char *text = bound.sum.constant ? bound.sum.constant : "0";
    if (found < 0 || (range[found] && strcmp(range[found], text)))
        return false;
    range[found] = text;
    return true;
}

/* Whether a statement may access memory, or leave. */
typedef struct does {
    bool access, leave;
} does_t;

static enum CXChildVisitResult find_does(CXCursor c, CXCursor parent, CXClientData data)
{
    does_t *does = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    does->access |= kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_CallExpr ||
                    (kind == CXCursor_UnaryOperator &&
                     clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref);
    does->leave |= kind == CXCursor_ReturnStmt || kind == CXCursor_GotoStmt ||
                   kind == CXCursor_IndirectGotoStmt;
    return CXChildVisit_Recurse;
}

static does_t does_of(CXCursor c)
{
    does_t does = {false, false};
    find_does(c, c, &does);
    clang_visitChildren(c, find_does, &does);
    return does;
}

/* What a condition says: nothing of an index, that it is in a range and more, or just that. */
typedef enum guard { GUARD_NONE, GUARD_PART, GUARD_WHOLE } guard_t;

/* Several comparisons, joined by `&&`, or by `||` when they leave. What is accessed must stand
 * behind those of indices. */
static guard_t read_comparisons(infer_t *f, CXCursor c, bool leaves, const char **range)
{
    CXCursor inner = operand_of(c);
    cursors_t list = cursor_children(inner);
    if (clang_getCursorKind(inner) != CXCursor_BinaryOperator || list.count != 2)
        return GUARD_NONE;
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(inner);
    if (op == (leaves ? CXBinaryOperator_LOr : CXBinaryOperator_LAnd)) {
        guard_t left = read_comparisons(f, list.at[0], leaves, range);
        if (left != GUARD_WHOLE && does_of(list.at[0]).access)
            return left;
        guard_t right = read_comparisons(f, list.at[1], leaves, range);
        return left == right ? left : GUARD_PART;
    }
    bool known = op == (leaves ? CXBinaryOperator_GE : CXBinaryOperator_LT) &&
                 read_comparison(f, list.at[0], list.at[1], range);
    return known ? GUARD_WHOLE : GUARD_NONE;
}

static guard_t read_guard(infer_t *f, CXCursor c, bool leaves)
{
    const char *range[3] = {f->range[0], f->range[1], f->range[2]};
    guard_t guard = read_comparisons(f, c, leaves, range);
    if (guard != GUARD_NONE)
        memcpy(f->range, range, sizeof(range));
    return guard;
}

static bool is_return(CXCursor c)
{
    cursors_t list = cursor_children(c);
    if (clang_getCursorKind(c) == CXCursor_CompoundStmt && list.count == 1)
        return is_return(list.at[0]);
    return clang_getCursorKind(c) == CXCursor_ReturnStmt && list.count == 0;
}

/* The statements that all threads of the range run: those of the body, or of `if (index < n) { ...
 * }` that is all of it. What stands before the comparisons accesses no memory, so the range holds
 * for all accesses. */
typedef struct statements {
    CXCursor at[256];
    int count;
} statements_t;

static enum CXChildVisitResult add_statement(CXCursor c, CXCursor parent, CXClientData data)
{
    statements_t *list = data;
    (void)parent;
    if (list->count < 256)
        list->at[list->count++] = c;
    return CXChildVisit_Continue;
}

static void add_straight(infer_t *f, CXCursor block, statements_t *out, int depth)
{
    statements_t *all = arena_alloc(sizeof(*all));
    clang_visitChildren(block, add_statement, all);
    int k = 0;
    for (; k < all->count; k++) {
        CXCursor c = all->at[k];
        cursors_t list = cursor_children(c);
        bool is_if = clang_getCursorKind(c) == CXCursor_IfStmt && list.count == 2;
        if (clang_getCursorKind(c) == CXCursor_DeclStmt && !does_of(c).access)
            continue;
        guard_t guard = GUARD_NONE;
        if (is_if && is_return(list.at[1]) &&
            (guard = read_guard(f, list.at[0], true)) == GUARD_WHOLE)
            continue;
        bool last = guard == GUARD_NONE && is_if && k == all->count - 1 && depth < 4;
        if (last && (guard = read_guard(f, list.at[0], false)) == GUARD_WHOLE &&
            clang_getCursorKind(list.at[1]) == CXCursor_CompoundStmt) {
            add_straight(f, list.at[1], out, depth + 1);
            return;
        }
        if (guard == GUARD_WHOLE)
            add_statement(list.at[1], c, out);
        if (guard != GUARD_NONE)
            return; /* behind it only some threads of the range run */
        break;
    }
    for (; k < all->count; k++) {
        add_statement(all->at[k], block, out);
        if (does_of(all->at[k]).leave)
            return;
    }
}

/* ---- Uses of a pointer ---- */

typedef struct use {
    struct use *next;
    const char *index;
    bool stores, always;
} use_t;
typedef struct search {
    infer_t *f;
    CXCursor parameter;
    const statements_t *straight;
    use_t *uses;
    bool fails;
} search_t;

static bool names(const search_t *x, CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
           clang_equalCursors(clang_getCursorReferenced(c), x->parameter);
}

/* The index of `p[e]` or `*(p + e)` or `*p`; false when the cursor is none of them. */
static bool element_of(const search_t *x, CXCursor c, value_t *index)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    cursors_t list = cursor_children(c);
    if (kind == CXCursor_ArraySubscriptExpr && list.count == 2 && names(x, operand_of(list.at[0])))
        return *index = value_of(x->f, list.at[1]), true;
    if (kind != CXCursor_UnaryOperator ||
        clang_getCursorUnaryOperatorKind(c) != CXUnaryOperator_Deref || list.count != 1)
        return false;
    CXCursor inner = operand_of(list.at[0]);
    if (names(x, inner))
        return *index = constant("0"), true;
    list = cursor_children(inner);
    bool sum = clang_getCursorKind(inner) == CXCursor_BinaryOperator &&
               clang_getCursorBinaryOperatorKind(inner) == CXBinaryOperator_Add;
    if (sum && list.count == 2 && names(x, operand_of(list.at[0])))
        return *index = value_of(x->f, list.at[1]), true;
    return false;
}

static enum CXChildVisitResult find_choice(CXCursor c, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    bool logical = kind == CXCursor_BinaryOperator &&
                   (clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_LAnd ||
                    clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_LOr);
    *(bool *)data |= logical || kind == CXCursor_ConditionalOperator || kind == CXCursor_IfStmt ||
                     kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt ||
                     kind == CXCursor_SwitchStmt || kind == CXCursor_DoStmt ||
                     kind == CXCursor_LabelStmt;
    return CXChildVisit_Recurse;
}

/* Whether every thread accesses the element, so that it exists: it is in a straight statement
 * without choices. */
static bool is_certain(const search_t *x, CXCursor element)
{
    size_t begin, end, first, last;
    if (!unit_range(x->f->u, element, &begin, &end))
        return false;
    for (int k = 0; k < x->straight->count; k++) {
        bool choice = false;
        CXCursor c = x->straight->at[k];
        if (!unit_range(x->f->u, c, &first, &last) || begin < first || end > last)
            continue;
        find_choice(c, c, &choice);
        clang_visitChildren(c, find_choice, &choice);
        return !choice;
    }
    return false;
}

/* Whether the index stays in the range that the kernel's comparisons give. */
static bool is_bounded(const infer_t *f, const value_t *v)
{
    for (int d = 0; d < 3; d++)
        if ((v->sum.thread[d] || v->sum.block[d]) && !f->range[d])
            return false;
    return true;
}

static void add_use(search_t *x, CXCursor element, CXCursor parent)
{
    value_t index = unknown;
    cursors_t around = cursor_children(parent);
    bool first = around.count && is_same(around.at[0], element);
    enum CXCursorKind kind = clang_getCursorKind(parent);
    bool assigns = first && kind == CXCursor_BinaryOperator &&
                   clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_Assign;
    bool changes = first && kind == CXCursor_CompoundAssignOperator;
    enum CXTypeKind type = clang_getCanonicalType(clang_getCursorType(element)).kind;
    bool operand = (kind == CXCursor_BinaryOperator || kind == CXCursor_CompoundAssignOperator) &&
                   !assigns && !changes;
    bool initial =
        kind == CXCursor_VarDecl &&
        clang_getCanonicalType(clang_getCursorType(parent)).kind != CXType_LValueReference;
    /* An unexposed expression is the conversion of an lvalue to its value. */
    bool read = (kind == CXCursor_UnexposedExpr || operand || initial) &&
                type != CXType_ConstantArray && type != CXType_Pointer;
    if (kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(parent);
        changes = op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
    }
    element_of(x, element, &index);
    use_t *use = arena_alloc(sizeof(*use));
    *use =
        (use_t){.next = x->uses, .index = index_text(x->f, &index), .stores = assigns || changes};
    for (int k = 0; assigns && k < x->straight->count; k++)
        use->always |= is_same(x->straight->at[k], parent);
    x->fails |= !use->index || !(assigns || changes || read) ||
                !(is_bounded(x->f, &index) || is_certain(x, element));
    x->uses = use;
}

static enum CXChildVisitResult find_uses(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *x = data;
    value_t index;
    if (names(x, c)) {
        x->fails = true; /* the pointer itself, other than in an element */
    } else if (element_of(x, c, &index)) {
        add_use(x, c, parent);
        cursors_t list =
            cursor_children(c); /* what the index is made of; the pointer is done with */
        CXCursor inner = list.count ? list.at[list.count - 1] : c;
        if (list.count == 2)
            clang_visitChildren(inner, find_uses, x);
        else if (list.count == 1) {
            cursors_t sum = cursor_children(operand_of(inner));
            if (sum.count == 2)
                clang_visitChildren(sum.at[1], find_uses, x);
        }
        return CXChildVisit_Continue;
    }
    return x->fails ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* ---- The declaration ---- */

static void add_clause(text_t *out, const char *word, const char *name, const char *index)
{
    text_printf(out, " %s(%s[%s])", word, name, index);
}

/* Each index once: written if all stores to it are certain, or some is and nothing else is done
 * there. */
static void write_clauses(const search_t *x, const char *name, bool certain, text_t *out)
{
    for (const use_t *use = x->uses; use; use = use->next) {
        bool stores = false, always = false, reads = false, done = false;
        for (const use_t *k = x->uses; k != use; k = k->next)
            done |= !strcmp(k->index, use->index);
        for (const use_t *k = x->uses; k; k = k->next) {
            if (strcmp(k->index, use->index) != 0)
                continue;
            stores |= k->stores;
            always |= k->always;
            reads |= !k->stores;
        }
        if (!done)
            add_clause(out,
                       !stores                       ? "read"
                       : always && !reads && certain ? "write"
                                                     : "update",
                       name, use->index);
    }
}

static void infer_parameter(infer_t *f, int number, const statements_t *straight, text_t *out)
{
    search_t x = {.f = f, .parameter = f->n->parameter[number], .straight = straight};
    bool used[3] = {f->used[0], f->used[1], f->used[2]};
    clang_visitChildren(f->body, find_uses, &x);
    if (x.fails || !x.uses)
        memcpy(f->used, used, sizeof(used));
    else
        write_clauses(&x, f->n->name[number], f->certain, out);
}

static bool has_directive(const unit_t *u, CXCursor body)
{
    size_t begin, end;
    if (!unit_range(u, body, &begin, &end))
        return true;
    lexer_t l = lexer_at(u->source, begin, end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE &&
            strncmp(u->source->text + t.begin, "#pragma unroll", 14) != 0)
            return true;
    return false;
}

static enum CXChildVisitResult find_body(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        *(CXCursor *)data = c;
    return CXChildVisit_Continue;
}

/* Names for axes that the kernel does not use otherwise. */
static void name_axes(infer_t *f)
{
    static const char *const names[] = {"x", "y", "z"};
    for (int d = 0; d < 3; d++) {
        f->axis[d] = names[d];
        for (int k = 0; k < f->n->count; k++)
            if (!strcmp(f->n->name[k], f->axis[d]))
                f->axis[d] = arena_printf("%s_", f->axis[d]), k = -1;
    }
}

/* `declare kernel(axes) clauses` */
static directive_t *parse_inferred(const infer_t *f, const char *clauses, const source_t **source)
{
    static const char *const sources[] = {"global.x", "global.y", "global.z"};
    text_t out = {0};
    text_printf(&out, "declare kernel(");
    bool first = true;
    for (int d = 0; d < 3; d++) {
        if (!f->used[d])
            continue;
        text_printf(&out, "%s%s: %s", first ? "" : ", ", f->axis[d], sources[d]);
        if (f->range[d])
            text_printf(&out, " = 0:%s", f->range[d]);
        first = false;
    }
    text_printf(&out, ")%s", clauses);
    source_t *s = source_from("what is inferred", out.data, out.length);
    *source = s;
    return parse_directive(
        s, (pragma_t){.begin = 0, .end = s->length, .content = 0, .content_end = s->length});
}

declaration_t *infer_kernel(unit_t *main, CXCursor definition, const bool *wanted, range_t range)
{
    unit_t *u = unit_holding(main, definition);
    CXCursor body = clang_getNullCursor();
    text_t clauses = {0};
    clang_visitChildren(definition, find_body, &body);
    if (!u || clang_Cursor_isNull(body) || has_directive(u, body))
        return NULL;
    infer_t f = {.u = u,
                 .n = declaration_of_kernel(u, NULL, definition),
                 .body = body,
                 .certain = range == RANGE_INFERRED};
    statements_t *straight = arena_alloc(sizeof(*straight));
    name_axes(&f);
    add_straight(&f, body, straight, 0);
    for (int k = 0; k < f.n->count; k++)
        if (wanted[k])
            infer_parameter(&f, k, straight, &clauses);
    if (!clauses.length)
        return NULL;
    const source_t *s;
    directive_t *d = parse_inferred(&f, clauses.data, &s);
    if (!d)
        return NULL;
    declaration_t *n = declaration_of_kernel(u, d, definition);
    n->s = s;
    return n;
}
