/* SPDX-License-Identifier: Apache-2.0 */
/* What the clauses say of each argument of a launch, against what the code does. */
#include "analyze/check_argument.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/suggest.h"
#include "analyze/uses.h"
#include "base/arena.h"
#include "base/diag.h"
#include "clang/cursor.h"
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

static bool is_covered(const directive_t *d, CXCursor root)
{
    for (int k = 0; k < d->item_count; k++)
        if (!clang_Cursor_isNull(root) &&
            clang_equalCursors(clang_getCanonicalCursor(root),
                               clang_getCanonicalCursor(d->item[k].root)))
            return true;
    return false;
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

/* What a launch with one axis most often does to an argument, and what is right of most others. */
static void suggest_access(const unit_t *u, const directive_t *d, const char *argument)
{
    if (d->axis_count == 1)
        suggest_clause(u, d, "if each index changes its own element",
                       arena_printf("update(%s[%s])", item_base(argument), d->axis[0].name));
}

/* Adds the access that is assumed for a pointer to const. */
static void add_whole(unit_t *u, directive_t *d, int number, const char *name)
{
    size_t begin, end;
    if (!unit_range(u, d->argument[number], &begin, &end))
        return;
    item_t *item = directive_add_item(d);
    if (!item)
        return;
    expr_t *base = arena_alloc(sizeof(*base));
    *base = (expr_t){.kind = EXPR_OPAQUE,
                     .begin = begin,
                     .end = end,
                     .cursor = d->argument[number],
                     .type = clang_getCursorType(d->argument[number])};
    *item = (item_t){.begin = begin,
                     .end = end,
                     .mode = KMM_READ,
                     .base = base,
                     .root = cursor_root(d->argument[number])};
    diag_at(SEVERITY_WARNING, u->source, begin, end,
            "no clause says what is read of '%s', so each chunk reads the whole array; add "
            "read(%s[...]) [-Wkmm-whole]",
            unit_words(u, begin, end), name);
    if (!d->declared_in)
        suggest_clause(u, d, "if it is meant",
                       arena_printf("read(%s)", item_base(unit_words(u, begin, end))));
}

/* Whether the code of the kernel or function shows that it stores nothing to what the parameter
 * points to. */
static bool is_only_read(const directive_t *d, CXCursor parameter)
{
    uses_t uses;
    CXCursor f = clang_Cursor_isNull(d->definition) && !clang_Cursor_isNull(d->callee)
                     ? clang_getCursorDefinition(d->callee)
                     : d->definition;
    return uses_find(f, parameter, &uses) && clang_Cursor_isNull(uses.stored) &&
           clang_Cursor_isNull(uses.updated) && clang_Cursor_isNull(uses.escaped);
}

/* `parameter` is null where only the type is known. */
static void check_argument(unit_t *u, directive_t *d, int number, CXType declared,
                           CXCursor parameter)
{
    size_t begin, end;
    CXType type = clang_getCanonicalType(declared);
    if (type.kind != CXType_Pointer || number >= d->argument_count ||
        !unit_range(u, d->argument[number], &begin, &end))
        return;
    CXType element = clang_getCanonicalType(clang_getPointeeType(type));
    enum CXTypeKind kind = element.kind;
    const char *name = clang_Cursor_isNull(parameter) ? "" : cursor_name(parameter),
               *text = unit_words(u, begin, end);
    CXCursor root = cursor_root(d->argument[number]);
    const char *base = clang_Cursor_isNull(root) ? "" : cursor_name(root);
    if (!*base)
        base = text;
    if (is_covered(d, root) || kind == CXType_FunctionProto || kind == CXType_FunctionNoProto)
        return;
    if (!strcmp(text, "NULL") || !strcmp(text, "nullptr") || !strcmp(text, "0"))
        return;
    if (clang_isConstQualifiedType(element) || is_only_read(d, parameter)) {
        add_whole(u, d, number, base);
        return;
    }
    unit_error(
        u, begin, end,
        "no clause says what '%s' does with '%s', its parameter '%s' (%s); add read(%s[...]), "
        "write(%s[...]) or update(%s[...])",
        d->callee_name, text, *name ? name : arena_printf("#%d", number + 1),
        clang_text(clang_getTypeSpelling(declared)), base, base, base);
    suggest_access(u, d, text);
}

void check_arguments(unit_t *u, directive_t *d)
{
    CXCursor f = clang_Cursor_isNull(d->definition) ? d->callee : d->definition;
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
    for (int k = 0; k < p->count; k++)
        check_argument(u, d, k, clang_getCursorType(p->at[k]), p->at[k]);
}

/* ---- What the code does, against what the clauses say ---- */

void check_note(const unit_t *u, CXCursor where, const char *text)
{
    size_t begin, end;
    if (unit_range(u, where, &begin, &end))
        diag_at(SEVERITY_NOTE, u->source, begin, end, "%s", text);
}

static void check_use(unit_t *u, const directive_t *d, const item_t *item, const uses_t *uses,
                      unsigned modes)
{
    const char *text = unit_words(u, item->begin, item->end), *name = d->callee_name;
    bool stores = !clang_Cursor_isNull(uses->stored), updates = !clang_Cursor_isNull(uses->updated);
    if (modes == 1u << KMM_READ && (stores || updates)) {
        unit_error(u, item->begin, item->end,
                   "'%s' is only read here, but '%s' stores to it; say %s(%s)", text, name,
                   updates ? "update" : "write", text);
        suggest_word(item, updates ? "update" : "write");
        check_note(u, updates ? uses->updated : uses->stored, "it is stored to here");
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

void check_parameter_use(unit_t *u, const directive_t *d, CXCursor f, CXCursor root,
                         CXCursor parameter)
{
    uses_t uses;
    unsigned modes = 0;
    const item_t *first = NULL;
    for (int k = 0; k < d->item_count && !clang_Cursor_isNull(root); k++) {
        if (!clang_equalCursors(clang_getCanonicalCursor(root),
                                clang_getCanonicalCursor(d->item[k].root)))
            continue;
        modes |= 1u << d->item[k].mode;
        first = first ? first : &d->item[k];
    }
    bool matters = modes == 1u << KMM_READ || modes == 1u << KMM_WRITE || modes == 1u << KMM_REDUCE;
    if (matters && clang_getCanonicalType(clang_getCursorType(parameter)).kind == CXType_Pointer &&
        uses_find(f, parameter, &uses))
        check_use(u, d, first, &uses, modes);
}

void check_uses(unit_t *u, const directive_t *d)
{
    CXCursor f = clang_Cursor_isNull(d->definition) && !clang_Cursor_isNull(d->callee)
                     ? clang_getCursorDefinition(d->callee)
                     : d->definition;
    if (clang_Cursor_isNull(f))
        return;
    const parameter_list_t *p = check_parameters(f);
    for (int k = 0; k < p->count && k < d->argument_count; k++)
        check_parameter_use(u, d, f, cursor_root(d->argument[k]), p->at[k]);
}
