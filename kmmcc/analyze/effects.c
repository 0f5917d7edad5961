/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out if an expression has side effects. One with side effects cannot be repeated. */
#include "analyze/effects.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "clang/cursor.h"

typedef struct effects {
    CXCursor function; /* whose body is looked at; null: an expression of the program is */
    int depth;         /* of calls */
    bool is_open;      /* what depends on a template may be pure */
    bool found;
} effects_t;

static bool function_has_effects(CXCursor f, int depth);
static bool class_has_effects(CXType type, enum CXCursorKind special, int depth);
static bool has_effects(CXCursor c, int depth);

/* ---- Changes ---- */

static bool is_reference(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_LValueReference || kind == CXType_RValueReference;
}

/* True for a variable that each call of the function has of its own. What a lambda captures is a
 * variable of the function around it. */
static bool is_own_variable(const effects_t *e, CXCursor v)
{
    enum CXCursorKind kind = clang_getCursorKind(v);
    bool local = kind == CXCursor_ParmDecl ||
                 (kind == CXCursor_VarDecl && clang_getCursorTLSKind(v) == CXTLS_None &&
                  clang_Cursor_getStorageClass(v) == CX_SC_None);
    return local && !clang_Cursor_isNull(e->function) && !is_reference(clang_getCursorType(v)) &&
           clang_equalLocations(clang_getCursorLocation(clang_getCursorSemanticParent(v)),
                                clang_getCursorLocation(e->function));
}

static CXCursor without_casts(CXCursor c)
{
    while (clang_getCursorKind(c) == CXCursor_UnexposedExpr ||
           clang_getCursorKind(c) == CXCursor_ParenExpr)
        c = cursor_last_child(c);
    return c;
}

/* True if the lvalue is an own variable, or a member or an element of one. A constructor's own
 * object is such a variable. */
static bool is_own(const effects_t *e, CXCursor c)
{
    for (;; c = cursor_first_child(c)) {
        c = without_casts(c);
        CXCursor named = clang_getCursorReferenced(c), inner = cursor_first_child(c);
        switch (clang_getCursorKind(c)) {
        case CXCursor_DeclRefExpr: return is_own_variable(e, named);
        case CXCursor_MemberRefExpr:
            if (clang_getCursorKind(named) != CXCursor_FieldDecl ||
                is_reference(clang_getCursorType(named)))
                return false;
            if (!clang_isExpression(clang_getCursorKind(inner)) ||
                clang_getCursorKind(inner) == CXCursor_CXXThisExpr)
                return clang_getCursorKind(e->function) == CXCursor_Constructor;
            if (clang_getCanonicalType(clang_getCursorType(inner)).kind == CXType_Pointer)
                return false;
            break;
        case CXCursor_ArraySubscriptExpr:
            if (!type_is_array(clang_getCursorType(without_casts(inner))))
                return false;
            break;
        default: return false;
        }
    }
}

static bool changes_something(const effects_t *e, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool changes = kind == CXCursor_CompoundAssignOperator;
    if (kind == CXCursor_BinaryOperator)
        changes = clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign;
    if (kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
        changes = op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
    }
    return changes && !is_own(e, cursor_first_child(c));
}

/* True for the value of what another thread or a device may change between two evaluations: a
 * volatile variable, or one of std::atomic. */
static bool is_unsteady(CXCursor c, CXCursor parent)
{
    CXCursor f = clang_getCursorReferenced(c);
    const CXType t = clang_getCanonicalType(clang_getCursorType(c));
    const bool is_address =
        type_is_array(t) || (clang_getCursorKind(parent) == CXCursor_UnaryOperator &&
                             clang_getCursorUnaryOperatorKind(parent) == CXUnaryOperator_AddrOf);
    const char *of = clang_getCursorKind(c) == CXCursor_CallExpr && !clang_Cursor_isNull(f)
                         ? cursor_name(clang_getCursorSemanticParent(f))
                         : "";
    return (clang_isExpression(clang_getCursorKind(c)) && !is_address &&
            clang_isVolatileQualifiedType(t)) ||
           !strcmp(of, "atomic") || !strcmp(of, "__atomic_base") || !strcmp(of, "atomic_ref");
}

/* True for an atomic operation: libclang shows one as several operands of nothing. */
static bool is_atomic(CXCursor c)
{
    cursors_t list = cursor_children(c);
    int operands = 0;
    for (int k = 0; k < list.count; k++)
        operands += clang_isExpression(clang_getCursorKind(list.at[k])) != 0;
    return clang_getCursorKind(c) == CXCursor_UnexposedExpr && operands > 1;
}

/* True for a loop over an object of the program, whose iterators libclang does not show. */
static bool iterates(CXCursor c)
{
    cursors_t list = cursor_children(c);
    bool found = false;
    for (int k = 0; clang_getCursorKind(c) == CXCursor_CXXForRangeStmt && k < list.count; k++) {
        CXType type = clang_getCanonicalType(clang_getCursorType(list.at[k]));
        found |= clang_isExpression(clang_getCursorKind(list.at[k])) &&
                 type.kind == CXType_Record && !cursor_is_system(clang_getTypeDeclaration(type));
    }
    return found;
}

/* ---- Calls ---- */

/* True if a function that a _Generic names has effects; also where it calls none of those. */
static bool selection_has_effects(CXCursor callee, int depth)
{
    enum CXCursorKind kind = clang_getCursorKind(callee);
    cursors_t list = cursor_children(callee);
    bool found = kind != CXCursor_GenericSelectionExpr;
    if ((kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr) && list.count == 1)
        return selection_has_effects(list.at[0], depth);
    for (int k = 0; k < list.count && !found; k++) {
        CXCursor c = list.at[k];
        if (clang_getCursorKind(c) == CXCursor_UnaryOperator) /* &f */
            c = cursor_first_child(c);
        CXCursor f = clang_getCursorReferenced(c);
        if (clang_getCursorKind(f) == CXCursor_FunctionDecl)
            found = function_has_effects(f, depth);
        else if (clang_getCursorKind(c) == CXCursor_GenericSelectionExpr)
            found = selection_has_effects(c, depth);
    }
    return found;
}

/* True if the default of a parameter has effects, in one of the function's declarations. */
static bool default_has_effects(CXCursor f, int depth)
{
    const CXCursor declarations[] = {f, clang_getCanonicalCursor(f), clang_getCursorDefinition(f),
                                     clang_getSpecializedCursorTemplate(f)};
    bool found = false;
    for (size_t d = 0; d < sizeof(declarations) / sizeof(*declarations); d++) {
        cursors_t list = {0};
        if (!clang_Cursor_isNull(declarations[d]))
            list = cursor_children(declarations[d]);
        for (int k = 0; k < list.count; k++) {
            CXCursor value = cursor_last_child(list.at[k]);
            if (clang_getCursorKind(list.at[k]) == CXCursor_ParmDecl &&
                clang_isExpression(clang_getCursorKind(value)))
                found |= has_effects(value, depth);
        }
    }
    return found;
}

/* libclang shows an argument that the call leaves out as an expression without kind and parts. */
static bool leaves_to_default(CXCursor call)
{
    bool found = false;
    for (int k = 0; k < clang_Cursor_getNumArguments(call); k++) {
        CXCursor a = clang_Cursor_getArgument(call, (unsigned)k);
        found |= clang_getCursorKind(a) == CXCursor_UnexposedExpr &&
                 clang_Cursor_isNull(cursor_first_child(a));
    }
    return found;
}

/* True if another class's function may run in place of the virtual function. The class of a
 * variable is known. */
static bool is_overridden(CXCursor call, CXCursor f)
{
    CXCursor object = without_casts(cursor_first_child(cursor_first_child(call)));
    CXCursor variable = clang_getCursorReferenced(object);
    bool known = clang_getCursorKind(object) == CXCursor_DeclRefExpr &&
                 clang_getCanonicalType(clang_getCursorType(variable)).kind == CXType_Record;
    return clang_getCursorKind(f) == CXCursor_CXXMethod && clang_CXXMethod_isVirtual(f) &&
           !cursor_is_system(f) && !known && !cursor_has_child(f, CXCursor_CXXFinalAttr);
}

static bool call_has_effects(const effects_t *e, CXCursor call, int depth)
{
    CXCursor f = clang_getCursorReferenced(call);
    if (clang_Cursor_isNull(f) || clang_isInvalid(clang_getCursorKind(f)))
        return !(e->is_open && type_is_dependent(clang_getCursorType(call))) &&
               selection_has_effects(cursor_first_child(call), depth);
    bool makes_object = !is_reference(clang_getCursorResultType(f));
    return is_overridden(call, f) || function_has_effects(f, depth) ||
           (leaves_to_default(call) && default_has_effects(f, depth)) ||
           (makes_object &&
            class_has_effects(clang_getCursorType(call), CXCursor_Destructor, depth));
}

/* ---- Expressions and statements ---- */

static enum CXChildVisitResult find_effects(CXCursor c, CXCursor parent, CXClientData data)
{
    effects_t *e = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_ParmDecl) /* of the function: calls look at defaults */
        return CXChildVisit_Continue;
    e->found |= kind == CXCursor_CXXNewExpr || kind == CXCursor_CXXDeleteExpr ||
                kind == CXCursor_CXXThrowExpr || kind == CXCursor_LambdaExpr ||
                kind == CXCursor_StmtExpr || kind == CXCursor_GCCAsmStmt;
    e->found |= changes_something(e, c) || is_atomic(c) || is_unsteady(c, parent) || iterates(c);
    if (kind == CXCursor_CallExpr)
        e->found |= call_has_effects(e, c, e->depth + 1);
    if (kind == CXCursor_VarDecl)
        e->found |= class_has_effects(clang_getCursorType(c), CXCursor_Destructor, e->depth + 1);
    if (kind == CXCursor_InitListExpr)
        e->found |= class_has_effects(clang_getCursorType(c), CXCursor_Constructor, e->depth + 1);
    return e->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool expression_has_effects(CXCursor c, effects_t e)
{
    e.function = clang_getNullCursor();
    find_effects(c, c, &e);
    if (!e.found)
        clang_visitChildren(c, find_effects, &e);
    return e.found;
}

static bool has_effects(CXCursor c, int depth)
{
    return expression_has_effects(c, (effects_t){.depth = depth});
}

/* ---- Classes ---- */

typedef struct members {
    enum CXCursorKind special; /* CXCursor_Constructor or CXCursor_Destructor */
    int depth;
    bool found;
} members_t;

/* What the compiler makes of a class's members runs with its constructors and destructor. */
static enum CXChildVisitResult find_in_member(CXCursor c, CXCursor parent, CXClientData data)
{
    members_t *m = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_FieldDecl || kind == CXCursor_CXXBaseSpecifier)
        m->found |= class_has_effects(clang_getCursorType(c), m->special, m->depth);
    CXCursor value = cursor_last_child(c);
    if (kind == CXCursor_FieldDecl && m->special == CXCursor_Constructor &&
        clang_isExpression(clang_getCursorKind(value)))
        m->found |= has_effects(value, m->depth);
    return m->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXChildVisitResult find_special(CXCursor c, CXCursor parent, CXClientData data)
{
    members_t *m = data;
    (void)parent;
    if (clang_getCursorKind(c) == m->special && !clang_CXXMethod_isDefaulted(c) &&
        !clang_CXXMethod_isDeleted(c))
        m->found |= function_has_effects(c, m->depth);
    return m->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static bool visit_class(CXCursor declaration, CXCursorVisitor visit, enum CXCursorKind special,
                        int depth)
{
    members_t m = {.special = special, .depth = depth};
    CXCursor template = clang_getSpecializedCursorTemplate(declaration);
    clang_visitChildren(declaration, visit, &m);
    if (!m.found && !clang_Cursor_isNull(template))
        clang_visitChildren(template, visit, &m);
    return m.found;
}

/* True if a constructor, or the destructor, of the program's class has effects. Those of a library
 * are its own business. */
static bool class_has_effects(CXType type, enum CXCursorKind special, int depth)
{
    enum { DEEPEST = 8 };
    type = clang_getCanonicalType(type);
    while (type_is_array(type))
        type = type_pointee(type);
    CXCursor declaration = clang_getCursorDefinition(clang_getTypeDeclaration(type));
    if (type.kind != CXType_Record || clang_Cursor_isNull(declaration) ||
        cursor_is_system(declaration) ||
        (special == CXCursor_Destructor && !type_has_destructor(type)))
        return false;
    return depth > DEEPEST || visit_class(declaration, find_in_member, special, depth + 1) ||
           visit_class(declaration, find_special, special, depth + 1);
}

/* ---- Functions ---- */

/* True for an algorithm of the C++ library that gets no function. */
static bool is_algorithm(CXCursor f)
{
    static const char *const names[] = {"max_element", "min_element", "distance", NULL};
    const char *name = cursor_name(f);
    int count = clang_Cursor_getNumArguments(f);
    return clang_getCursorKind(f) == CXCursor_FunctionDecl &&
           ((count == 2 && text_is_one_of(name, names)) ||
            (count == 3 && !strcmp(name, "accumulate")));
}

/* True for `std::get` and its kin. Members of these names may change a stream or a future. */
static bool is_accessor(CXCursor f)
{
    static const char *const names[] = {"get", "addressof", "raw_pointer_cast", NULL};
    return clang_getCursorKind(f) == CXCursor_FunctionDecl && text_is_one_of(cursor_name(f), names);
}

/* True for functions of a library that only read, as they do in the C++ library. */
static bool only_reads(CXCursor f)
{
    static const char *const names[] = {
        "data",       "size",       "begin",     "end",         "cbegin",     "cend",
        "empty",      "back",       "front",     "operator[]",  "operator*",  "operator->",
        "operator+",  "operator-",  "operator/", "operator%",   "operator&",  "operator|",
        "operator^",  "operator~",  "operator!", "operator==",  "operator!=", "operator<",
        "operator<=", "operator>=", "operator>", "operator<=>", "at",         NULL};
    const char *name = cursor_name(f);
    return cursor_is_system(f) &&
           (text_is_one_of(name, names) || is_algorithm(f) || is_accessor(f) ||
            (clang_CXXMethod_isConst(f) && strcmp(name, "operator()") != 0));
}

/* The code of the program's instances of templates shows what they call; else that of the template
 * is looked at. */
static CXCursor code_of(CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f), own = clang_getCursorDefinition(f);
    bool has_body = !clang_Cursor_isNull(own) && !clang_Cursor_isNull(cursor_body(own));
    return clang_Cursor_isNull(template) || (has_body && !cursor_is_system(f))
               ? own
               : clang_getCursorDefinition(template);
}

static bool is_special(CXCursor f)
{
    enum CXCursorKind kind = clang_getCursorKind(f);
    return kind == CXCursor_Constructor || kind == CXCursor_Destructor;
}

/* A function has no side effects if it is known, or if its body is seen and changes only its own
 * variables. That a member function is const proves nothing: `mutable` members, and what pointers
 * lead to, change in one too. */
static bool function_has_effects(CXCursor f, int depth)
{
    static const char *const known[] = {"min", "max", "abs", "labs", "llabs", NULL};
    enum { DEEPEST = 8 };
    if (clang_Cursor_isNull(f) || depth > DEEPEST)
        return true;
    if (clang_getCursorKind(f) == CXCursor_FunctionDecl && text_is_one_of(cursor_name(f), known))
        return false;
    if (only_reads(f))
        return false;
    if (is_special(f)) {
        CXCursor class = clang_getCursorSemanticParent(f);
        if (visit_class(class, find_in_member, clang_getCursorKind(f), depth))
            return true;
        if (clang_CXXMethod_isDefaulted(f))
            return false;
    }
    CXCursor definition = code_of(f);
    if (clang_Cursor_isNull(definition) || clang_Cursor_isNull(cursor_body(definition)))
        return true;
    effects_t e = {.function = definition, .depth = depth};
    clang_visitChildren(definition, find_effects, &e);
    return e.found;
}

bool effects_is_pure(CXCursor call)
{
    return !clang_Cursor_isNull(call) && !has_effects(call, 0);
}

bool effects_may_be_pure(CXCursor e)
{
    return !expression_has_effects(e, (effects_t){.is_open = true});
}
