/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out if the threads of a phase are independent, so that the compiler may vectorize over
 * them. No thread uses what another one changes, and no variable is in memory that the threads use
 * in turn.
 */
#include "cpu/loops/independence.h"

#include <string.h>

#include "base/arena.h"
#include "clang/cursor.h"
#include "cpu/loops/axis.h"
#include "cpu/loops/memory.h"
#include "cpu/tree/uniformity.h"

/* True if no variable of the statement is in memory that the threads use in turn, and the statement
 * calls no unknown function. */
static bool is_independent(const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr || n->kind == CXCursor_CXXForRangeStmt ||
        n->kind == CXCursor_GCCAsmStmt || n->kind == CXCursor_CXXNewExpr)
        return false;
    if (n->kind == CXCursor_VarDecl && n->variable &&
        (!n->variable->is_scalar || n->variable->escapes) && n->variable->storage != STORAGE_SHARED)
        return false;
    if (n->kind == CXCursor_CallExpr) {
        CXCursor f = clang_getCursorReferenced(n->cursor);
        if (clang_Cursor_isNull(f) ||
            !clang_Location_isInSystemHeader(clang_getCursorLocation(f)) ||
            memory_is_shared_atomic(n))
            return false;
    }
    for (const node_t *c = n->child; c; c = c->next)
        if (!is_independent(c))
            return false;
    return true;
}

/* Adds the types that depend on the template to e->generic. */
static void note_dependent_types(emitter_t *e, const node_t *n)
{
    CXType type = clang_getCursorType(n->cursor);
    if ((clang_isExpression(n->kind) || n->kind == CXCursor_VarDecl) &&
        clang_getCanonicalType(type).kind == CXType_Unexposed) {
        const char *name = clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
        const bool is_name = !strncmp(name, "typename ", 9) || !strpbrk(name, " <(*&[.");
        const char *known = arena_printf(", %s,", e->generic.data ? e->generic.data : "");
        if (is_name && !strstr(known, arena_printf(", %s,", name)))
            text_printf(&e->generic, "%s%s", e->generic.length ? ", " : "", name);
    }
    for (const node_t *c = n->child; c; c = c->next)
        note_dependent_types(e, c);
}

static bool is_pack(const node_t *n, const void *context)
{
    (void)context;
    return n->kind == CXCursor_DeclRefExpr && n->variable &&
           strstr(clang_text(clang_getTypeSpelling(clang_getCursorType(n->variable->cursor))),
                  "...");
}

void independence_note(emitter_t *e, const node_t *n)
{
    e->is_independent &= is_independent(n) && !tree_any(n, is_pack, NULL);
    if (e->is_independent)
        note_dependent_types(e, n);
}

/* True if adjacent threads access adjacent scalars, or all threads the same one. */
static bool is_side_by_side(const emitter_t *e, const node_t *n)
{
    return n->kind == CXCursor_ArraySubscriptExpr &&
           clang_getCanonicalType(clang_getCursorType(n->cursor)).kind != CXType_Record &&
           (axis_of(e, n->last) || uniformity_of(&e->b, n->last) == UNIFORM);
}

static void note_access(emitter_t *e, const node_t *n, bool reads, bool stores)
{
    e->has_strides |= !is_side_by_side(e, n);
    e->reads_after_store |= reads && e->has_stored;
    e->has_stored |= stores;
}

/* Visits accesses in the order in which a thread makes them. A loop's body is visited twice, since
 * it follows itself. */
void independence_note_order(emitter_t *e, const node_t *n)
{
    const enum CXBinaryOperatorKind kind =
        n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_CompoundAssignOperator
            ? clang_getCursorBinaryOperatorKind(n->cursor)
            : CXBinaryOperator_Invalid;
    const bool is_step = n->kind == CXCursor_UnaryOperator &&
                         clang_getCursorUnaryOperatorKind(n->cursor) <= CXUnaryOperator_PreDec;
    const bool is_plain = n->kind == CXCursor_BinaryOperator && kind == CXBinaryOperator_Assign;
    const node_t *target = is_plain || n->kind == CXCursor_CompoundAssignOperator || is_step
                               ? tree_stripped(n->child)
                               : NULL;
    const int rounds = tree_is_loop(n) ? 2 : 1;
    for (int k = 0; k < rounds; k++)
        for (const node_t *c = n->child; c; c = c->next)
            if (!target || tree_stripped(c) != target)
                independence_note_order(e, c);
    for (const node_t *c = target ? target->child : NULL; c; c = c->next)
        independence_note_order(e, c);
    if (target && memory_may_alias(target))
        note_access(e, target, !is_plain, true);
    else if (!target && memory_may_alias(n))
        note_access(e, n, true,
                    n->parent && n->parent->kind == CXCursor_CallExpr &&
                        clang_getCanonicalType(clang_getCursorType(n->cursor)).kind ==
                            CXType_Record);
}
