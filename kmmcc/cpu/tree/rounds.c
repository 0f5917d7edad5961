/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of rounds of a loop in blocks of a known size. kmmcc executes the loop if it is made
 * of numbers, its own variable and blockDim.
 */
#include "cpu/tree/rounds.h"

#include <string.h>

#include "clang/cursor.h"
#include "cpu/tree/extent.h"

enum { MAX_DEPTH = 8 };

/* The state of the loop's execution: the value of its variable, and the block size. */
typedef struct round {
    const variable_t *variable;
    long long value;
    const unsigned *extent;
} round_t;

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

/* Computes an expression of numbers, the loop's variable, blockDim, and variables that are
 * initialized with these and do not change. */
static bool value_of(const round_t *r, const node_t *n, long long *out, int depth)
{
    n = tree_stripped(n);
    if (!n || depth > MAX_DEPTH)
        return false;
    if (n->kind == CXCursor_DeclRefExpr && n->variable == r->variable) {
        *out = r->value;
        return true;
    }
    if (extent_evaluate(n->cursor, out))
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

/* Executes the loop's increment: `width /= 2`, `k++`, `s = s / 2`. False if it cannot. */
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

/* Returns the loop's variable; *initial gets its first value. NULL if the loop begins otherwise. */
static const variable_t *begin_of(const parts_t *p, const node_t **initial)
{
    const node_t *n = p->initial ? tree_stripped(p->initial) : NULL;
    if (n && n->kind == CXCursor_DeclStmt) {
        *initial = n->child && n->child == n->last && n->child->variable
                       ? n->child->variable->initializer
                       : NULL;
        return *initial ? n->child->variable : NULL;
    }
    if (!n || tree_operator(n) != CXBinaryOperator_Assign)
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
