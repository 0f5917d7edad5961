/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of reductions against the atomic operations of kernels. */
#include "analyze/check_operator.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/check_argument.h"
#include "analyze/check_section.h"
#include "analyze/flow.h"
#include "base/arena.h"
#include "clang/cursor.h"
#include "kmm/launch.h"

/* The operators by which partial results of an atomic operation can be combined. */
static const struct {
    const char *name, *word;
    unsigned ops;
} atomics[] = {
    {"atomicAdd", "+", 1u << KMM_OP_ADD},
    {"atomicSub", "+", 1u << KMM_OP_ADD},
    {"atomicMin", "min", 1u << KMM_OP_MIN},
    {"atomicMax", "max", 1u << KMM_OP_MAX},
    {"atomicAnd", "&", 1u << KMM_OP_BAND | 1u << KMM_OP_LAND},
    {"atomicOr", "|", 1u << KMM_OP_BOR | 1u << KMM_OP_LOR},
    {"atomicXor", "^", 1u << KMM_OP_BXOR},
    {"atomicExch", NULL, 0}, /* no operator combines what these leave */
    {"atomicInc", NULL, 0},
    {"atomicDec", NULL, 0},
};

typedef struct search {
    const directive_t *d;
    const item_t *item;
    CXCursor parameter, found;
    int argument; /* the parameter's number */
    bool is_base; /* the argument is the item's base */
    bool moves;   /* the kernel may change the parameter */
    kmm_op_t op;
    CXType element; /* of the item */
    const char *word, *name;
    bool is_type; /* what is found is of another type */
} search_t;

static bool is_unsigned(CXType t)
{
    return t.kind == CXType_UInt || t.kind == CXType_ULong || t.kind == CXType_ULongLong ||
           t.kind == CXType_UShort || t.kind == CXType_UChar;
}

/* False: numbers of both types do not have the same bytes, or do not combine alike. Nothing is said
 * of other types, such as half precision. */
static bool combines_alike(CXType a, CXType b, kmm_op_t op)
{
    bool ordered = op == KMM_OP_MIN || op == KMM_OP_MAX;
    bool a_real = a.kind == CXType_Float || a.kind == CXType_Double,
         b_real = b.kind == CXType_Float || b.kind == CXType_Double;
    if (!(a_real || type_is_integer(a)) || !(b_real || type_is_integer(b)))
        return true;
    return clang_Type_getSizeOf(a) == clang_Type_getSizeOf(b) && a_real == b_real &&
           (!ordered || is_unsigned(a) == is_unsigned(b));
}

/* The pointer of an atomic operation: `p`, `p + e`, `&p[e]`, also in casts. An index that is read
 * through the parameter is none. */
static bool is_about(CXCursor pointer, CXCursor parameter)
{
    for (;;) {
        cursors_t list = cursor_children(pointer);
        if (clang_getCursorKind(pointer) == CXCursor_DeclRefExpr)
            return clang_equalCursors(clang_getCursorReferenced(pointer), parameter);
        if (list.count == 0)
            return false;
        bool cast = clang_getCursorKind(pointer) == CXCursor_CStyleCastExpr ||
                    clang_getCursorKind(pointer) == CXCursor_CXXReinterpretCastExpr;
        pointer = list.at[cast ? list.count - 1 : 0];
    }
}

/* ---- Several items of one parameter ---- */

/* The one argument that leads to the item; -1: none, or several. */
static int argument_of(const directive_t *d, const item_t *item)
{
    int found = -1;
    for (int k = 0; k < d->argument_count; k++) {
        if (!cursor_is_related(d->argument[k], item->base->cursor))
            continue;
        if (found >= 0)
            return -1;
        found = k;
    }
    return found;
}

/* True if the argument is the variable that is the item's base. */
static bool is_base(const directive_t *d, int argument, const item_t *item)
{
    CXCursor a = flow_operand(d->argument[argument]), b = flow_operand(item->base->cursor);
    return clang_getCursorKind(a) == CXCursor_DeclRefExpr &&
           clang_getCursorKind(b) == CXCursor_DeclRefExpr &&
           clang_equalCursors(clang_getCursorReferenced(a), clang_getCursorReferenced(b));
}

static enum CXChildVisitResult find_change(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *x = data;
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(c);
    enum CXUnaryOperatorKind one = clang_getCursorUnaryOperatorKind(c);
    bool changes = kind == CXCursor_CompoundAssignOperator ||
                   clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign ||
                   one == CXUnaryOperator_PostInc || one == CXUnaryOperator_PreInc ||
                   one == CXUnaryOperator_PostDec || one == CXUnaryOperator_PreDec ||
                   one == CXUnaryOperator_AddrOf;
    cursors_t parts = {0};
    if (changes)
        parts = cursor_children(c);
    if (parts.count &&
        clang_equalCursors(clang_getCursorReferenced(flow_operand(parts.at[0])), x->parameter))
        x->moves = true;
    return x->moves ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* The element of the parameter that an atomic operation's pointer, `p`, `p + 1` or `&p[1]`, is of.
 * False: it is not known. */
static bool element_of(const search_t *x, CXCursor pointer, long long *element)
{
    CXCursor c = flow_operand(pointer);
    cursors_t list = cursor_children(c);
    CXType of = type_pointee(clang_getCanonicalType(clang_getCursorType(pointer)));
    if (clang_Type_getSizeOf(of) != clang_Type_getSizeOf(x->element))
        return false;
    switch (clang_getCursorKind(c)) {
    case CXCursor_DeclRefExpr:
        *element = 0;
        return !x->moves && clang_equalCursors(clang_getCursorReferenced(c), x->parameter);
    case CXCursor_UnaryOperator: {
        CXCursor part = list.count ? flow_operand(list.at[0]) : c;
        cursors_t parts = cursor_children(part);
        return clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf &&
               clang_getCursorKind(part) == CXCursor_ArraySubscriptExpr && parts.count == 2 &&
               element_of(x, parts.at[0], element) && *element == 0 &&
               cursor_evaluates_to(parts.at[1], element);
    }
    case CXCursor_BinaryOperator:
        return clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Add && list.count == 2 &&
               element_of(x, list.at[0], element) && *element == 0 &&
               cursor_evaluates_to(list.at[1], element);
    default: return false;
    }
}

/* True if the operation is certainly on other elements than the item's. */
static bool is_beside(const search_t *x, CXCursor pointer)
{
    long long element, first, count;
    return x->is_base && section_is_fixed(x->item, &first, &count) &&
           element_of(x, pointer, &element) && (element < first || element >= first + count);
}

/* True if the operation may be on an element of another item, whose operator fits. */
static bool is_of_another(const search_t *x, CXCursor pointer, unsigned ops)
{
    for (int k = 0; k < x->d->item_count; k++) {
        const item_t *other = &x->d->item[k];
        search_t y = *x;
        y.item = other;
        if (other == x->item || other->mode != KMM_REDUCE || !(ops >> other->op & 1))
            continue;
        const int argument = argument_of(x->d, other);
        y.is_base = x->is_base && argument == x->argument && is_base(x->d, argument, other);
        if ((argument < 0 || argument == x->argument) && !is_beside(&y, pointer))
            return true;
    }
    return false;
}

static enum CXChildVisitResult find_atomic(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *x = data;
    (void)parent;
    const char *name = clang_getCursorKind(c) == CXCursor_CallExpr ? cursor_name(c) : "";
    for (size_t k = 0; k < sizeof(atomics) / sizeof(*atomics); k++) {
        size_t length = strlen(atomics[k].name);
        if (strncmp(name, atomics[k].name, length) != 0 ||
            (name[length] && strcmp(name + length, "_block") != 0 &&
             strcmp(name + length, "_system") != 0) ||
            clang_Cursor_getNumArguments(c) < 2 ||
            !is_about(clang_Cursor_getArgument(c, 0), x->parameter))
            continue;
        CXType combined = type_pointee(
            clang_getCanonicalType(clang_getCursorType(clang_Cursor_getArgument(c, 0))));
        x->is_type = (atomics[k].ops >> x->op & 1);
        if (x->is_type && combines_alike(clang_getCanonicalType(combined), x->element, x->op))
            continue;
        long long element;
        CXCursor pointer = clang_Cursor_getArgument(c, 0);
        if (is_beside(x, pointer) || (!(x->is_base && element_of(x, pointer, &element)) &&
                                      is_of_another(x, pointer, atomics[k].ops)))
            continue;
        x->found = c;
        x->name = atomics[k].name;
        x->word = atomics[k].word;
        return CXChildVisit_Break;
    }
    return CXChildVisit_Recurse;
}

static const char *word_of(kmm_op_t op)
{
    static const char *const words[] = {"+", "*",  "min", "max",    "&",     "|",
                                        "^", "&&", "||",  "argmin", "argmax"};
    return words[op];
}

static void check_item(unit_t *u, const directive_t *d, const item_t *item, CXCursor parameter,
                       int argument)
{
    search_t x = {.d = d,
                  .item = item,
                  .parameter = parameter,
                  .found = clang_getNullCursor(),
                  .argument = argument,
                  .is_base = is_base(d, argument, item),
                  .op = item->op};
    x.element = clang_getCanonicalType(item->base->type);
    for (x.element = type_pointee(x.element); type_is_array(x.element);)
        x.element = type_pointee(x.element);
    x.element = clang_getCanonicalType(x.element);
    clang_visitChildren(cursor_body(d->definition), find_change, &x);
    clang_visitChildren(cursor_body(d->definition), find_atomic, &x);
    if (clang_Cursor_isNull(x.found))
        return;
    const char *text = unit_words(u, item->begin, item->end);
    if (x.is_type)
        unit_error(
            u, item->begin, item->end,
            "'%s' is reduced as elements of another type than those that '%s' combines; name "
            "it by a pointer of that type",
            text, d->callee_name);
    else if (!x.word)
        unit_error(u, item->begin, item->end,
                   "'%s' is reduced by %s here, but '%s' changes it by %s, which no reduction "
                   "combines; call it without the pragma",
                   text, word_of(item->op), d->callee_name, x.name);
    else
        unit_error(u, item->begin, item->end,
                   "'%s' is reduced by %s here, but '%s' combines it by %s; say reduce(%s: %s)",
                   text, word_of(item->op), d->callee_name, x.word, x.word, text);
    check_note(u, x.found, "it does so here");
}

void check_operators(unit_t *u, const directive_t *d)
{
    if (!d->is_kernel || d->target_count != 1 || clang_Cursor_isNull(d->definition) ||
        clang_Cursor_isNull(cursor_body(d->definition)))
        return;
    const parameter_list_t *p = check_parameters(d->definition);
    for (int i = 0; i < d->item_count; i++) {
        int number = d->item[i].mode == KMM_REDUCE ? argument_of(d, &d->item[i]) : -1;
        if (number >= 0 && number < p->count)
            check_item(u, d, &d->item[i], p->at[number], number);
    }
}
