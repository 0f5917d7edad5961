/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what the clauses say of each argument of a launch with what the code does. */
#include "analyze/check_argument.h"
#include "analyze/stored_by_data.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/covered.h"
#include "analyze/effects.h"
#include "analyze/extent.h"
#include "analyze/flow.h"
#include "analyze/instances.h"
#include "analyze/suggest.h"
#include "analyze/uses.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "ir/ir.h"
#include "ir/load.h"
#include "kmm/launch.h"
#include "pragma/expression.h"
#include "pragma/item.h"

/* ---- Arguments ---- */

static enum CXChildVisitResult add_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    parameter_list_t *p = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl && p->count < 256)
        p->at[p->count++] = c;
    return CXChildVisit_Continue;
}

parameter_list_t *check_parameters(CXCursor f)
{
    parameter_list_t *p = arena_alloc(sizeof(*p));
    clang_visitChildren(f, add_parameter, p);
    return p;
}

void check_note(const unit_t *u, CXCursor where, const char *text)
{
    size_t begin, end;
    const unit_t *holder = unit_holding(u->main, where);
    if (holder && unit_range(holder, where, &begin, &end))
        diag_at(SEVERITY_NOTE, holder->source, begin, end, "%s", text);
}

void check_note_at(const unit_t *u, const char *file, int line, int column, const char *text)
{
    for (const unit_t *k = u->main; k && file; k = k->next) {
        const source_t *s = k->source;
        if (!path_is_same(k->path, file) || line < 1 || (unsigned)line > s->line_count)
            continue;
        size_t at = s->lines[line - 1] + (size_t)(column > 0 ? column - 1 : 0);
        if (at < s->length)
            diag_at(SEVERITY_NOTE, s, at, at + 1, "%s", text);
        return;
    }
}

/* An argument as the base of an item. */
static const char *item_base(const char *argument)
{
    for (const char *c = argument; *c; c++)
        if (!strchr("_.", *c) && !(*c >= '0' && *c <= '9') &&
            !((*c | 32) >= 'a' && (*c | 32) <= 'z'))
            return arena_printf("(%s)", argument);
    return argument;
}

/* Proposes `update`: most launches with one axis access an argument so, and it is correct for most
 * others. */
static void suggest_access(const unit_t *u, const directive_t *d, const char *argument)
{
    if (d->axis_count == 1)
        suggest_clause(u, d, "if each index changes its own element",
                       arena_printf("update(%s[%s])", item_base(argument), d->axis[0].name));
}

/* The function, or the instance of a template, that the launch runs; null where there are several.
 */
static CXCursor called(const directive_t *d)
{
    if (instances_are_known(d) && !d->pattern)
        return d->instance[0].kernel;
    if (d->target_count == 1)
        return d->target[0].instance;
    return clang_Cursor_isNull(d->definition) ? d->callee : d->definition;
}

/* Whether chunks are told their length, so that pointers move to where they begin. */
static bool is_moving(const directive_t *d)
{
    bool moves = false;
    for (int k = 0; k < d->rebase_count && !d->is_kernel; k++)
        moves |= d->rebase[k].kind == REBASE_LENGTH;
    return moves;
}

/* Below parentheses and conversions that are not written. */
static CXCursor below_wrappers(CXCursor c)
{
    while (clang_getCursorKind(c) == CXCursor_UnexposedExpr ||
           clang_getCursorKind(c) == CXCursor_ParenExpr)
        c = cursor_first_child(c);
    return c;
}

static bool is_reference(CXCursor c, CXCursor parameter)
{
    CXCursor inner = below_wrappers(c);
    return clang_getCursorKind(inner) == CXCursor_DeclRefExpr &&
           clang_equalCursors(clang_getCursorReferenced(inner), parameter);
}

/* True for *p, p->m and p[3], which are the same memory for every chunk. */
static bool is_fixed_use(CXCursor c, CXCursor parameter)
{
    switch (clang_getCursorKind(c)) {
    case CXCursor_ArraySubscriptExpr:
        return is_reference(cursor_first_child(c), parameter) &&
               clang_getCursorKind(below_wrappers(cursor_last_child(c))) == CXCursor_IntegerLiteral;
    case CXCursor_UnaryOperator:
        return clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref &&
               is_reference(cursor_first_child(c), parameter);
    case CXCursor_MemberRefExpr: return is_reference(cursor_first_child(c), parameter);
    default: return false;
    }
}

typedef struct fixed {
    CXCursor parameter;
    bool is_fixed;
} fixed_t;

static enum CXChildVisitResult visit_use(CXCursor c, CXCursor parent, CXClientData data)
{
    fixed_t *f = data;
    (void)parent;
    if (is_fixed_use(c, f->parameter))
        return CXChildVisit_Continue;
    f->is_fixed &= !is_reference(c, f->parameter);
    return f->is_fixed ? CXChildVisit_Recurse : CXChildVisit_Break;
}

/* Whether the function is seen to read the same elements through its parameter, wherever a chunk
 * begins. */
static bool reads_fixed(CXCursor function, int number)
{
    CXCursor definition = clang_getCursorDefinition(function);
    if (clang_Cursor_isNull(definition) || number >= clang_Cursor_getNumArguments(definition))
        return false;
    fixed_t f = {clang_Cursor_getArgument(definition, (unsigned)number), true};
    clang_visitChildren(definition, visit_use, &f);
    return f.is_fixed;
}

/* The code does not look at what the argument points to. */
static void leave_as_it_is(directive_t *d, int number)
{
    if (!d->unused)
        d->unused = arena_alloc(((size_t)d->argument_count + 1) * sizeof(*d->unused));
    d->unused[number] = true;
}

/* A pointer that no clause names does not move with the chunks, as the others do. */
static void refuse_unmoved(unit_t *u, directive_t *d, int number, const char *name)
{
    size_t begin, end;
    callee_argument_range(u, d, d->argument[number], &begin, &end);
    const char *axis = d->axis_count ? d->axis[0].name : "i";
    unit_error(u, begin, end,
               "no clause says what is read of '%s', so rebase cannot tell whether it moves; add "
               "read(%s[%s]) if each chunk reads its part of it, or read(%s) if each reads all",
               name, name, axis, name);
    suggest_clause(u, d, "if each index reads its own element",
                   arena_printf("read(%s[%s])", name, axis));
}

/* Adds the access that is assumed for a pointer to const. */
static void add_whole(unit_t *u, directive_t *d, int argument, const char *name)
{
    size_t begin, end;
    if (!callee_argument_range(u, d, d->argument[argument], &begin, &end))
        return;
    if (is_moving(d) && !reads_fixed(called(d), argument)) {
        refuse_unmoved(u, d, argument, name);
        return;
    }
    if (!effects_is_pure(d->argument[argument])) {
        unit_error(
            u, begin, end,
            "no clause says what is read of '%s', and kmm cannot compute that a second time, "
            "since it changes a variable or calls what is not seen to change nothing; "
            "compute it before the pragma",
            unit_words(u, begin, end));
        return;
    }
    item_t *item = directive_add_item(d);
    if (!item)
        return;
    expr_t *base = arena_alloc(sizeof(*base));
    *base = (expr_t){.kind = EXPR_OPAQUE,
                     .begin = begin,
                     .end = end,
                     .cursor = d->argument[argument],
                     .type = clang_getCursorType(d->argument[argument])};
    *item = (item_t){.begin = begin,
                     .end = end,
                     .mode = KMM_READ,
                     .base = base,
                     .inferred = d->is_kernel,
                     .root = cursor_root(d->argument[argument])};
    for (CXType e = type_pointee(clang_getCanonicalType(base->type)); type_is_array(e);
         e = type_pointee(e))
        item->inner_dims++;
    if (!d->is_kernel)
        extent_add(item, d->argument[argument]);
    if (item->section_count && extent_is_object(d->argument[argument]))
        return;
    diag_at(SEVERITY_WARNING, u->source, begin, end,
            "no clause says what is read of '%s', so each chunk reads the whole array; add "
            "read(%s[...]) [-Wkmm-whole]",
            unit_words(u, begin, end), name);
    if (!d->declared_in)
        suggest_clause(u, d, "if it is meant",
                       arena_printf("read(%s)", item_base(unit_words(u, begin, end))));
}

/* A compound literal that the function only reads. No item can name it, and nothing else changes
 * it: chunks read it where it is, while the launch waits for them. */
static void borrow_literal(unit_t *u, directive_t *d, int number, const char *name)
{
    if (is_moving(d) && !reads_fixed(called(d), number)) {
        refuse_unmoved(u, d, number, name);
        return;
    }
    leave_as_it_is(d, number);
    d->borrows = true;
}

/* Adds a note at the code that a clause would have to tell of. */
static void note_use(const unit_t *u, const uses_t *uses)
{
    const CXCursor stores[] = {uses->stored, uses->updated, uses->assigned, uses->changed};
    for (size_t k = 0; k < sizeof(stores) / sizeof(*stores); k++)
        if (!clang_Cursor_isNull(stores[k])) {
            check_note(u, stores[k], "it is stored to here");
            return;
        }
    if (!clang_Cursor_isNull(uses->escaped))
        check_note(u, uses->escaped, "this may store to it");
}

/* True if an argument that begins with the same variable or member was refused already. */
static bool is_refused(const directive_t *d, CXCursor argument)
{
    bool found = false;
    for (int k = 0; d->refused && k < d->argument_count; k++)
        found |= d->refused[k] && cursor_is_related(argument, d->argument[k]);
    return found;
}

/* A pointer that no clause names, and that stands in no text from which a clause could be made. */
static void refuse_hidden(unit_t *u, directive_t *d, int number)
{
    CXCursor argument = d->argument[number];
    CXType pointee = clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(argument)));
    uses_t uses;
    if (!d->is_kernel || covered(u, d, argument, number) || cursor_is_null_pointer(argument) ||
        clang_getCanonicalType(pointee).kind == CXType_FunctionProto ||
        (instances_use(d, called(d), number, &uses) && !uses.accessed))
        return;
    unit_error(u, d->launch_begin, d->launch_end,
               "no clause says what '%s' does with argument %d, which a macro writes; write the "
               "argument out, or add read(...), write(...) or update(...)",
               d->callee_name, number + 1);
}

static void refuse_pack(unit_t *u, const directive_t *d)
{
    unit_error(u, d->launch_begin, d->launch_end,
               "what the parameter pack passes to '%s' has no name for clauses; give pointers "
               "parameters of their own",
               d->callee_name);
}

/* True if the directive, which is bound to an instance, passes a pointer to data by a pack. */
static bool packs_pointer(const directive_t *d)
{
    for (int k = d->pack; k < d->argument_count; k++) {
        CXType type = clang_getCanonicalType(clang_getCursorType(d->argument[k])),
               pointee = clang_getCanonicalType(clang_getPointeeType(type));
        if (type.kind == CXType_Pointer && pointee.kind != CXType_FunctionProto &&
            !cursor_is_null_pointer(d->argument[k]))
            return true;
    }
    return false;
}

/* True if an item's base is the variable. */
static bool is_named(const directive_t *d, CXCursor variable)
{
    for (int k = 0; k < d->item_count; k++)
        if (cursor_is_related(variable, d->item[k].base->cursor))
            return true;
    return false;
}

/* `parameter` is null where only the type is known. */
static void check_argument(unit_t *u, directive_t *d, int number, CXType declared,
                           CXCursor parameter)
{
    size_t begin, end;
    CXType type = clang_getCanonicalType(declared);
    if (type.kind != CXType_Pointer || number >= d->argument_count)
        return;
    if (!callee_argument_range(u, d, d->argument[number], &begin, &end)) {
        refuse_hidden(u, d, number);
        return;
    }
    CXType element = clang_getCanonicalType(clang_getPointeeType(type));
    enum CXTypeKind kind = element.kind;
    const char *name = clang_Cursor_isNull(parameter) ? "" : cursor_name(parameter),
               *text = unit_words(u, begin, end);
    CXCursor argument = d->argument[number], root = cursor_root(argument);
    bool choice = clang_getCursorKind(flow_operand(argument)) == CXCursor_ConditionalOperator;
    bool named = !clang_Cursor_isNull(root) && !cursor_is_member(argument) && !choice;
    const char *base = named && !is_named(d, root) ? cursor_name(root) : "";
    if (!*base)
        base = item_base(text);
    uses_t uses;
    bool seen = instances_use(d, called(d), number, &uses);
    if (!d->is_kernel && seen && !uses.accessed)
        leave_as_it_is(d, number);
    if (covered(u, d, argument, number) || kind == CXType_FunctionProto ||
        kind == CXType_FunctionNoProto)
        return;
    if (cursor_is_null_pointer(argument) ||
        (!d->is_kernel && clang_getCursorKind(flow_operand(argument)) == CXCursor_StringLiteral))
        return;
    if (seen && !uses.accessed) {
        leave_as_it_is(d, number);
        return;
    }
    if (seen ? uses_only_reads(&uses) : clang_isConstQualifiedType(element)) {
        if (!d->is_kernel && extent_is_literal(argument) && !type_holds_pointers(element))
            borrow_literal(u, d, number, base);
        else
            add_whole(u, d, number, base);
        return;
    }
    if (is_refused(d, argument))
        return;
    if (!d->refused)
        d->refused = arena_alloc((size_t)d->argument_count * sizeof(*d->refused));
    d->refused[number] = true;
    unit_error(
        u, begin, end,
        "no clause says what '%s' does with '%s', its parameter '%s' (%s); add read(%s[...]), "
        "write(%s[...]) or update(%s[...])",
        d->callee_name, text, *name ? name : arena_printf("#%d", number + 1),
        clang_text(clang_getTypeSpelling(declared)), base, base, base);
    if (seen)
        note_use(u, &uses);
    if (d->instances_differ)
        diag_at(SEVERITY_NOTE, u->source, d->launch_begin, d->launch_end,
                "the instances of the template differ: %s", d->instances_differ);
    else if (d->unsayable)
        diag_at(SEVERITY_NOTE, u->source, d->launch_begin, d->launch_end, "nothing is inferred: %s",
                d->unsayable);
    suggest_access(u, d, text);
}

bool check_pack(unit_t *u, directive_t *d)
{
    bool known = instances_are_known(d) && d->pack != PACK_OPEN, refused = false;
    if (!d->is_kernel || d->pack == PACK_NONE || instances_are_none(d))
        return true;
    for (int k = 0; known && k < d->instance_count; k++) {
        known = instance_enter(u, d, k);
        refused = known && packs_pointer(d);
        if (known)
            instance_leave(u, d);
        if (refused) {
            refuse_pack(u, d);
            diag_at(SEVERITY_NOTE, u->source, d->launch_begin, d->launch_end,
                    "'%s' is launched here in the instance '%s'", d->instance[k].title,
                    d->instance[k].place);
            return false;
        }
    }
    if (!known && !d->item_count)
        refuse_pack(u, d);
    else if (!known)
        diag_at(SEVERITY_WARNING, u->source, d->launch_begin, d->launch_end,
                "it is not known whether the parameter pack passes pointers to '%s'; no clause can "
                "name them [-Wkmm-pack]",
                d->callee_name);
    return known || d->item_count;
}

/* A struct that the launch passes twice: members in items name the arrays of both parameters. */
static void check_struct(unit_t *u, const directive_t *d, int number, CXCursor parameter)
{
    size_t begin, end;
    if (number >= d->argument_count ||
        clang_getCanonicalType(clang_getCursorType(d->argument[number])).kind != CXType_Record ||
        !covered_for_another(u, d, number) ||
        !callee_argument_range(u, d, d->argument[number], &begin, &end))
        return;
    unit_error(
        u, begin, end,
        "no clause says what '%s' does with the pointers of '%s' by its parameter '%s'; what "
        "is inferred is of another parameter, which gets the same; add read, write or update "
        "with a member of '%s'",
        d->callee_name, unit_words(u, begin, end), cursor_name(parameter),
        unit_words(u, begin, end));
}

void check_arguments(unit_t *u, directive_t *d)
{
    CXCursor f = instances_are_known(d)               ? instance_code(d->instance[0].kernel)
                 : clang_Cursor_isNull(d->definition) ? d->callee
                                                      : d->definition;
    if (instances_are_none(d))
        return;
    if (clang_Cursor_isNull(f)) { /* one of several kernels, whose parameters have the same types,
                                     or libkmm looks */
        int count =
            d->callee_type.kind == CXType_FunctionProto ? clang_getNumArgTypes(d->callee_type) : 0;
        for (int k = 0; k < count; k++)
            check_argument(u, d, k, clang_getArgType(d->callee_type, (unsigned)k),
                           clang_getNullCursor());
        return;
    }
    parameter_list_t *p = check_parameters(f);
    for (int k = 0; k < p->count && (d->pack == PACK_NONE || k < d->pack); k++)
        check_argument(u, d, k, instances_parameter(d, k, type_of_parameter(f, k, p->at[k])),
                       p->at[k]);
    for (int k = 0; k < p->count && d->pack == PACK_NONE; k++)
        check_struct(u, d, k, p->at[k]);
}

/* ---- What the code does, against what the clauses say ---- */

/* True if the code of the one function is seen to load through the parameter only what the same
 * call, or thread, has stored before. Pointers in memory are not the parameter. */
static bool reads_own_stores(const unit_t *u, const directive_t *d, int number)
{
    const ir_function_t *f = d->target_count != 1 ? NULL
                             : d->is_kernel ? ir_function_of(u->main, d->target[0].instance)
                                            : ir_plain_function_of(u->main, d->target[0].instance);
    if (!f || number >= f->param_count)
        return false;
    for (int k = 0; k < f->unknown_count; k++)
        if ((f->unknown[k].param < 0 && !f->unknown[k].is_loaded) || f->unknown[k].param == number)
            return false;
    for (int k = 0; k < f->access_count; k++)
        if (f->access[k].param == number && f->access[k].kind != IR_WRITE &&
            !f->access[k].after_write)
            return false;
    return true;
}

static void check_use(unit_t *u, const directive_t *d, const item_t *item, const uses_t *uses,
                      unsigned modes)
{
    const char *text = unit_words(u, item->begin, item->end), *name = d->callee_name;
    CXCursor store = clang_Cursor_isNull(uses->stored) ? uses->assigned : uses->stored;
    bool stores = !clang_Cursor_isNull(store), updates = !clang_Cursor_isNull(uses->updated);
    if (modes == 1u << KMM_READ && (stores || updates)) {
        unit_error(u, item->begin, item->end,
                   "'%s' is only read here, but '%s' stores to it; say %s(%s)", text, name,
                   updates ? "update" : "write", text);
        suggest_word(item, updates ? "update" : "write");
        check_note(u, updates ? uses->updated : store, "it is stored to here");
    } else if (modes == 1u << KMM_WRITE && updates) {
        diag_at(SEVERITY_WARNING, u->source, item->begin, item->end,
                "'%s' is only written here, so its old values are not brought, but '%s' depends on "
                "them; say update(%s) [-Wkmm-update]",
                text, name, text);
        suggest_word(item, "update");
        check_note(u, uses->updated, "the old value is used here");
    } else if (modes == 1u << KMM_REDUCE && !clang_Cursor_isNull(uses->result)) {
        unit_error(
            u, item->begin, item->end,
            "'%s' uses what an atomic operation on '%s' returns, but each chunk has a copy of "
            "its own; launch it without the pragma, or say "
            "update(%s) and leave it one chunk",
            name, text, text);
        check_note(u, uses->result, "it is used here");
    }
}

/* The modes of the items that speak of the argument, as bits, or else of all items that are related
 * to it. *first receives the first of them. */
static unsigned modes_of(const unit_t *u, const directive_t *d, CXCursor argument, int number,
                         const item_t **first)
{
    unsigned modes = 0;
    *first = NULL;
    for (int related = 0; related < 2 && !modes; related++)
        for (int k = 0; k < d->item_count; k++) {
            const item_t *item = &d->item[k];
            if (related ? !cursor_is_related(argument, item->base->cursor)
                        : !covered_by(u, d, item, argument, number))
                continue;
            modes |= 1u << item->mode;
            *first = *first ? *first : item;
        }
    return modes;
}

void check_parameter_use(unit_t *u, const directive_t *d, CXCursor f, CXCursor argument, int number)
{
    uses_t uses;
    const item_t *first;
    unsigned modes = modes_of(u, d, argument, number, &first);
    bool matters = modes == 1u << KMM_READ || modes == 1u << KMM_WRITE || modes == 1u << KMM_REDUCE;
    if (matters && uses_find(f, number, &uses)) {
        if (modes == 1u << KMM_WRITE && !clang_Cursor_isNull(uses.updated) &&
            reads_own_stores(u, d, number))
            return;
        check_use(u, d, first, &uses, modes);
        if (modes == 1u << KMM_WRITE && clang_Cursor_isNull(uses.updated))
            check_stored_by_data(u, d, first, number);
    }
}

void check_uses(unit_t *u, const directive_t *d)
{
    CXCursor f = called(d);
    if (clang_Cursor_isNull(f))
        return;
    const parameter_list_t *p = check_parameters(f);
    for (int k = 0; k < p->count && k < d->argument_count; k++)
        if (flow_is_pointer(type_of_parameter(f, k, p->at[k])))
            check_parameter_use(u, d, f, d->argument[k], k);
}

/* An address that a chunk gets means nothing outside of the chunk. Where a plain function stores it
 * to memory that a clause names, libkmm replaces it by the program's. */
void check_stored_addresses(unit_t *u, directive_t *d)
{
    CXCursor f = called(d);
    if (clang_Cursor_isNull(f))
        return;
    const parameter_list_t *p = check_parameters(f);
    for (int k = 0; k < p->count && k < d->argument_count; k++) {
        uses_t uses;
        size_t begin, end;
        if (!flow_is_pointer(type_of_parameter(f, k, p->at[k])) || !instances_use(d, f, k, &uses))
            continue;
        d->stores_numbers |= !clang_Cursor_isNull(uses.number);
        if (clang_Cursor_isNull(uses.kept) ||
            !callee_argument_range(u, d, d->argument[k], &begin, &end))
            continue;
        const char *name = cursor_name(p->at[k]);
        diag_at(d->is_kernel ? SEVERITY_WARNING : SEVERITY_ERROR, u->source, begin, end,
                "'%s' stores the address that is its parameter '%s' in memory to which no "
                "parameter leads, where it means nothing once the chunk is done; store it in an "
                "array that a clause names, or store an index%s",
                d->callee_name, *name ? name : arena_printf("#%d", k + 1),
                d->is_kernel ? " [-Wkmm-pointers]" : "");
        check_note(u, uses.kept, "it is stored here");
    }
}
