/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes that are checked at run time. A type between threadIdx and the variable may wrap, or only an
 * instance of the template tells if it is an integer. The rewritten code compares the values of the
 * variable in the block's first and last thread.
 */
#include "cpu/loops/axis_check.h"

#include <string.h>

#include "base/arena.h"
#include "cpu/loops/axis.h"
#include "cpu/loops/declarator.h"
#include "cpu/loops/edits.h"
#include "cpu/tree/uniformity.h"

/* True for types of integers, and for types that depend on a template's parameter. Integers of one
 * byte are excluded: a block may have more threads than they have values, so its first and last
 * thread do not show a wrap. */
bool axis_may_be_number(CXType type)
{
    const enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return axis_is_index_type(type) || kind == CXType_Short || kind == CXType_UShort ||
           kind == CXType_Dependent || kind == CXType_Unexposed;
}

static bool is_known_number(CXType type)
{
    const CXType canonical = clang_getCanonicalType(type);
    return canonical.kind >= CXType_Bool && canonical.kind <= CXType_LongLong;
}

/* The operand of an implicit or written conversion; NULL: the expression is no conversion. A
 * written type has a node of its own before the operand. */
static const node_t *converted(const node_t *n)
{
    switch ((int)n->kind) {
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr: return n->child == n->last ? n->child : NULL;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        return n->last && clang_isExpression(n->last->kind) ? n->last : NULL;
    default: return NULL;
    }
}

void axis_add_dependent(const emitter_t *e, const node_t *n, text_t *types)
{
    if (!is_known_number(clang_getCursorType(n->cursor)) && n->end > n->begin)
        text_printf(types, ", decltype(%s)", edits_copy_node(e, n));
}

/* Like axis_of, but a type between threadIdx and the expression may wrap, or may be no integer. */
const char *axis_possible_of(const emitter_t *e, const node_t *n, text_t *types)
{
    for (const node_t *inner = converted(n); inner; n = inner, inner = converted(n)) {
        if (!axis_may_be_number(clang_getCursorType(n->cursor)))
            return NULL;
        axis_add_dependent(e, n, types);
    }
    if (!axis_may_be_number(clang_getCursorType(n->cursor)))
        return NULL;
    axis_add_dependent(e, n, types);
    if (n->kind == CXCursor_DeclRefExpr && n->variable &&
        n->variable->storage == STORAGE_RECOMPUTED && !n->variable->is_reference)
        return axis_possible_of(e, n->variable->initializer, types);
    if (n->kind != CXCursor_BinaryOperator)
        return axis_of(e, n);
    enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
    if (kind != CXBinaryOperator_Add && kind != CXBinaryOperator_Sub)
        return NULL;
    const bool is_first = uniformity_of(&e->b, n->last) == UNIFORM;
    const node_t *other = is_first ? n->last : n->child;
    if ((!is_first && kind == CXBinaryOperator_Sub) || uniformity_of(&e->b, other) != UNIFORM ||
        !axis_may_be_number(clang_getCursorType(other->cursor)))
        return NULL;
    axis_add_dependent(e, other, types);
    return axis_possible_of(e, is_first ? n->child : n->last, types);
}

const char *axis_possible(const emitter_t *e, const variable_t *v)
{
    text_t types = {0};
    return v->initializer && axis_may_be_number(clang_getCursorType(v->cursor))
               ? axis_possible_of(e, v->initializer, &types)
               : NULL;
}

const char *axis_of_variable(const emitter_t *e, const variable_t *v)
{
    const char *axis = axis_known(e, v);
    return axis                                                   ? axis
           : v->storage == STORAGE_RECOMPUTED && !v->is_reference ? axis_possible(e, v)
                                                                  : NULL;
}

/* Returns the list of the types that must be integers for the variable to have its axis. The
 * variable's own type is the first. */
const char *axis_types(emitter_t *e, const variable_t *v)
{
    text_t types = {0};
    text_printf(&types, "kmm_host_as<%s>", declarator_type(e, v));
    axis_possible_of(e, v->initializer, &types);
    return types.data;
}

/* Adds declarations of the recomputed variables in the expression. */
static void add_recomputed(emitter_t *e, const node_t *n, text_t *out)
{
    const variable_t *v = n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
    if (v && v->storage == STORAGE_RECOMPUTED && !v->is_reference) {
        add_recomputed(e, v->initializer, out);
        const char *text = arena_printf("const kmm_host_as<%s> %s __attribute__((__unused__)) %s; ",
                                        declarator_type(e, v), v->name, declarator_suffix(e, v));
        if (!out->data || !strstr(out->data, text))
            text_add(out, text, strlen(text));
    }
    for (const node_t *c = n->child; c; c = c->next)
        add_recomputed(e, c, out);
}

/* The expression calls a lambda with the index of the block's last thread. */
const char *axis_last_value(emitter_t *e, const variable_t *v)
{
    text_t places = {0};
    add_recomputed(e, v->initializer, &places);
    const char *type = declarator_type(e, v);
    return arena_printf(
        "[&](const ::uint3 threadIdx __attribute__((__unused__))) -> kmm_host_as<%s> { "
        "%skmm_host_as<%s> kmm__value %s; return kmm__value; }"
        "(kmm_host_last_place(kmm__e))",
        type, places.data ? places.data : "", type, declarator_suffix(e, v));
}

const variable_t *axis_checked_at_run(const emitter_t *e, const node_t *n)
{
    n = tree_bare(n);
    const variable_t *v = n && n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
    return v && v->storage == STORAGE_RECOMPUTED && !v->is_reference && v->is_block_level &&
                   !axis_known(e, v) && axis_possible(e, v)
               ? v
               : NULL;
}
