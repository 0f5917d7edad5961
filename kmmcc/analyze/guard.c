/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The range that a kernel's comparisons give its indices, and the statements that all threads of
 * the range run.
 */
#include "analyze/guard.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"

/* True if the text of a bound, computed in 64 bits, has the value that the kernel compares with. */
static bool is_plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!strchr("_0123456789", *c) && !((*c | 32) >= 'a' && (*c | 32) <= 'z'))
            return false;
    return true;
}

/* A bound as the kernel compares with it: a comparison of unsigned numbers makes -1 the greatest.
 */
static const char *bound_text(CXCursor right, const char *text)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(right)),
           own = clang_getCanonicalType(clang_getCursorType(index_operand(right)));
    bool is_unsigned = type.kind >= CXType_Bool && type.kind <= CXType_UInt128;
    bool was_unsigned = own.kind >= CXType_Bool && own.kind <= CXType_UInt128;
    bool number = strspn(text, "0123456789") == strlen(text);
    if (!is_unsigned || number || (was_unsigned && is_plain(text)))
        return text;
    if (clang_Type_getSizeOf(own) <= 4)
        return arena_printf("(unsigned)(%s)", text);
    return arena_printf("(%s < 0 ? 4294967295 : %s)", text, text);
}

/* The same for `index <= n`: one more, as a number of 64 bits. NULL: it may not be one. */
static const char *bound_behind(CXCursor right, const char *text)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(right)),
           own = clang_getCanonicalType(clang_getCursorType(index_operand(right)));
    bool is_unsigned = type.kind >= CXType_Bool && type.kind <= CXType_UInt128;
    if (strspn(text, "0123456789") == strlen(text))
        return arena_printf("%s + 1", text);
    if (clang_Type_getSizeOf(own) != 4)
        return NULL;
    if (is_unsigned && clang_Type_getSizeOf(type) > 4)
        return arena_printf("%s + 1", bound_text(right, text));
    return arena_printf("(%s)(%s) + 1", is_unsigned ? "unsigned" : "int", text);
}

static bool is_unsigned_type(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    return c.kind >= CXType_Bool && c.kind <= CXType_UInt128;
}

static bool names(const char *text, const char *word)
{
    const source_t *s = source_from("", text, strlen(text));
    lexer_t l = lexer_within(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(s, t, word))
            return true;
    return false;
}

/* True if the text names a parameter of the kernel that may have values which `type` has not, but
 * for negative ones, which bound_text knows. */
static bool is_narrowed(const infer_t *f, const char *text, CXType type)
{
    for (int k = 0; k < f->n->count; k++) {
        const char *name = f->n->name[k];
        CXType own = clang_getArgType(clang_getCursorType(f->instance), (unsigned)k);
        long long size = clang_Type_getSizeOf(own), most = clang_Type_getSizeOf(type);
        bool loses = size > most || (size == most && size <= 4 && is_unsigned_type(own) &&
                                     !is_unsigned_type(type));
        if (loses && type_is_integer(own) && name && names(text, name))
            return true;
    }
    return false;
}

/* The bound with the conversion to the type in which it is compared. Sums and products may be
 * converted at the end. NULL: others may not. */
static const char *converted(const infer_t *f, CXCursor right, const char *text)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(index_operand(right)));
    CXType compared = clang_getCanonicalType(clang_getCursorType(right));
    if (clang_Type_getSizeOf(compared) < clang_Type_getSizeOf(type) ||
        (clang_Type_getSizeOf(compared) == clang_Type_getSizeOf(type) &&
         !is_unsigned_type(compared)))
        type = compared;
    if (clang_Type_getSizeOf(type) > 4 || !is_narrowed(f, text, type))
        return text;
    if (clang_Type_getSizeOf(type) < 4 || strpbrk(text, "/%<>?&|^~!"))
        return NULL;
    return arena_printf("(%s)(%s)", is_unsigned_type(type) ? "unsigned" : "int", text);
}

/* One comparison `index < n` of a whole global index, or `index <= n`. */
static bool read_comparison(infer_t *f, CXCursor left, CXCursor right, bool inclusive,
                            const char **range)
{
    index_t index = index_value(f, left), bound = index_value(f, right);
    int found = -1;
    if (!index_is_constant(&bound) || !index.known || index.term != TERM_SUM || index.sum.constant)
        return false;
    for (int d = 0; d < 3; d++) {
        const char *thread = index.sum.thread[d], *block = index.sum.block[d];
        if (!thread && !block)
            continue;
        if (found >= 0 || !thread || !block || strcmp(thread, "1") || strcmp(block, "1"))
            return false;
        found = d;
    }
    const char *text = converted(f, right, bound.sum.constant ? bound.sum.constant : "0");
    if (!text)
        return false;
    text = inclusive ? bound_behind(right, text) : bound_text(right, text);
    if (found < 0 || !text || (range[found] && strcmp(range[found], text)))
        return false;
    range[found] = text;
    return true;
}

/* The possible effects of a statement: it accesses memory, or leaves the function. */
typedef struct does {
    bool access, leave;
} does_t;

static enum CXChildVisitResult find_does(CXCursor c, CXCursor parent, CXClientData data)
{
    does_t *does = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    bool arrow =
        kind == CXCursor_MemberRefExpr &&
        clang_getCanonicalType(clang_getCursorType(cursor_first_child(c))).kind == CXType_Pointer;
    does->access |= kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_CallExpr || arrow ||
                    kind == CXCursor_CXXNewExpr || kind == CXCursor_GCCAsmStmt ||
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

/* Kinds of conditions: not about an index; an index is in a range, and more; an index is in a
 * range, and nothing else. */
typedef enum guard { GUARD_NONE, GUARD_PART, GUARD_WHOLE } guard_t;

/* A comparison that must hold, or that must not when it leaves. */
static bool read_either_way(infer_t *f, CXCursor c, bool leaves, const char **range)
{
    cursors_t list = cursor_children(c);
    switch (clang_getCursorBinaryOperatorKind(c)) {
    case CXBinaryOperator_LT: /* leaving by i < n is staying by n <= i */
        return leaves ? read_comparison(f, list.at[1], list.at[0], true, range)
                      : read_comparison(f, list.at[0], list.at[1], false, range);
    case CXBinaryOperator_LE:
        return leaves ? read_comparison(f, list.at[1], list.at[0], false, range)
                      : read_comparison(f, list.at[0], list.at[1], true, range);
    case CXBinaryOperator_GT:
        return leaves ? read_comparison(f, list.at[0], list.at[1], true, range)
                      : read_comparison(f, list.at[1], list.at[0], false, range);
    case CXBinaryOperator_GE:
        return leaves ? read_comparison(f, list.at[0], list.at[1], false, range)
                      : read_comparison(f, list.at[1], list.at[0], true, range);
    default: return false;
    }
}

/* Several comparisons, joined by `&&`, or by `||` when they leave. What is accessed must stand
 * behind those of indices. */
static guard_t read_comparisons(infer_t *f, CXCursor c, bool leaves, const char **range)
{
    CXCursor inner = index_operand(c);
    cursors_t list = cursor_children(inner);
    if (clang_getCursorKind(inner) == CXCursor_UnaryOperator && list.count == 1 &&
        clang_getCursorUnaryOperatorKind(inner) == CXUnaryOperator_LNot)
        return read_comparisons(f, list.at[0], !leaves, range);
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
    return read_either_way(f, inner, leaves, range) ? GUARD_WHOLE : GUARD_NONE;
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

static enum CXChildVisitResult guard_add_statement(CXCursor c, CXCursor parent, CXClientData data)
{
    statements_t *list = data;
    (void)parent;
    if (list->count < 256)
        list->at[list->count++] = c;
    return CXChildVisit_Continue;
}

/* Adds a statement that all threads of the range run to its end. False: some threads leave in it.
 */
static bool add_straight(statements_t *out, CXCursor c)
{
    if (does_of(c).leave)
        return false;
    guard_add_statement(c, c, out);
    return true;
}

void guard_straight(infer_t *f, CXCursor block, statements_t *out, int depth)
{
    statements_t *all = arena_alloc(sizeof(*all));
    clang_visitChildren(block, guard_add_statement, all);
    int k = 0;
    for (; k < all->count; k++) {
        CXCursor c = all->at[k];
        cursors_t list = cursor_children(c);
        bool is_if = clang_getCursorKind(c) == CXCursor_IfStmt && list.count == 2;
        does_t does = does_of(c);
        if (clang_getCursorKind(c) == CXCursor_DeclStmt && !does.access && !does.leave)
            continue;
        guard_t guard = GUARD_NONE;
        if (is_if && is_return(list.at[1]) &&
            (guard = read_guard(f, list.at[0], true)) == GUARD_WHOLE)
            continue;
        bool last = guard == GUARD_NONE && is_if && k == all->count - 1 && depth < 4;
        if (last && (guard = read_guard(f, list.at[0], false)) == GUARD_WHOLE &&
            clang_getCursorKind(list.at[1]) == CXCursor_CompoundStmt) {
            guard_straight(f, list.at[1], out, depth + 1);
            return;
        }
        if (guard == GUARD_WHOLE)
            add_straight(out, list.at[1]);
        if (guard != GUARD_NONE)
            return; /* behind it only some threads of the range run */
        break;
    }
    while (k < all->count && add_straight(out, all->at[k]))
        k++;
}
