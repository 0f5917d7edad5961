/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what the code of a kernel or function does with the memory that its pointers point to. Each
 * mention of a parameter, and of the local variables that hold it, is followed upwards through the
 * expression around it, and into the functions that get it. Nothing counts as reading unless it is
 * known to read.
 */
#include "analyze/uses.h"

#include <string.h>

#include "analyze/assign.h"
#include "analyze/flow.h"
#include "analyze/home.h"
#include "base/arena.h"
#include "clang/cursor.h"

enum { MAX_FOLLOWED = 64, DEEPEST = 12, MOST_CALLS = 1000 };

/* A variable that holds the address, or is a reference to an element. */
typedef struct followed {
    CXCursor variable;
    bool reference, direct; /* direct: it is certain that it holds nothing else */
} followed_t;

/* One function on the way. */
typedef struct visit {
    struct visit *caller;
    CXCursor definition;
    followed_t followed[MAX_FOLLOWED];
    int count, depth, *calls;
    bool object;           /* `this` points to an element */
    bool moved;            /* the parameter may point elsewhere */
    long long bytes;       /* of an element; less than 0: not known */
    bool returned;         /* the function returns it */
    CXCursor passed, cast; /* where a pointer to const goes on unseen, and where any loses const */
    uses_t uses;
} visit_t;

static CXCursor none(void)
{
    return clang_getNullCursor();
}

static uses_t no_uses(void)
{
    return (uses_t){none(), none(), none(), none(), none(), none(), none(), none(), none(), false};
}

static void note(CXCursor *where, CXCursor c)
{
    if (clang_Cursor_isNull(*where))
        *where = c;
}

static void note_escape(visit_t *v, CXCursor c)
{
    v->uses.accessed = true;
    note(&v->uses.escaped, c);
}

/* The address has become an integer, of which the place is the parent. */
static void note_number(visit_t *v, const place_t *at)
{
    CXCursor where = none();
    home_t home = home_of_number(at, &where);
    if (home != HOME_LOCAL)
        note(home == HOME_ELSEWHERE ? &v->uses.kept : &v->uses.number, where);
}

/* Notes that an address or element goes where it is not followed. A pointer to const is only
 * passed, since its holder only reads; all else escapes. */
static void lose(visit_t *v, const place_t *at, carried_t carried)
{
    CXType type = clang_getCursorType(at->cursor);
    bool constant = carried == CARRIES_ELEMENT
                        ? flow_is_constant(type)
                        : flow_is_address(at->cursor) && flow_is_constant(type_pointee(type));
    bool integer = clang_isExpression(clang_getCursorKind(at->up->cursor)) &&
                   carried == CARRIES_ADDRESS &&
                   type_is_integer(clang_getCursorType(at->up->cursor)) &&
                   clang_getCursorKind(at->up->cursor) != CXCursor_CallExpr;
    v->uses.accessed = true;
    note(constant && !integer ? &v->passed : &v->uses.escaped, at->up->cursor);
    if (integer)
        note_number(v, at);
    if (carried == CARRIES_ADDRESS)
        note(&v->uses.strayed, at->up->cursor);
}

static void follow_variable(visit_t *v, CXCursor variable, bool reference, bool direct)
{
    for (int k = 0; k < v->count; k++)
        if (clang_equalCursors(v->followed[k].variable, variable))
            return;
    if (v->count == MAX_FOLLOWED)
        note_escape(v, variable);
    else
        v->followed[v->count++] = (followed_t){variable, reference, direct};
}

/* ---- Calls ---- */

/* Returns the number of the argument that the place is; -1 for the object of a member operator, -2
 * if it is no argument. */
static int argument_number(const place_t *at, CXCursor f)
{
    CXCursor call = at->up->cursor;
    int count = clang_Cursor_getNumArguments(call), object = 0;
    CXType type = clang_getCanonicalType(clang_getCursorType(f));
    if (clang_getCursorKind(f) == CXCursor_CXXMethod && !clang_CXXMethod_isStatic(f))
        object = count > clang_getNumArgTypes(type) && !strncmp(cursor_name(f), "operator", 8);
    for (int k = 0; k < count; k++) {
        CXCursor argument = clang_Cursor_getArgument(call, (unsigned)k);
        if (clang_getCursorKind(argument) == clang_getCursorKind(at->cursor) &&
            flow_same_place(argument, at->cursor))
            return k - object;
    }
    return -2;
}

static bool is_atomic(const char *name)
{
    return !strncmp(name, "atomic", 6) || !strncmp(name, "__nv_atomic_", 12);
}

/* True for atomic additions. Their result tells what other threads have added. */
static bool is_addition(const char *name)
{
    return !strncmp(name, "atomicAdd", 9) || !strncmp(name, "atomicSub", 9) ||
           !strncmp(name, "atomicInc", 9) || !strncmp(name, "atomicDec", 9) ||
           !strncmp(name, "__nv_atomic_fetch_add", 21) || !strncmp(name, "__nv_atomic_add", 15);
}

/* `__ldg(p)` and its like, which load one element. */
static bool is_load(const char *name)
{
    return !strncmp(name, "__ld", 4);
}

static bool is_used(const place_t *call)
{
    CXCursor parent = call->up ? call->up->cursor : none();
    enum CXCursorKind around = clang_getCursorKind(parent);
    bool comma = around == CXCursor_BinaryOperator &&
                 clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_Comma;
    return (clang_isExpression(around) && around != CXCursor_CStyleCastExpr && !comma) ||
           around == CXCursor_VarDecl || around == CXCursor_ReturnStmt ||
           (around == CXCursor_CStyleCastExpr && clang_getCursorType(parent).kind != CXType_Void);
}

static CXCursor code_of(CXCursor f)
{
    CXCursor definition = clang_getCursorDefinition(f);
    if (!clang_Cursor_isNull(definition) && !clang_Cursor_isNull(cursor_body(definition)))
        return definition;
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    return clang_Cursor_isNull(template) ? none() : clang_getCursorDefinition(template);
}

static CXCursor parameter_at(CXCursor f, int number)
{
    cursors_t list = cursor_children(f);
    for (int k = 0; k < list.count; k++)
        if (clang_getCursorKind(list.at[k]) == CXCursor_ParmDecl && number-- == 0)
            return list.at[k];
    return none();
}

static void walk(visit_t *v);

/* Follows an argument, or with number -1 the object, into the function; false: its code is not
 * seen. *inside: what it does there. */
static bool follow(visit_t *v, CXCursor f, int number, visit_t *inside)
{
    CXCursor definition = code_of(f), parameter = none();
    if (clang_Cursor_isNull(definition) || clang_Cursor_isNull(cursor_body(definition)))
        return false;
    if (number >= 0 && clang_Cursor_isNull(parameter = parameter_at(definition, number)))
        return false;
    *inside = (visit_t){.caller = v,
                        .definition = definition,
                        .depth = v->depth + 1,
                        .calls = v->calls,
                        .bytes = v->bytes,
                        .object = number < 0,
                        .passed = none(),
                        .cast = none(),
                        .uses = no_uses()};
    if (number >= 0)
        follow_variable(inside, parameter, flow_is_reference(clang_getCursorType(parameter)), true);
    for (const visit_t *k = v; k; k = k->caller)
        if (clang_equalCursors(k->definition, definition) && k->object == inside->object &&
            (number < 0 || clang_equalCursors(k->followed[0].variable, parameter)))
            return inside->returned = true; /* a recursion adds nothing */
    if (inside->depth > DEEPEST || ++*v->calls > MOST_CALLS)
        return false;
    walk(inside);
    return true;
}

static bool is_changing_operator(CXCursor f)
{
    const char *name = cursor_name(f);
    return !strncmp(name, "operator", 8) && name[8] && name[strlen(name) - 1] == '=' &&
           strcmp(name, "operator==") && strcmp(name, "operator!=") && strcmp(name, "operator<=") &&
           strcmp(name, "operator>=");
}

/* Adds what a called function does to the uses, at the call. */
static void take_over(visit_t *v, CXCursor call, CXCursor f, int number, const visit_t *inside)
{
    const uses_t *u = &inside->uses;
    v->uses.accessed |= u->accessed;
    if (!clang_Cursor_isNull(inside->passed))
        note(&v->passed, call);
    note(&v->cast, inside->cast);
    if (!clang_Cursor_isNull(u->strayed))
        note(&v->uses.strayed, call);
    if (!clang_Cursor_isNull(u->kept))
        note(&v->uses.kept, u->kept);
    if (!clang_Cursor_isNull(u->number))
        note(&v->uses.number, u->number);
    if (uses_only_reads(u))
        return;
    if (!clang_Cursor_isNull(u->escaped))
        note_escape(v, call);
    else if (number <= 0 && is_changing_operator(f))
        note(&v->uses.updated, call);
    else
        note(&v->uses.changed, call);
}

/* `x = value` of a class. */
static void assign(visit_t *v, CXCursor call, CXCursor f)
{
    v->uses.accessed = true;
    note(assign_stores_whole(f) ? &v->uses.stored : &v->uses.assigned, call);
}

/* True if a function that is not seen only reads, by the types of its parameters. */
static bool promises_const(CXCursor f, CXType parameter, int number)
{
    if (number < 0)
        return clang_CXXMethod_isConst(f);
    return (flow_is_pointer(parameter) || flow_is_reference(parameter)) &&
           flow_is_constant(clang_getPointeeType(clang_getCanonicalType(parameter)));
}

/* Returns what the call's result carries. */
static carried_t returned(CXCursor f, const visit_t *inside, bool seen)
{
    CXType result = clang_getCanonicalType(clang_getResultType(clang_getCursorType(f)));
    if (seen && !inside->returned)
        return CARRIES_NOTHING;
    return flow_is_reference(result) ? CARRIES_ELEMENT
           : flow_is_pointer(result) ? CARRIES_ADDRESS
                                     : CARRIES_NOTHING;
}

static carried_t visit_function(visit_t *v, const place_t *at, carried_t carried, CXCursor f,
                                int number)
{
    visit_t *inside = arena_alloc(sizeof(*inside));
    CXType type = clang_getCanonicalType(clang_getCursorType(f)), parameter = {0};
    CXCursor call = at->up->cursor;
    bool object = number < 0;
    if (!object && number < clang_getNumArgTypes(type))
        parameter = clang_getArgType(type, (unsigned)number);
    if (!object && carried == CARRIES_ELEMENT && !flow_is_reference(parameter)) {
        v->uses.accessed = true; /* by value */
        return CARRIES_NOTHING;
    }
    bool matches = object || (carried == CARRIES_ELEMENT ? flow_is_reference(parameter)
                                                         : flow_is_pointer(parameter));
    bool overridden = object && clang_CXXMethod_isVirtual(f) && !clang_CXXMethod_isConst(f);
    bool seen = matches && !overridden && follow(v, f, number, inside);
    if (seen) {
        take_over(v, call, f, number, inside);
    } else if (matches && promises_const(f, parameter, number) &&
               strncmp(cursor_name(f), "__cvta_", 7)) {
        v->uses.accessed = true;
        note(&v->passed, call);
        if (carried == CARRIES_ADDRESS && !object && !is_load(cursor_name(f)))
            note(&v->uses.strayed, call);
    } else if (object) {
        note_escape(v, call);
    } else {
        lose(v, at, carried);
    }
    return returned(f, inside, seen);
}

/* The pointer or element is an argument, or the object, of the call. */
static carried_t visit_call(visit_t *v, const place_t *at, carried_t carried)
{
    CXCursor call = at->up->cursor, f = clang_getCursorReferenced(call);
    enum CXCursorKind kind = clang_getCursorKind(f);
    const char *name = cursor_name(call);
    int number = carried == CARRIES_METHOD ? -1 : argument_number(at, f);
    if (number == 0 && is_atomic(name)) {
        v->uses.accessed = true;
        note(&v->uses.updated, call);
        if (is_used(at->up) && is_addition(name))
            note(&v->uses.result, call);
        return CARRIES_NOTHING;
    }
    if (number == 0 && !strcmp(name, "__builtin_assume_aligned"))
        return carried;
    if (!strcmp(name, "printf"))
        return CARRIES_NOTHING;
    if (kind == CXCursor_Constructor && carried == CARRIES_ELEMENT && number == 0) {
        CXType type = clang_getCanonicalType(clang_getCursorType(f));
        CXType to = clang_getNumArgTypes(type) > 0 ? clang_getArgType(type, 0) : (CXType){0};
        if (!flow_is_reference(to) || promises_const(f, to, 0) || assign_is_implicit(f)) {
            v->uses.accessed = true;
            note(&v->passed, call);
            return CARRIES_NOTHING;
        }
    }
    bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
                    kind == CXCursor_ConversionFunction;
    if (!function || number == -2 || cursor_is_launch(call)) {
        if (carried == CARRIES_METHOD)
            note_escape(v, call);
        else
            lose(v, at, carried);
        return CARRIES_NOTHING;
    }
    if (number == -1 && !strcmp(cursor_name(f), "operator=")) {
        assign(v, call, f);
        return CARRIES_ELEMENT;
    }
    if (number == -1 && clang_CXXMethod_isStatic(f))
        return CARRIES_NOTHING;
    return visit_function(v, at, carried, f, number);
}

/* ---- The way up ---- */

/* A local variable gets what the place carries. */
static void visit_variable(visit_t *v, const place_t *at, carried_t *carried, bool direct)
{
    CXCursor parent = at->up->cursor;
    if (clang_getCursorKind(parent) == CXCursor_VarDecl) {
        bool reference = flow_is_reference(clang_getCursorType(parent));
        follow_variable(v, parent, reference, reference && direct);
        *carried = CARRIES_NOTHING;
        return;
    }
    CXCursor left = flow_operand(cursor_first_child(parent)),
             variable = clang_getCursorReferenced(left);
    enum CXCursorKind kind = clang_getCursorKind(variable);
    bool local =
        clang_getCursorKind(left) == CXCursor_DeclRefExpr &&
        (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) && flow_is_address(left) &&
        (kind == CXCursor_ParmDecl ||
         (clang_Cursor_getStorageClass(variable) == CX_SC_None &&
          clang_getCursorKind(clang_getCursorSemanticParent(variable)) !=
              CXCursor_TranslationUnit &&
          clang_getCursorKind(clang_getCursorSemanticParent(variable)) != CXCursor_Namespace));
    if (local)
        follow_variable(v, variable, false, false);
    else
        lose(v, at, *carried);
    if (!local && *carried == CARRIES_ADDRESS && home_find(left) == HOME_ELSEWHERE)
        note(&v->uses.kept, parent);
}

/* `direct`: it is certain that the element belongs to the parameter. */
static void change(visit_t *v, CXCursor *where, CXCursor c, bool direct)
{
    v->uses.accessed = true;
    note(direct ? where : &v->uses.changed, c);
}

/* True if the expression is the kernel's parameter itself, or an array that is part of an element.
 */
static bool is_start(const visit_t *v, CXCursor c)
{
    CXCursor inner = flow_operand(c);
    bool own = v->depth == 0 && clang_getCursorKind(inner) == CXCursor_DeclRefExpr &&
               clang_equalCursors(clang_getCursorReferenced(inner), v->followed[0].variable);
    return own || (type_is_array(clang_getCursorType(inner)) && !flow_is_address(inner));
}

/* True if the parent of the place reaches beyond the element that the place carries, or whose
 * address it carries. */
static bool strays(const visit_t *v, const place_t *at, carried_t carried)
{
    CXCursor parent = at->up->cursor;
    CXType type = clang_getCanonicalType(clang_getCursorType(parent));
    CXType as = carried == CARRIES_ADDRESS ? type_pointee(type) : type;
    bool moves = carried == CARRIES_ADDRESS && !is_start(v, at->cursor);
    enum CXBinaryOperatorKind op;
    switch (clang_getCursorKind(parent)) {
    case CXCursor_ArraySubscriptExpr: return moves;
    case CXCursor_BinaryOperator:
        op = clang_getCursorBinaryOperatorKind(parent);
        return moves && (op == CXBinaryOperator_Add || op == CXBinaryOperator_Sub) &&
               (flow_is_address(parent) || type_is_dependent(type));
    case CXCursor_CompoundAssignOperator: return moves;
    case CXCursor_UnaryOperator:
        switch (clang_getCursorUnaryOperatorKind(parent)) {
        case CXUnaryOperator_PostInc:
        case CXUnaryOperator_PostDec:
        case CXUnaryOperator_PreInc:
        case CXUnaryOperator_PreDec: return moves;
        default: return false;
        }
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXFunctionalCastExpr: {
        bool remains =
            carried == CARRIES_ADDRESS ? flow_is_pointer(type) : carried == CARRIES_ELEMENT;
        if (!remains || as.kind == CXType_Void)
            return false;
        long long bytes = clang_Type_getSizeOf(as);
        return bytes < 0 || v->bytes < 0 || bytes > v->bytes;
    }
    default: return false;
    }
}

static void climb(visit_t *v, const place_t *at, carried_t carried, bool direct)
{
    for (; carried != CARRIES_NOTHING && at->up; at = at->up) {
        carried_t before = carried;
        CXCursor parent = at->up->cursor;
        if (strays(v, at, carried))
            note(&v->uses.strayed, parent);
        switch (flow_step(at, &carried)) {
        case EFFECT_NONE: break;
        case EFFECT_READ: v->uses.accessed = true; break;
        case EFFECT_STORE: change(v, &v->uses.stored, parent, direct); break;
        case EFFECT_UPDATE: change(v, &v->uses.updated, parent, direct); break;
        case EFFECT_MOVE: v->moved |= v->depth == 0; break;
        case EFFECT_VARIABLE: visit_variable(v, at, &carried, direct); break;
        case EFFECT_CALL:
            carried = visit_call(v, at, carried);
            direct = false;
            break;
        case EFFECT_RETURN:
            v->returned = true;
            v->uses.accessed |= carried == CARRIES_ELEMENT;
            carried = CARRIES_NOTHING;
            break;
        case EFFECT_UNKNOWN:
            if (before == CARRIES_METHOD)
                note_escape(v, parent);
            else
                lose(v, at, before);
            break;
        }
        direct &= clang_getCursorKind(parent) != CXCursor_ConditionalOperator;
    }
}

/* True if a member is one of an implicit `this`. */
static bool is_own_member(CXCursor c)
{
    cursors_t list = cursor_children(c);
    for (int k = 0; k < list.count; k++)
        if (clang_isExpression(clang_getCursorKind(list.at[k])))
            return false;
    return true;
}

/* The function's own object, which `this` points to. */
static void visit_object(visit_t *v, const place_t *at)
{
    enum CXCursorKind kind = clang_getCursorKind(at->cursor);
    if (kind == CXCursor_CXXThisExpr)
        climb(v, at, CARRIES_ADDRESS, true);
    if (kind != CXCursor_MemberRefExpr || !is_own_member(at->cursor))
        return;
    enum CXCursorKind member = clang_getCursorKind(clang_getCursorReferenced(at->cursor));
    if (member == CXCursor_FieldDecl)
        climb(v, at, CARRIES_ELEMENT, true);
    else if (member != CXCursor_VarDecl && member != CXCursor_EnumConstantDecl)
        climb(v, at, CARRIES_METHOD, false);
}

static void visit_mention(visit_t *v, const place_t *at)
{
    CXCursor variable = clang_getCursorReferenced(at->cursor);
    for (int k = 0; k < v->count; k++) {
        if (!clang_equalCursors(v->followed[k].variable, variable))
            continue;
        climb(v, at, v->followed[k].reference ? CARRIES_ELEMENT : CARRIES_ADDRESS,
              v->followed[k].direct);
        return;
    }
}

/* A cast that makes of something const what can be stored to. */
static void visit_cast(visit_t *v, CXCursor c)
{
    CXCursor of = cursor_last_child(c);
    CXType to = clang_getCursorType(c);
    bool pointers = flow_is_address(of) && flow_is_constant(type_pointee(clang_getCursorType(of)));
    bool keeps = flow_is_pointer(to) ? flow_is_constant(type_pointee(to)) : !type_is_integer(to);
    if ((pointers && !keeps) || clang_getCursorKind(c) == CXCursor_CXXConstCastExpr)
        note(&v->cast, c);
}

/* Notes an escape, since not all that a lambda captures is seen. */
static void visit_lambda(visit_t *v, CXCursor c)
{
    CXType type = v->count ? clang_getCursorType(v->followed[0].variable) : (CXType){0};
    bool constant = flow_is_pointer(type) && flow_is_constant(type_pointee(type));
    v->uses.accessed = true;
    note(constant ? &v->passed : &v->uses.escaped, c);
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    place_t *up = data;
    visit_t *v = up->visit;
    place_t at = {v, up, c, up->children++, 0};
    (void)parent;
    switch (clang_getCursorKind(c)) {
    case CXCursor_UnaryExpr: return CXChildVisit_Continue; /* sizeof */
    case CXCursor_DeclRefExpr: visit_mention(v, &at); break;
    case CXCursor_CXXThisExpr:
    case CXCursor_MemberRefExpr:
        if (v->object)
            visit_object(v, &at);
        break;
    case CXCursor_LambdaExpr: visit_lambda(v, c); break;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXFunctionalCastExpr: visit_cast(v, c); break;
    default: break;
    }
    clang_visitChildren(c, visit, &at);
    return CXChildVisit_Continue;
}

/* Until no more variables are found that hold the address. */
static void walk(visit_t *v)
{
    CXCursor body = cursor_body(v->definition);
    for (int before = -1; before != v->count;) {
        place_t top = {.visit = v, .cursor = body};
        before = v->count;
        clang_visitChildren(body, visit, &top);
    }
}

bool uses_only_reads(const uses_t *u)
{
    return clang_Cursor_isNull(u->stored) && clang_Cursor_isNull(u->updated) &&
           clang_Cursor_isNull(u->assigned) && clang_Cursor_isNull(u->changed) &&
           clang_Cursor_isNull(u->escaped);
}

CXCursor uses_parameter(CXCursor function, int number)
{
    CXCursor definition = clang_Cursor_isNull(function) ? function : code_of(function);
    if (clang_Cursor_isNull(definition) || clang_Cursor_isNull(cursor_body(definition)))
        return none();
    return parameter_at(definition, number);
}

bool uses_find(CXCursor function, int number, uses_t *out)
{
    visit_t *v = arena_alloc(sizeof(*v));
    int calls = 0;
    CXCursor parameter = uses_parameter(function, number);
    if (clang_Cursor_isNull(parameter))
        return false;
    *v = (visit_t){.definition = code_of(function),
                   .calls = &calls,
                   .passed = none(),
                   .cast = none(),
                   .uses = no_uses()};
    v->bytes = clang_Type_getSizeOf(type_pointee(clang_getCursorType(parameter)));
    follow_variable(v, parameter, false, true);
    walk(v);
    if (!clang_Cursor_isNull(v->passed) && !clang_Cursor_isNull(v->cast))
        note_escape(v, v->cast);
    if (v->moved && !uses_only_reads(&v->uses)) {
        note(&v->uses.escaped, !clang_Cursor_isNull(v->uses.stored)    ? v->uses.stored
                               : !clang_Cursor_isNull(v->uses.updated) ? v->uses.updated
                               : !clang_Cursor_isNull(v->uses.changed) ? v->uses.changed
                                                                       : v->uses.assigned);
        v->uses.stored = v->uses.updated = v->uses.assigned = v->uses.changed = none();
    }
    *out = v->uses;
    return true;
}
