/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an expression passes on an address, or an element of memory. Each kind of expression that is
 * known to read, to store or to pass on stands here; all others are unknown.
 */
#include "analyze/flow.h"

#include "clang/cursor.h"

/* ---- Types ---- */

static enum CXTypeKind kind_of(CXCursor c)
{
    return clang_getCanonicalType(clang_getCursorType(c)).kind;
}

bool flow_is_reference(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_LValueReference || kind == CXType_RValueReference;
}

bool flow_is_pointer(CXType type)
{
    return clang_getCanonicalType(type).kind == CXType_Pointer;
}

/* libclang shows a pointer that is computed from a parameter `float x[]` as an array. */
static bool is_decayed(CXCursor c)
{
    switch (clang_getCursorKind(c)) {
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr: return is_decayed(cursor_last_child(c));
    case CXCursor_ConditionalOperator: return is_decayed(cursor_last_child(c));
    case CXCursor_DeclRefExpr: /* a reference to an array stays one */
        return clang_getCursorKind(clang_getCursorReferenced(c)) == CXCursor_ParmDecl &&
               type_is_array(clang_getCursorType(clang_getCursorReferenced(c)));
    case CXCursor_BinaryOperator:
        return clang_getCursorBinaryOperatorKind(c) != CXBinaryOperator_Comma ||
               is_decayed(cursor_last_child(c));
    case CXCursor_UnaryOperator:
        return clang_getCursorUnaryOperatorKind(c) != CXUnaryOperator_Deref;
    case CXCursor_CompoundAssignOperator: return true;
    default: return false;
    }
}

bool flow_is_address(CXCursor c)
{
    CXType type = clang_getCursorType(c);
    return flow_is_pointer(type) || (type_is_array(type) && is_decayed(c));
}

static enum CXVisitorResult find_mutable(CXCursor field, CXClientData data)
{
    *(bool *)data |= clang_CXXField_isMutable(field);
    return CXVisit_Continue;
}

bool flow_is_constant(CXType type)
{
    bool is_const = clang_isConstQualifiedType(clang_getCanonicalType(type)), is_mutable = false;
    type = clang_getCanonicalType(type);
    while (clang_getArrayElementType(type).kind != CXType_Invalid) {
        type = clang_getCanonicalType(clang_getArrayElementType(type));
        is_const |= clang_isConstQualifiedType(type);
    }
    if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_mutable, &is_mutable);
    return is_const && !is_mutable;
}

/* ---- Conversions ---- */

bool flow_same_place(CXCursor a, CXCursor b)
{
    CXSourceRange x = clang_getCursorExtent(a), y = clang_getCursorExtent(b);
    return clang_equalLocations(clang_getRangeStart(x), clang_getRangeStart(y)) &&
           clang_equalLocations(clang_getRangeEnd(x), clang_getRangeEnd(y));
}

CXCursor flow_operand(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        CXCursor inner = cursor_first_child(c);
        if ((kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) ||
            clang_Cursor_isNull(inner))
            return c;
        c = inner;
    }
}

static effect_t pass(carried_t *carried, carried_t to)
{
    *carried = to;
    return EFFECT_NONE;
}

static effect_t end(carried_t *carried, effect_t effect)
{
    *carried = CARRIES_NOTHING;
    return effect;
}

/* True if the place takes an element itself, and not its value: a return, or the initializer of a
 * reference. */
static bool takes_elements(const place_t *p)
{
    enum CXCursorKind kind = p ? clang_getCursorKind(p->cursor) : CXCursor_InvalidFile;
    return kind == CXCursor_ReturnStmt ||
           (kind == CXCursor_VarDecl && flow_is_reference(clang_getCursorType(p->cursor)));
}

/* An implicit conversion, or another node without text of its own. */
static effect_t step_implicit(const place_t *at, carried_t *carried)
{
    const place_t *p = at->up;
    CXType type = clang_getCanonicalType(clang_getCursorType(p->cursor));
    bool dependent = type_is_dependent(type);
    if (cursor_children(p->cursor).count != 1 || !flow_same_place(p->cursor, at->cursor))
        return end(carried, EFFECT_UNKNOWN);
    if (*carried == CARRIES_METHOD || dependent)
        return EFFECT_NONE;
    if (*carried == CARRIES_ADDRESS)
        return flow_is_address(p->cursor)
                   ? EFFECT_NONE
                   : end(carried, type.kind == CXType_Bool ? EFFECT_NONE : EFFECT_UNKNOWN);
    bool was_array = type_is_array(clang_getCursorType(at->cursor));
    if (was_array && type.kind == CXType_Pointer)
        return pass(carried, CARRIES_ADDRESS);
    CXCursor called = clang_getCursorReferenced(at->cursor);
    bool converts = clang_getCursorKind(at->cursor) == CXCursor_CallExpr &&
                    clang_getCursorKind(called) == CXCursor_ConversionFunction;
    bool stays = converts || type_is_array(type) || type.kind == CXType_Record ||
                 clang_isConstQualifiedType(type) || clang_isVolatileQualifiedType(type) ||
                 clang_isRestrictQualifiedType(type) || takes_elements(p->up);
    return stays ? EFFECT_NONE : end(carried, EFFECT_READ); /* the lvalue becomes its value */
}

/* `p % 16`, which says nothing of where p points. */
static bool is_remainder(const place_t *p)
{
    while (p && (clang_getCursorKind(p->cursor) == CXCursor_ParenExpr ||
                 clang_getCursorKind(p->cursor) == CXCursor_UnexposedExpr))
        p = p->up;
    return p && clang_getCursorKind(p->cursor) == CXCursor_BinaryOperator &&
           clang_getCursorBinaryOperatorKind(p->cursor) == CXBinaryOperator_Rem;
}

/* A cast of an element is one to a reference: values are read below it. */
static effect_t step_cast(const place_t *at, carried_t *carried)
{
    enum CXTypeKind kind = kind_of(at->up->cursor);
    if (kind == CXType_Void)
        return end(carried, EFFECT_NONE);
    if (*carried != CARRIES_ADDRESS || kind == CXType_Pointer ||
        type_is_dependent(clang_getCursorType(at->up->cursor)))
        return *carried == CARRIES_METHOD ? end(carried, EFFECT_UNKNOWN) : EFFECT_NONE;
    return end(carried,
               kind == CXType_Bool || is_remainder(at->up->up) ? EFFECT_NONE : EFFECT_UNKNOWN);
}

/* ---- Operators ---- */

static effect_t step_unary(const place_t *at, carried_t *carried)
{
    bool address = *carried == CARRIES_ADDRESS;
    switch (clang_getCursorUnaryOperatorKind(at->up->cursor)) {
    case CXUnaryOperator_Deref:
        return address ? pass(carried, CARRIES_ELEMENT) : end(carried, EFFECT_UNKNOWN);
    case CXUnaryOperator_AddrOf:
        return address ? end(carried, EFFECT_UNKNOWN) : pass(carried, CARRIES_ADDRESS);
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec: return address ? EFFECT_MOVE : end(carried, EFFECT_UPDATE);
    case CXUnaryOperator_LNot: return end(carried, address ? EFFECT_NONE : EFFECT_READ);
    case CXUnaryOperator_Plus: return address ? EFFECT_NONE : end(carried, EFFECT_READ);
    case CXUnaryOperator_Minus:
    case CXUnaryOperator_Not: return end(carried, address ? EFFECT_UNKNOWN : EFFECT_READ);
    case CXUnaryOperator_Real:
    case CXUnaryOperator_Imag:
    case CXUnaryOperator_Extension: return EFFECT_NONE;
    default: return end(carried, EFFECT_UNKNOWN);
    }
}

/* Sums of an address; operands that are elements stand only in templates, where no conversion to
 * their value is seen. */
static effect_t step_arithmetic(const place_t *at, carried_t *carried)
{
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(at->up->cursor);
    if (*carried == CARRIES_ELEMENT)
        return end(carried, EFFECT_READ);
    bool sum = op == CXBinaryOperator_Add || op == CXBinaryOperator_Sub;
    if (sum &&
        (flow_is_address(at->up->cursor) || type_is_dependent(clang_getCursorType(at->up->cursor))))
        return EFFECT_NONE;
    return end(carried, sum ? EFFECT_NONE : EFFECT_UNKNOWN);
}

static effect_t step_binary(const place_t *at, carried_t *carried)
{
    bool first = at->number == 0, address = *carried == CARRIES_ADDRESS;
    switch (clang_getCursorBinaryOperatorKind(at->up->cursor)) {
    case CXBinaryOperator_Assign:
        if (first)
            return address ? EFFECT_MOVE : end(carried, EFFECT_STORE);
        return address ? EFFECT_VARIABLE : end(carried, EFFECT_READ);
    case CXBinaryOperator_Comma: return first ? end(carried, EFFECT_NONE) : EFFECT_NONE;
    case CXBinaryOperator_PtrMemD:
    case CXBinaryOperator_PtrMemI:
        return first ? pass(carried, CARRIES_ELEMENT) : end(carried, EFFECT_UNKNOWN);
    case CXBinaryOperator_LT:
    case CXBinaryOperator_GT:
    case CXBinaryOperator_LE:
    case CXBinaryOperator_GE:
    case CXBinaryOperator_EQ:
    case CXBinaryOperator_NE:
    case CXBinaryOperator_LAnd:
    case CXBinaryOperator_LOr: return end(carried, address ? EFFECT_NONE : EFFECT_READ);
    case CXBinaryOperator_Add:
    case CXBinaryOperator_Sub:
    case CXBinaryOperator_Mul:
    case CXBinaryOperator_Div:
    case CXBinaryOperator_Rem:
    case CXBinaryOperator_And:
    case CXBinaryOperator_Or:
    case CXBinaryOperator_Xor: return step_arithmetic(at, carried);
    default: return end(carried, EFFECT_UNKNOWN);
    }
}

static effect_t step_compound(const place_t *at, carried_t *carried)
{
    bool address = *carried == CARRIES_ADDRESS;
    if (at->number == 0)
        return address ? EFFECT_MOVE : end(carried, EFFECT_UPDATE);
    return end(carried, address ? EFFECT_UNKNOWN : EFFECT_READ);
}

/* ---- Members and variables ---- */

static effect_t step_member(const place_t *at, carried_t *carried)
{
    CXCursor member = clang_getCursorReferenced(at->up->cursor);
    bool called = at->up->up && clang_getCursorKind(at->up->up->cursor) == CXCursor_CallExpr;
    if (*carried == CARRIES_METHOD)
        return end(carried, EFFECT_UNKNOWN);
    switch (clang_getCursorKind(member)) {
    case CXCursor_FieldDecl:
        return flow_is_reference(clang_getCursorType(member)) ? end(carried, EFFECT_READ)
                                                              : pass(carried, CARRIES_ELEMENT);
    case CXCursor_VarDecl:
    case CXCursor_EnumConstantDecl: return end(carried, EFFECT_NONE);
    default: return pass(carried, called ? CARRIES_METHOD : CARRIES_ELEMENT);
    }
}

static effect_t step_variable(const place_t *at, carried_t *carried)
{
    CXType type = clang_getCursorType(at->up->cursor);
    bool dependent = type_is_dependent(type),
         local = clang_Cursor_getStorageClass(at->up->cursor) == CX_SC_None;
    if (flow_is_reference(type))
        return *carried == CARRIES_ELEMENT && local ? EFFECT_VARIABLE
                                                    : end(carried, EFFECT_UNKNOWN);
    if (*carried == CARRIES_ELEMENT)
        return end(carried, EFFECT_READ);
    if (clang_getCanonicalType(type).kind == CXType_Bool)
        return end(carried, EFFECT_NONE);
    return local && (dependent || flow_is_pointer(type)) ? EFFECT_VARIABLE
                                                         : end(carried, EFFECT_UNKNOWN);
}

static bool holds_references(CXType type);

static enum CXVisitorResult find_reference(CXCursor field, CXClientData data)
{
    *(bool *)data |= holds_references(clang_getCursorType(field));
    return CXVisit_Continue;
}

static bool holds_references(CXType type)
{
    bool found = false;
    type = clang_getCanonicalType(type);
    while (clang_getArrayElementType(type).kind != CXType_Invalid)
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_reference, &found);
    return found || flow_is_reference(type) || type_is_dependent(type);
}

/* True if a list in braces initializes something that copies an element's value. */
static bool copies_elements(const place_t *list, CXType element)
{
    while (list && clang_getCursorKind(list->cursor) == CXCursor_InitListExpr)
        list = list->up;
    bool value = !type_is_array(element) && !type_is_dependent(element) &&
                 clang_getCanonicalType(element).kind != CXType_Record;
    return list && value && !holds_references(clang_getCursorType(list->cursor)) &&
           clang_getCursorKind(list->cursor) != CXCursor_CallExpr;
}

/* Braces around one value, or several. */
static effect_t step_braces(const place_t *at, carried_t *carried)
{
    if (*carried == CARRIES_ELEMENT && copies_elements(at->up, clang_getCursorType(at->cursor)))
        return end(carried, EFFECT_READ);
    enum CXTypeKind kind = kind_of(at->up->cursor);
    bool one = cursor_children(at->up->cursor).count == 1 && kind != CXType_Record &&
               kind != CXType_Void && !type_is_array(clang_getCursorType(at->up->cursor));
    return one ? EFFECT_NONE : end(carried, EFFECT_UNKNOWN);
}

static effect_t step_block(const place_t *at, carried_t *carried)
{
    bool value = at->up->up && clang_getCursorKind(at->up->up->cursor) == CXCursor_StmtExpr;
    return end(carried, value ? EFFECT_UNKNOWN : EFFECT_NONE);
}

/* ---- The step ---- */

effect_t flow_step(const place_t *at, carried_t *carried)
{
    switch (clang_getCursorKind(at->up->cursor)) {
    case CXCursor_ParenExpr: return EFFECT_NONE;
    case CXCursor_UnexposedExpr: return step_implicit(at, carried);
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXFunctionalCastExpr: return step_cast(at, carried);
    case CXCursor_CallExpr: return EFFECT_CALL;
    case CXCursor_ReturnStmt: return EFFECT_RETURN;
    default: break;
    }
    if (*carried == CARRIES_METHOD)
        return end(carried, EFFECT_UNKNOWN);
    switch (clang_getCursorKind(at->up->cursor)) {
    case CXCursor_UnaryOperator: return step_unary(at, carried);
    case CXCursor_BinaryOperator: return step_binary(at, carried);
    case CXCursor_CompoundAssignOperator: return step_compound(at, carried);
    case CXCursor_ConditionalOperator:
        return at->number ? EFFECT_NONE
                          : end(carried, *carried == CARRIES_ELEMENT ? EFFECT_READ : EFFECT_NONE);
    case CXCursor_MemberRefExpr: return step_member(at, carried);
    case CXCursor_ArraySubscriptExpr:
        return *carried == CARRIES_ELEMENT && at->number ? end(carried, EFFECT_READ)
                                                         : pass(carried, CARRIES_ELEMENT);
    case CXCursor_VarDecl: return step_variable(at, carried);
    case CXCursor_InitListExpr: return step_braces(at, carried);
    case CXCursor_CompoundStmt: return step_block(at, carried);
    case CXCursor_IfStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_ForStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt: return end(carried, EFFECT_NONE);
    default: return end(carried, EFFECT_UNKNOWN);
    }
}
