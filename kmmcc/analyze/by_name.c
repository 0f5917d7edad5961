/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a plain function reads by their names. The function finds there what is in the
 * host's memory, while a launch may compute it by any other name. So libkmm gets their addresses
 * with the launch (launch/variables.c of libkmm).
 */
#include "analyze/by_name.h"

#include <string.h>

#include "analyze/check_argument.h"
#include "analyze/flow.h"
#include "base/arena.h"
#include "base/diag.h"
#include "clang/cursor.h"
#include "kmm/launch.h"

enum { MAX_SEEN = 64 };

typedef struct walk {
    unit_t *u;
    const directive_t *d;
    CXCursor seen[MAX_SEEN];
    int seen_count;
    names_t names;
} walk_t;

/* ---- Whether the file takes a variable's address ---- */

typedef struct taken {
    CXCursor variable;
    CXCursor in; /* the nearest expression around that is no member and no parenthesis */
    bool found;
} taken_t;

/* True if the expression takes no address of an operand that is a number. */
static bool is_value(CXCursor e)
{
    const enum CXCursorKind kind = clang_getCursorKind(e);
    return kind == CXCursor_UnexposedExpr || kind == CXCursor_BinaryOperator ||
           kind == CXCursor_CompoundAssignOperator || kind == CXCursor_UnaryExpr ||
           (kind == CXCursor_UnaryOperator &&
            clang_getCursorUnaryOperatorKind(e) != CXUnaryOperator_AddrOf);
}

static enum CXChildVisitResult find_taken(CXCursor c, CXCursor parent, CXClientData data)
{
    taken_t *t = data, inner = *t;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    if (clang_getCursorKind(parent) == CXCursor_TranslationUnit && cursor_is_system(c))
        return CXChildVisit_Continue;
    if (kind != CXCursor_MemberRefExpr && kind != CXCursor_ParenExpr)
        inner.in = c;
    if (kind == CXCursor_DeclRefExpr &&
        clang_equalCursors(clang_getCanonicalCursor(clang_getCursorReferenced(c)), t->variable))
        t->found |= !is_value(t->in);
    clang_visitChildren(c, find_taken, &inner);
    t->found |= inner.found;
    return t->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static bool is_taken(const unit_t *u, CXCursor variable)
{
    taken_t t = {variable, clang_getNullCursor(), false};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_taken, &t);
    return t.found;
}

/* ---- How the launch names a variable ---- */

/* True if the launch's function may use the member or class. */
static bool is_accessible(const directive_t *d, CXCursor declaration)
{
    const enum CX_CXXAccessSpecifier access = clang_getCXXAccessSpecifier(declaration);
    const CXCursor class = clang_getCanonicalCursor(clang_getCursorSemanticParent(declaration));
    return (access != CX_CXXPrivate && access != CX_CXXProtected) ||
           clang_equalCursors(class, clang_getCanonicalCursor(d->top)) ||
           clang_equalCursors(class,
                              clang_getCanonicalCursor(clang_getCursorSemanticParent(d->top)));
}

/* Returns the path of the namespaces and classes of a variable, with `::` behind each; NULL: the
 * launch cannot write it. */
static const char *scope_of(const directive_t *d, CXCursor variable)
{
    const char *path = "";
    CXCursor at = variable;
    for (;;) {
        const bool is_open = is_accessible(d, at);
        at = clang_getCursorSemanticParent(at);
        const enum CXCursorKind kind = clang_getCursorKind(at);
        const bool is_class = kind == CXCursor_ClassDecl || kind == CXCursor_StructDecl;
        if (kind == CXCursor_TranslationUnit)
            return path;
        if (!is_open || (!is_class && !cursor_is_namespace(at)) ||
            (is_class && (!*cursor_name(at) || clang_Cursor_isAnonymous(at) ||
                          clang_Type_getNumTemplateArguments(clang_getCursorType(at)) > 0)))
            return NULL;
        if (*cursor_name(at) && !clang_Cursor_isAnonymous(at) &&
            (is_class || kind == CXCursor_Namespace))
            path = arena_printf("%s::%s", cursor_name(at), path);
    }
}

/* True if the variable is declared before what is written for the launch: in C that stands before
 * the function around it. */
static bool is_declared_before(const unit_t *u, const directive_t *d, CXCursor variable)
{
    size_t begin, end, first, last;
    const unit_t *top = unit_holding(u->main, d->top);
    if (!top || !unit_range(top, d->top, &begin, &end) || !unit_range(top, variable, &first, &last))
        return true;
    return first < (u->lang == LANG_C || top != u ? begin : d->launch_begin);
}

/* Returns how the launch writes the variable; NULL: it cannot. */
static const char *expression_of(const unit_t *u, const directive_t *d, CXCursor variable)
{
    const char *scope = scope_of(d, variable);
    const bool is_instance = !clang_Cursor_isNull(clang_getSpecializedCursorTemplate(variable));
    if (!scope || is_instance || !is_declared_before(u, d, variable))
        return NULL;
    return u->lang == LANG_C ? *scope ? NULL : cursor_name(variable)
                             : arena_printf("::%s%s", scope, cursor_name(variable));
}

/* ---- The function's code ---- */

static unsigned kind_of(CXType type)
{
    if (type.kind == CXType_Pointer)
        return KMM_VARIABLE_POINTER;
    return (type.kind == CXType_Record ? KMM_VARIABLE_IN_PART : 0u) |
           (type_holds_pointers(type) ? KMM_VARIABLE_HOLDS_POINTERS : 0u);
}

/* True for a variable of which each thread or each device has its own. */
static bool has_several(CXCursor v)
{
    return clang_getCursorTLSKind(v) != CXTLS_None ||
           cursor_has_child(v, CXCursor_CUDADeviceAttr) ||
           cursor_has_child(v, CXCursor_CUDAConstantAttr) ||
           cursor_has_child(v, CXCursor_CUDASharedAttr);
}

static void note_unnamed(walk_t *w, CXCursor mention, CXCursor variable, CXType type)
{
    if (!type_is_array(type) || !clang_Cursor_isNull(w->names.variable))
        return;
    w->names.mention = mention;
    w->names.variable = variable;
}

/* Bytes of the variable, or of a member of the type; 0: not known. An array may be declared without
 * a length before it is defined. */
static long long size_of(CXCursor variable, CXType type)
{
    const CXCursor definition = clang_getCursorDefinition(variable);
    if (type.kind == CXType_IncompleteArray && !clang_Cursor_isNull(definition))
        type = clang_getCursorType(definition);
    const long long bytes = clang_Type_getSizeOf(type);
    return bytes > 0 ? bytes : 0;
}

/* Notes a variable, or the member of one that `path` leads to. */
static void note_variable(walk_t *w, CXCursor mention, const char *path, CXType type)
{
    const CXCursor v = clang_getCanonicalCursor(clang_getCursorReferenced(mention));
    type = clang_getCanonicalType(type);
    const bool is_number = !flow_is_reference(type);
    if (!is_number)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    if (!cursor_is_static(v) || cursor_is_system(v) || has_several(v) ||
        type.kind == CXType_FunctionProto || type_is_dependent(type) ||
        (flow_is_constant(type) && !type_holds_pointers(type)))
        return;
    if (is_number && !type_is_array(type) && !kind_of(type) &&
        clang_getCursorLinkage(v) != CXLinkage_External && !is_taken(w->u, v))
        return;
    const char *expression = expression_of(w->u, w->d, v);
    if (!expression || (!*cursor_name(v) && !*path)) {
        note_unnamed(w, mention, v, type);
        return;
    }
    if (!*cursor_name(v)) /* a union without a name, whose members are variables */
        path++;
    expression = arena_printf("%s%s", expression, path);
    for (int k = 0; k < w->names.count; k++)
        if (!strcmp(w->names.at[k].expression, expression))
            return;
    names_t *n = &w->names;
    n->at = arena_grow(n->at, n->count, &n->capacity, sizeof(*n->at));
    n->at[n->count++] = (named_t){.shown = arena_printf("%s%s", cursor_name(v), path),
                                  .expression = expression,
                                  .bytes = size_of(v, type),
                                  .kind = kind_of(type)};
}

/* Notes the member of a variable, as in v.a.b. False: it is none, or the launch cannot name it. */
static bool note_member(walk_t *w, CXCursor c)
{
    const CXType type = clang_getCursorType(c);
    const char *path = "";
    for (; clang_getCursorKind(c) == CXCursor_MemberRefExpr; c = flow_operand(c)) {
        const CXCursor field = clang_getCursorReferenced(c);
        const cursors_t of = cursor_children(c);
        if (clang_getCursorKind(field) != CXCursor_FieldDecl || clang_Cursor_isBitField(field) ||
            !is_accessible(w->d, field) || of.count == 0)
            return false;
        if (*cursor_name(field))
            path = arena_printf(".%s%s", cursor_name(field), path);
        c = of.at[0];
        if (clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_Pointer)
            return false;
    }
    if (clang_getCursorKind(c) != CXCursor_DeclRefExpr)
        return false;
    note_variable(w, c, path, type);
    return true;
}

static void walk_function(walk_t *w, CXCursor f);

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t *w = data;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_UnaryExpr) /* sizeof */
        return CXChildVisit_Continue;
    /* a variable's type may name another one, as by typeof, and uses nothing of it */
    if ((clang_getCursorKind(parent) == CXCursor_VarDecl ||
         clang_getCursorKind(parent) == CXCursor_ParmDecl) &&
        !clang_equalCursors(c, clang_Cursor_getVarDeclInitializer(parent)))
        return CXChildVisit_Continue;
    if (kind == CXCursor_MemberRefExpr && note_member(w, c))
        return CXChildVisit_Continue;
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr) {
        const CXCursor v = clang_getCursorReferenced(c);
        const CXType type = clang_getCanonicalType(clang_getCursorType(v));
        if (clang_getCursorKind(v) == CXCursor_VarDecl)
            note_variable(w, c, "", type);
        else if (clang_getCursorKind(v) == CXCursor_UnexposedDecl && !flow_is_constant(type))
            note_unnamed(w, c, v, type); /* an instance of a variable template */
    }
    if (kind == CXCursor_CallExpr)
        walk_function(w, clang_getCursorReferenced(c));
    return CXChildVisit_Recurse;
}

static void walk_function(walk_t *w, CXCursor f)
{
    const CXCursor template = clang_getSpecializedCursorTemplate(f),
                   definition =
                       clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template);
    if (clang_Cursor_isNull(definition) || w->seen_count == MAX_SEEN ||
        clang_Location_isInSystemHeader(clang_getCursorLocation(definition)))
        return;
    for (int k = 0; k < w->seen_count; k++)
        if (clang_equalCursors(w->seen[k], definition))
            return;
    w->seen[w->seen_count++] = definition;
    clang_visitChildren(definition, visit, w);
}

names_t by_name_find(unit_t *u, const directive_t *d)
{
    walk_t w = {.u = u, .d = d};
    w.names.mention = w.names.variable = clang_getNullCursor();
    for (int k = 0; k < d->target_count; k++)
        walk_function(&w, d->target[k].kernel);
    return w.names;
}

void check_by_name(unit_t *u, directive_t *d)
{
    if (d->is_kernel || d->target_count != 1 || !d->rebase_count)
        return;
    const names_t names = by_name_find(u, d);
    if (clang_Cursor_isNull(names.variable))
        return;
    diag_at(SEVERITY_WARNING, u->source, d->rebase_begin, d->rebase_end,
            "it is not proven that chunks of '%s' give what one call gives, since it reads '%s' by "
            "its name, which cannot be written where the launch stands, so that libkmm cannot tell "
            "whether a launch writes it; make it a parameter, with a clause that names it "
            "[-Wkmm-unproven]",
            d->callee_name, cursor_name(names.variable));
    check_note(u, names.mention, "it is read here");
    d->is_doubted = true;
}
