/* SPDX-License-Identifier: Apache-2.0 */
/* What the code of a kernel or function does with what its pointers point to, where that is simple
 * to see. */
#include "analyze/uses.h"

#include <string.h>

#include "clang/cursor.h"

typedef struct walk {
    CXCursor parameter;
    uses_t uses;
} walk_t;

/* Below parentheses and conversions. */
static CXCursor operand_of(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr)
            return c;
        CXCursor inner = cursor_first_child(c);
        if (clang_Cursor_isNull(inner))
            return c;
        c = inner;
    }
}

static CXCursor first_of(CXCursor c)
{
    CXCursor child = cursor_first_child(c);
    return clang_Cursor_isNull(child) ? child : operand_of(child);
}

static bool is_pointer(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_Pointer || kind == CXType_LValueReference;
}

static bool begins_with(const walk_t *w, CXCursor e)
{
    return !clang_Cursor_isNull(e) && clang_equalCursors(cursor_root(e), w->parameter);
}

static bool is_element(CXCursor e)
{
    enum CXCursorKind kind = clang_getCursorKind(e);
    return kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_MemberRefExpr ||
           (kind == CXCursor_UnaryOperator &&
            clang_getCursorUnaryOperatorKind(e) == CXUnaryOperator_Deref);
}

/* Elements behind the pointer, and not the pointer itself, nor what an element points to. */
static bool is_behind(const walk_t *w, CXCursor e)
{
    if (!is_element(e) || !begins_with(w, e))
        return false;
    for (CXCursor base = first_of(e); !clang_Cursor_isNull(base); base = first_of(base))
        if (is_element(base) &&
            clang_getCanonicalType(clang_getCursorType(base)).kind == CXType_Pointer &&
            clang_getCanonicalType(
                clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(w->parameter))))
                    .kind == CXType_Pointer)
            return false;
    return true;
}

static void note(CXCursor *where, CXCursor c)
{
    if (clang_Cursor_isNull(*where))
        *where = c;
}

static bool points_to_const(CXType type)
{
    return clang_isConstQualifiedType(
        clang_getCanonicalType(clang_getPointeeType(clang_getCanonicalType(type))));
}

/* What other threads have added is in what it returns. */
static bool is_addition(const char *name)
{
    return !strncmp(name, "atomicAdd", 9) || !strncmp(name, "atomicSub", 9) ||
           !strncmp(name, "atomicInc", 9) || !strncmp(name, "atomicDec", 9) ||
           !strncmp(name, "__nv_atomic_fetch_add", 21) || !strncmp(name, "__nv_atomic_add", 15);
}

/* The pointer, or one made of it, goes where it is not followed, unless only to be read there. */
static void visit_call(walk_t *w, CXCursor call, CXCursor parent)
{
    enum CXCursorKind around = clang_getCursorKind(parent);
    bool comma = around == CXCursor_BinaryOperator &&
                 clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_Comma;
    bool used =
        (clang_isExpression(around) && around != CXCursor_CStyleCastExpr && !comma) ||
        around == CXCursor_VarDecl || around == CXCursor_ReturnStmt ||
        (around == CXCursor_CStyleCastExpr && clang_getCursorType(parent).kind != CXType_Void);
    const char *name = cursor_name(call);
    CXType function = clang_getCanonicalType(clang_getCursorType(clang_getCursorReferenced(call)));
    int count = clang_Cursor_getNumArguments(call), declared = clang_getNumArgTypes(function);
    for (int k = 0; k < count; k++) {
        CXCursor argument = clang_Cursor_getArgument(call, (unsigned)k);
        bool reads = k < declared && points_to_const(clang_getArgType(function, (unsigned)k));
        if (!is_pointer(clang_getCursorType(argument)) || !begins_with(w, argument) || reads)
            continue;
        bool atomic = (!strncmp(name, "atomic", 6) || !strncmp(name, "__nv_atomic_", 12)) && k == 0;
        note(atomic ? &w->uses.updated : &w->uses.escaped, call);
        if (atomic && used && is_addition(name))
            note(&w->uses.result, call);
    }
}

static void visit_change(walk_t *w, CXCursor c, CXCursor *where)
{
    CXCursor operand = first_of(c);
    if (is_behind(w, operand))
        note(where, c);
    else if (begins_with(w, operand))
        note(&w->uses.escaped, c); /* the pointer moves */
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t *w = data;
    switch (clang_getCursorKind(c)) {
    case CXCursor_BinaryOperator:
        if (clang_getCursorBinaryOperatorKind(c) != CXBinaryOperator_Assign)
            break;
        visit_change(w, c, &w->uses.stored);
        if (is_pointer(clang_getCursorType(c)) && begins_with(w, cursor_last_child(c)))
            note(&w->uses.escaped, c);
        break;
    case CXCursor_CompoundAssignOperator: visit_change(w, c, &w->uses.updated); break;
    case CXCursor_UnaryOperator:
        if (clang_getCursorUnaryOperatorKind(c) >= CXUnaryOperator_PostInc &&
            clang_getCursorUnaryOperatorKind(c) <= CXUnaryOperator_PreDec)
            visit_change(w, c, &w->uses.updated);
        break;
    case CXCursor_VarDecl:
        if (is_pointer(clang_getCursorType(c)) && !points_to_const(clang_getCursorType(c)) &&
            begins_with(w, cursor_last_child(c)))
            note(&w->uses.escaped, c);
        break;
    case CXCursor_CallExpr: visit_call(w, c, parent); break;
    case CXCursor_LambdaExpr:
    case CXCursor_GCCAsmStmt:
    case CXCursor_CXXForRangeStmt: note(&w->uses.escaped, c); break;
    default: break;
    }
    return CXChildVisit_Recurse;
}

bool uses_find(CXCursor definition, CXCursor parameter, uses_t *out)
{
    CXCursor none = clang_getNullCursor();
    walk_t w = {parameter, {none, none, none, none}};
    if (clang_Cursor_isNull(definition) || clang_Cursor_isNull(parameter))
        return false;
    CXCursor body = cursor_body(definition);
    if (clang_Cursor_isNull(body))
        return false;
    clang_visitChildren(body, visit, &w);
    *out = w.uses;
    return true;
}

/* ---- Pointers that a kernel finds in memory ---- */

static enum CXVisitorResult find_pointer_field(CXCursor field, CXClientData data)
{
    *(bool *)data |= uses_holds_pointers(clang_getCursorType(field));
    return *(bool *)data ? CXVisit_Break : CXVisit_Continue;
}

bool uses_holds_pointers(CXType type)
{
    bool found = false;
    type = clang_getCanonicalType(type);
    while (clang_getArrayElementType(type).kind != CXType_Invalid)
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_pointer_field, &found);
    enum CXTypeKind pointee = clang_getCanonicalType(clang_getPointeeType(type)).kind;
    return found || (type.kind == CXType_Pointer && pointee != CXType_FunctionProto &&
                     pointee != CXType_FunctionNoProto);
}
