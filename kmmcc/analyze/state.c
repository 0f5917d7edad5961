/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a plain function and what it calls keep outside of the function's arguments: variables
 * of static storage, and the state of libraries. The source is looked at first, then the function's
 * IR after inlining.
 */
#include "analyze/state.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/check_argument.h"
#include "analyze/flow.h"
#include "analyze/library.h"
#include "analyze/output.h"
#include "analyze/outside.h"
#include "analyze/shared.h"
#include "base/arena.h"
#include "base/diag.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "ir/load.h"

enum { MAX_SEEN = 256 };

typedef struct walk {
    unit_t *main;
    const directive_t *d;
    CXCursor seen[MAX_SEEN], stored, stored_variable, named, named_variable;
    CXCursor own, own_variable; /* the mention of a variable that each thread has of its own */
    CXCursor keeps, prints;     /* uses of what of the library has a state; of what prints */
    CXCursor asks;              /* a call that asks for floating-point exceptions */
    CXCursor of_thread;         /* a call about what belongs to the thread that calls */
    const char *text;           /* of the function that is looked at */
    CXCursor
        printer[MAX_SEEN];   /* calls of functions that print, to streams still to be looked at */
    CXCursor callee;         /* the mention of the function that is called */
    CXCursor led, led_field; /* a store by a pointer that is a member of a parameter */
    int seen_count, printer_count;
    bool locks;   /* stores may be one at a time */
    bool is_slot; /* `stored` is a place that the call or its thread has of its own */
} walk_t;

/* The variable of which an lvalue is a part: not what a pointer points to. Null: there is none. */
static CXCursor whole_of(CXCursor c)
{
    for (;;) {
        cursors_t list = cursor_children(c);
        switch (clang_getCursorKind(c)) {
        case CXCursor_DeclRefExpr: return clang_getCursorReferenced(c);
        case CXCursor_ArraySubscriptExpr:
            if (list.count != 2)
                return clang_getNullCursor();
            c = list.at[0];
            while (clang_getCursorKind(c) == CXCursor_UnexposedExpr ||
                   clang_getCursorKind(c) == CXCursor_ParenExpr)
                c = cursor_last_child(c);
            if (!type_is_array(clang_getCanonicalType(clang_getCursorType(c))))
                return clang_getNullCursor();
            break;
        case CXCursor_MemberRefExpr:
            if (list.count == 0 ||
                clang_getCanonicalType(clang_getCursorType(list.at[0])).kind == CXType_Pointer)
                return clang_getNullCursor();
            c = list.at[0];
            break;
        case CXCursor_UnexposedExpr:
        case CXCursor_ParenExpr:
            if (list.count == 0)
                return clang_getNullCursor();
            c = list.at[0];
            break;
        default: return clang_getNullCursor();
        }
    }
}

static const char *text_of(const walk_t *w, CXCursor c)
{
    size_t begin, end;
    const unit_t *holder = unit_holding(w->main, c);
    return holder && unit_range(holder, c, &begin, &end)
               ? arena_copy(holder->source->text + begin, end - begin)
               : "";
}

/* Looks for numbers that each call or thread has of its own, also in the first values of the local
 * variables that are named. */
static enum CXChildVisitResult find_number(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t *w = data;
    CXCursor v = clang_getCursorReferenced(c);
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
        clang_getCursorKind(v) == CXCursor_VarDecl && !cursor_is_static(v))
        w->is_slot |= library_numbers(text_of(w, v));
    return CXChildVisit_Recurse;
}

static bool is_atomic(CXType type)
{
    type = clang_getCanonicalType(type);
    return clang_isVolatileQualifiedType(type) || type.kind == CXType_Atomic;
}

static void note_store(walk_t *w, CXCursor place, CXCursor what)
{
    CXCursor v = whole_of(what);
    if (clang_Cursor_isNull(v) || !cursor_is_static(v) || !clang_Cursor_isNull(w->stored))
        return;
    if (is_atomic(clang_getCursorType(v)) || is_atomic(clang_getCursorType(what)))
        return;
    w->stored = place;
    w->stored_variable = v;
    w->is_slot = library_numbers(text_of(w, what));
    clang_visitChildren(what, find_number, w);
}

/* The parameter, and the member of it, by which a pointer leads to an lvalue: `*s.p`, `s.p[k]` and
 * `s.p->m`. Null: there is none. */
static CXCursor leading_parameter(CXCursor c, CXCursor *field)
{
    c = flow_operand(c);
    cursors_t list = cursor_children(c);
    if (list.count == 0)
        return clang_getNullCursor();
    CXCursor pointer = flow_operand(list.at[0]), v;
    CXType type = clang_getCanonicalType(clang_getCursorType(pointer));
    if (type.kind != CXType_Pointer || clang_getCursorKind(pointer) != CXCursor_MemberRefExpr)
        return clang_getCursorKind(c) == CXCursor_MemberRefExpr && type.kind != CXType_Pointer
                   ? leading_parameter(list.at[0], field)
                   : clang_getNullCursor();
    v = whole_of(pointer);
    *field = clang_getCursorReferenced(pointer);
    bool is_struct = !clang_Cursor_isNull(v) && clang_getCursorKind(v) == CXCursor_ParmDecl &&
                     clang_getCanonicalType(clang_getCursorType(v)).kind == CXType_Record;
    return is_struct ? v : clang_getNullCursor();
}

static bool is_literal(CXCursor c)
{
    return clang_getCursorKind(flow_operand(c)) == CXCursor_IntegerLiteral;
}

/* True if the lvalue is the same in each chunk: its index is a constant, or counts from 0 on,
 * because no bounds are told. */
static bool is_same_place(const directive_t *d, CXCursor c)
{
    cursors_t list = cursor_children(flow_operand(c));
    if (clang_getCursorKind(flow_operand(c)) != CXCursor_ArraySubscriptExpr || list.count != 2)
        return true;
    for (int k = 0; k < d->rebase_count; k++)
        if (d->rebase[k].kind != REBASE_LENGTH)
            return is_literal(list.at[1]);
    return true;
}

/* A store to what a pointer in a struct leads to, which the function gets by value. */
static void note_led(walk_t *w, CXCursor place, CXCursor what)
{
    CXCursor field = clang_getNullCursor(), v = leading_parameter(what, &field);
    if (w->seen_count != 1 || clang_Cursor_isNull(v) || !clang_Cursor_isNull(w->led) ||
        !is_same_place(w->d, what))
        return;
    const parameter_list_t *p = check_parameters(w->d->target[0].kernel);
    for (int k = 0; k < p->count && k < w->d->argument_count; k++)
        if (clang_equalCursors(p->at[k], v) && !outside_is_named(w->d, w->d->argument[k], field) &&
            !is_atomic(clang_getCursorType(what))) {
            w->led = place;
            w->led_field = field;
        }
}

/* True if each thread has the variable. clang sees no OpenMP, which has `threadprivate` for it. */
static bool is_of_thread(const walk_t *w, CXCursor v)
{
    const options_t *o = w->main->options;
    bool has_openmp = false;
    for (int k = 0; k < o->parse_flag_count; k++)
        has_openmp |= !strcmp(o->parse_flags[k], "-fopenmp");
    const unit_t *holder = has_openmp ? unit_holding(w->main, v) : NULL;
    return clang_getCursorTLSKind(v) != CXTLS_None ||
           (holder && (library_makes_private(holder->source->text, cursor_name(v)) ||
                       library_makes_private(w->main->source->text, cursor_name(v))));
}

/* A variable of a thread, other than a local one, in which a function may keep what it works on. */
static void note_own(walk_t *w, CXCursor place)
{
    CXCursor v = clang_getCursorReferenced(place);
    enum CXCursorKind scope = clang_getCursorKind(clang_getCursorSemanticParent(v));
    bool local = scope == CXCursor_FunctionDecl || scope == CXCursor_CXXMethod ||
                 scope == CXCursor_FunctionTemplate;
    if (!cursor_is_static(v) || (local && clang_Cursor_getStorageClass(v) == CX_SC_Static))
        return;
    if (clang_Cursor_isNull(w->own) && is_of_thread(w, v)) {
        w->own = place;
        w->own_variable = v;
    }
}

/* An array that a clause names is reached by its own name. */
static void note_name(walk_t *w, CXCursor place)
{
    CXCursor v = clang_getCursorReferenced(place);
    CXType type = clang_getCanonicalType(clang_getCursorType(v));
    if (!cursor_is_static(v) || !clang_Cursor_isNull(w->named) ||
        !(type_is_array(type) || type.kind == CXType_Pointer))
        return;
    for (int k = 0; k < w->d->item_count; k++)
        if (clang_equalCursors(clang_getCanonicalCursor(v),
                               clang_getCanonicalCursor(cursor_root(w->d->item[k].base->cursor)))) {
            w->named = place;
            w->named_variable = v;
        }
}

/* The variable whose address an argument passes to what may change it. */
static CXCursor passed_variable(CXCursor argument, CXType to)
{
    CXCursor c = flow_operand(argument);
    to = clang_getCanonicalType(to);
    bool changes = (flow_is_pointer(to) || flow_is_reference(to)) &&
                   !flow_is_constant(clang_getPointeeType(to));
    if (!changes || to.kind == CXType_RValueReference)
        return clang_getNullCursor();
    if (clang_getCursorKind(c) == CXCursor_UnaryOperator &&
        clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf)
        return whole_of(flow_operand(cursor_first_child(c)));
    return flow_is_reference(to) || type_is_array(clang_getCursorType(c)) ? whole_of(c)
                                                                          : clang_getNullCursor();
}

/* A function whose code is not seen gets variables that it may change. */
static void note_passed(walk_t *w, CXCursor call, CXCursor f)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(f));
    int count = clang_Cursor_getNumArguments(call);
    for (int k = 0; k < count && k < clang_getNumArgTypes(type); k++) {
        CXCursor v = passed_variable(clang_Cursor_getArgument(call, (unsigned)k),
                                     clang_getArgType(type, (unsigned)k));
        if (!clang_Cursor_isNull(v) && cursor_is_static(v) && !cursor_is_system(v) &&
            !library_shares(clang_getCursorType(v)) && !flow_is_constant(clang_getCursorType(v)) &&
            clang_Cursor_isNull(w->stored)) {
            w->stored = call;
            w->stored_variable = v;
        }
    }
}

/* A member function whose code is not seen is called for a variable, which it may change. */
static void note_object(walk_t *w, CXCursor call, CXCursor f)
{
    CXCursor member = flow_operand(cursor_first_child(call));
    if (clang_CXXMethod_isConst(f) || clang_CXXMethod_isStatic(f) || cursor_is_system(f) ||
        clang_getCursorKind(member) != CXCursor_MemberRefExpr)
        return;
    CXCursor object = cursor_first_child(member);
    if (clang_Cursor_isNull(object) || flow_is_pointer(clang_getCursorType(object)))
        return;
    CXCursor v = whole_of(object);
    if (!clang_Cursor_isNull(v) && cursor_is_static(v) && !library_shares(clang_getCursorType(v)) &&
        clang_Cursor_isNull(w->stored)) {
        w->stored = call;
        w->stored_variable = v;
    }
}

static void walk_function(walk_t *w, CXCursor f);

static void note_call(walk_t *w, CXCursor call)
{
    CXCursor f = clang_getCursorReferenced(call);
    const char *name = cursor_name(call);
    if (!clang_isDeclaration(clang_getCursorKind(f)))
        return;
    bool seen = !cursor_is_system(f) && !clang_Cursor_isNull(clang_getCursorDefinition(f));
    if (!seen) {
        w->locks |= library_locks(name);
        bool library = cursor_is_system(f);
        if (library && library_keeps_state(call) && clang_Cursor_isNull(w->keeps))
            w->keeps = call;
        if (library && library_asks_for_exceptions(name) && clang_Cursor_isNull(w->asks))
            w->asks = call;
        if (library && clang_Cursor_isNull(w->of_thread) && library_is_of_thread(call, w->text))
            w->of_thread = call;
        if (output_is_printer(f) && w->printer_count < MAX_SEEN)
            w->printer[w->printer_count++] = call;
        w->callee = flow_operand(cursor_first_child(call));
        if (clang_getCursorKind(f) == CXCursor_FunctionDecl &&
            clang_Cursor_isNull(clang_getCursorDefinition(f)))
            note_passed(w, call, f);
        if (clang_getCursorKind(f) == CXCursor_CXXMethod)
            note_object(w, call, f);
    }
    walk_function(w, f);
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t *w = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_UnaryExpr || kind == CXCursor_ParmDecl) /* sizeof; a type with typeof */
        return CXChildVisit_Continue;
    if (kind == CXCursor_DeclRefExpr) {
        CXCursor v = clang_getCursorReferenced(c);
        note_name(w, c);
        note_own(w, c);
        if (clang_getCursorKind(v) == CXCursor_VarDecl && cursor_is_system(v)) {
            if ((!strcmp(cursor_name(v), "cout") || !strcmp(cursor_name(v), "wcout")) &&
                clang_Cursor_isNull(w->prints))
                w->prints = c;
            if (library_is_state(v) && clang_Cursor_isNull(w->keeps))
                w->keeps = c;
        }
    }
    /* printed by through a pointer */
    if (kind == CXCursor_DeclRefExpr &&
        !clang_equalLocations(clang_getCursorLocation(c), clang_getCursorLocation(w->callee)) &&
        output_is_printer(clang_getCursorReferenced(c)) && clang_Cursor_isNull(w->prints))
        w->prints = c;
    if (kind == CXCursor_CallExpr)
        note_call(w, c);
    bool stores = kind == CXCursor_CompoundAssignOperator ||
                  (kind == CXCursor_BinaryOperator &&
                   clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign) ||
                  (kind == CXCursor_UnaryOperator &&
                   clang_getCursorUnaryOperatorKind(c) >= CXUnaryOperator_PostInc &&
                   clang_getCursorUnaryOperatorKind(c) <= CXUnaryOperator_PreDec);
    cursors_t list = cursor_children(c);
    if (stores && list.count) {
        note_store(w, c, list.at[0]);
        note_led(w, c, list.at[0]);
    }
    return CXChildVisit_Recurse;
}

static void walk_function(walk_t *w, CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f),
             definition = clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template);
    CXCursor declaration = clang_Cursor_isNull(definition) ? f : definition;
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(declaration)) ||
        strncmp(cursor_name(f), "__builtin_", strlen("__builtin_")) == 0)
        return;
    if (clang_Cursor_isNull(definition) || w->seen_count == MAX_SEEN)
        return;
    for (int k = 0; k < w->seen_count; k++)
        if (clang_equalCursors(w->seen[k], definition))
            return;
    w->seen[w->seen_count++] = definition;
    const char *outer = w->text, *text = text_of(w, definition);
    w->locks |= strstr(text, "omp atomic") || strstr(text, "omp critical");
    w->text = text;
    clang_visitChildren(definition, visit, w);
    w->text = outer;
}

static walk_t *walk(const unit_t *u, const directive_t *d)
{
    walk_t *w = arena_alloc(sizeof(*w));
    CXCursor none = clang_getNullCursor();
    *w = (walk_t){.main = u->main,
                  .d = d,
                  .stored = none,
                  .stored_variable = none,
                  .named = none,
                  .named_variable = none,
                  .own = none,
                  .own_variable = none,
                  .keeps = none,
                  .prints = none,
                  .asks = none,
                  .of_thread = none,
                  .text = "",
                  .callee = none,
                  .led = none,
                  .led_field = none};
    walk_function(w, d->target[0].kernel);
    for (int k = 0; k < w->printer_count && clang_Cursor_isNull(w->prints); k++)
        if (output_is_ordered(w->printer[k], w->seen, w->seen_count))
            w->prints = w->printer[k];
    return w;
}

/* ---- Messages ---- */

static bool has_axis(const directive_t *d, const item_t *item)
{
    for (int k = 0; k < item->section_count; k++)
        for (int a = 0; a < d->axis_count && item->section[k].lower; a++)
            if (!form_is(item->section[k].lower_form.coef[a], 0))
                return true;
    return false;
}

/* True if this argument is another one in each chunk. */
static bool is_moved(const directive_t *d, int argument)
{
    CXCursor root = cursor_root(d->argument[argument]);
    for (int k = 0; k < d->item_count; k++)
        if (has_axis(d, &d->item[k]) &&
            clang_equalCursors(cursor_root(d->item[k].base->cursor), root))
            return true;
    for (int k = 0; k < d->rebase_count; k++)
        if (d->rebase[k].parameter == argument)
            return true;
    return false;
}

static void say_led(unit_t *u, directive_t *d, const char *name)
{
    unit_error(u, d->rebase_begin, d->rebase_end,
               "'%s' changes what '%s' leads to, which all chunks share, and they run at once and "
               "in any order; pass that pointer itself, with a clause that names what it leads to",
               d->callee_name, name);
}

/* What to do instead of changing a variable, or a place of it that each call has of its own. */
static const char *remedy(bool is_slot)
{
    return is_slot ? "which places it uses depends on the chunks; combine in a local variable, and "
                     "at the end with a parameter that `reduce` names"
                   : "make it a parameter, which rebase tells where the chunk begins or a clause "
                     "names";
}

/* What the IR shows: changes through pointers, references and functions. */
static bool check_changes(unit_t *u, directive_t *d, const ir_function_t *f)
{
    for (int k = 0; f && k < f->change_count; k++) {
        const ir_change_t *c = &f->change[k];
        if (!c->name && (f->param_count != d->argument_count || is_moved(d, c->param)))
            continue;
        if (!c->name)
            say_led(u, d, cursor_name(check_parameters(d->target[0].kernel)->at[c->param]));
        else if (c->of_thread)
            unit_error(u, d->rebase_begin, d->rebase_end,
                       "'%s' changes '%s', of which each thread has its own, and chunks run on "
                       "threads of kmm; make it a parameter",
                       d->callee_name, c->name);
        else
            unit_error(u, d->rebase_begin, d->rebase_end,
                       "'%s' changes '%s', which all chunks share, and they run at once and in any "
                       "order; %s",
                       d->callee_name, c->name, remedy(c->by_number));
        check_note_at(u, c->file, c->line, c->column, "it is changed here");
        return false;
    }
    return true;
}

static bool is_system_file(const unit_t *main, const char *path)
{
    CXFile file = path ? clang_getFile(main->tu, path) : NULL;
    return file && clang_Location_isInSystemHeader(clang_getLocationForOffset(main->tu, file, 0));
}

static void say_own(unit_t *u, const directive_t *d, const char *name)
{
    unit_error(u, d->rebase_begin, d->rebase_end,
               "'%s' uses '%s', of which each thread has its own, and chunks run on threads of "
               "kmm; make it a parameter",
               d->callee_name, name);
}

/* What the IR shows: loads in code that C++ runs by itself, or that a pointer may call. */
static bool check_own(unit_t *u, const directive_t *d, const ir_function_t *f)
{
    for (int k = 0; f && k < f->own_count; k++) {
        const ir_own_t *o = &f->own[k];
        if (is_system_file(u->main, o->file))
            continue;
        say_own(u, d, o->name);
        check_note_at(u, o->file, o->line, o->column, "it is used here");
        return false;
    }
    return true;
}

typedef struct mention {
    const directive_t *d;
    CXCursor found;
} mention_t;

static enum CXChildVisitResult find_mention(CXCursor c, CXCursor parent, CXClientData data)
{
    mention_t *m = data;
    (void)parent;
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
        (flow_is_pointer(type) || type_is_array(type)))
        for (int k = 0; k < m->d->item_count; k++)
            if (cursor_is_related(c, m->d->item[k].base->cursor))
                m->found = c;
    return CXChildVisit_Recurse;
}

/* Addresses of named arrays that are passed as integers. */
static bool check_addresses(unit_t *u, directive_t *d, const ir_function_t *f)
{
    for (int k = 0; f && k < d->argument_count && k < 63; k++) {
        mention_t m = {d, clang_getNullCursor()};
        size_t begin, end;
        if (f->param_count != d->argument_count || !(f->addresses >> k & 1))
            continue;
        clang_visitChildren(d->argument[k], find_mention, &m);
        if (clang_Cursor_isNull(m.found) ||
            !callee_argument_range(u, d, d->argument[k], &begin, &end))
            continue;
        unit_error(u, begin, end,
                   "'%s' gets the address of '%s' as an integer, which does not become that of the "
                   "chunk; pass it as a pointer",
                   d->callee_name, cursor_name(m.found));
        return false;
    }
    return true;
}

/* What libraries keep. */
static bool check_library(unit_t *u, directive_t *d, walk_t *w)
{
    if (clang_Cursor_isNull(w->keeps) && !clang_Cursor_isNull(w->asks) && !shared_is_cleared(u, d))
        w->keeps = w->asks;
    if (!clang_Cursor_isNull(w->keeps)) {
        unit_error(u, d->rebase_begin, d->rebase_end,
                   "'%s' uses '%s', which has one state for the whole program, and chunks run at "
                   "once and in any order; call it without the pragma, or compute the values "
                   "before",
                   d->callee_name, cursor_name(w->keeps));
        check_note(u, w->keeps, "it is used here");
        return false;
    }
    if (!clang_Cursor_isNull(w->prints)) {
        diag_at(SEVERITY_WARNING, u->source, d->rebase_begin, d->rebase_end,
                "'%s' prints, and chunks run at once and in any order, so lines come in another "
                "order than in one call [-Wkmm-output]",
                d->callee_name);
        check_note(u, w->prints, "it prints here");
    }
    if (!clang_Cursor_isNull(w->of_thread)) {
        diag_at(SEVERITY_WARNING, u->source, d->rebase_begin, d->rebase_end,
                "'%s' calls '%s', which concerns the thread that calls it, and chunks run on "
                "threads of kmm [-Wkmm-thread]",
                d->callee_name, cursor_name(w->of_thread));
        check_note(u, w->of_thread, "it is called here");
    }
    return true;
}

bool check_state(unit_t *u, directive_t *d)
{
    if (d->is_kernel || d->target_count != 1 || !d->rebase_count)
        return true;
    walk_t *w = walk(u, d);
    const ir_function_t *f = ir_plain_function_of(u->main, d->target[0].instance);
    bool locks = w->locks || (f && f->takes_turns);
    if (!clang_Cursor_isNull(w->own)) {
        say_own(u, d, cursor_name(w->own_variable));
        check_note(u, w->own, "it is used here");
        return false;
    }
    if (!clang_Cursor_isNull(w->stored) && !locks && !(w->is_slot && f)) {
        bool local = clang_getCursorKind(clang_getCursorSemanticParent(w->stored_variable)) ==
                     CXCursor_FunctionDecl;
        unit_error(
            u, d->rebase_begin, d->rebase_end,
            "'%s' changes the %s variable '%s', which all chunks share, and they run at once "
            "and in any order; %s",
            d->callee_name, local ? "static" : "global", cursor_name(w->stored_variable),
            remedy(w->is_slot));
        check_note(u, w->stored, "it is changed here");
        return false;
    }
    if (!clang_Cursor_isNull(w->led) && !locks) {
        say_led(u, d, cursor_name(w->led_field));
        check_note(u, w->led, "it is changed here");
        return false;
    }
    if (!clang_Cursor_isNull(w->named)) {
        unit_error(u, d->rebase_begin, d->rebase_end,
                   "'%s' uses '%s' by its name: there, indices do not begin where the chunk does, "
                   "and the memory may not be that of the chunk; make it a parameter",
                   d->callee_name, cursor_name(w->named_variable));
        check_note(u, w->named, "it is used here");
        return false;
    }
    if ((!locks && !check_changes(u, d, f)) || !check_own(u, d, f) || !check_addresses(u, d, f))
        return false;
    return check_library(u, d, w);
}
