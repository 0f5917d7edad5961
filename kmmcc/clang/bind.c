/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what each directive governs: the statement below its pragma, and the launch in it. */
#include "clang/bind.h"

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/diag.h"
#include "base/token.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "clang/launch.h"
#include "clang/probe.h"
#include "pragma/directive.h"

/* ---- What is launched ---- */

static bool is_loop(CXCursor statement)
{
    enum CXCursorKind kind = clang_getCursorKind(statement);
    return kind == CXCursor_ForStmt || kind == CXCursor_CXXForRangeStmt ||
           kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt;
}

static void bind_launch(unit_t *u, directive_t *d)
{
    launches_t found = {.u = u};
    frame_t top = {.cursor = d->statement};
    launch_find(&found, &top, false);
    d->is_kernel = found.kernels.count > 0;
    calls_t *calls = d->is_kernel ? &found.kernels : &found.functions;
    if (found.cooperative && !d->is_kernel) {
        unit_error(
            u, d->name_begin, d->name_end,
            "a cooperative launch synchronizes its whole grid, so it cannot be split; launch "
            "it without the pragma");
    } else if (calls->count == 0 && is_loop(d->statement)) {
        unit_error(u, d->name_begin, d->name_end,
                   "'parallel' divides a launch, and the next statement is a loop; make the loop "
                   "the body of a function, and put the pragma above a call of the function");
    } else if (calls->count == 0) {
        unit_error(
            u, d->name_begin, d->name_end,
            "'parallel' governs no launch: the next statement has neither a kernel launch nor "
            "a call of a function");
    } else if (calls->generic) {
        callee_error(u, d, calls->first,
                     "which of the calls in _Generic happens is not known here; let it select the "
                     "function, as in _Generic((x), float *: f, double *: g)(n, x)");
    } else if (calls->count > 1) {
        callee_error(u, d, calls->second,
                     "'parallel' governs several launches; it must govern exactly one: give each a "
                     "pragma of its own");
    } else if (!unit_is_in(u, calls->first)) {
        callee_error(u, d, calls->first,
                     "the launch stands in another file; write it out below the pragma");
    } else if (!d->is_kernel && calls->use >= USE_VALUE && calls->argument) {
        callee_error(u, d, calls->first,
                     "the call is a part of a macro's argument, so no chunks can take its place; "
                     "write out what the macro writes around it");
    } else if (!d->is_kernel && calls->use == USE_PART) {
        callee_error(u, d, calls->first,
                     "the call is a part of a larger expression, so no chunks can take its place; "
                     "make it a statement of its own");
    } else if (!d->is_kernel && calls->use == USE_VALUE) {
        callee_error(u, d, calls->first,
                     "the result of the call must not be used: its chunks have one result each");
    } else if (!calls->placed) {
        callee_error(u, d, calls->first,
                     "the launch must be in a statement of its own, and not in a declaration or a "
                     "condition");
    } else {
        d->launch = calls->first;
        d->form = calls->form;
        d->launch_begin = calls->begin;
        d->launch_end = calls->end;
        d->returns = !d->is_kernel && calls->use == USE_RETURN;
        callee_bind(u, d);
    }
}

/* ---- From pragma to statement ---- */

typedef struct scope {
    unit_t *u;
    const struct scope *up;
    CXCursor cursor;
    bool elsewhere; /* declarations of other files are searched, too: they may include the file */
} scope_t;

/* True if the type of what a pointer or reference leads to depends on a template. */
static bool is_open(CXType type)
{
    CXType inner = clang_getPointeeType(type);
    return inner.kind != CXType_Invalid ? is_open(inner) : type_is_dependent(type);
}

/* True for a template, and for a lambda with a parameter whose type depends on the call. */
static bool is_generic(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    cursors_t list = kind == CXCursor_LambdaExpr ? cursor_children(c) : (cursors_t){0};
    bool generic = false;
    for (int k = 0; k < list.count; k++) {
        enum CXCursorKind child = clang_getCursorKind(list.at[k]);
        generic |= child == CXCursor_TemplateTypeParameter ||
                   child == CXCursor_NonTypeTemplateParameter ||
                   (child == CXCursor_ParmDecl && is_open(clang_getCursorType(list.at[k])));
    }
    return generic || kind == CXCursor_FunctionTemplate || kind == CXCursor_ClassTemplate ||
           kind == CXCursor_ClassTemplatePartialSpecialization;
}

static void bind_scope(directive_t *d, const scope_t *at)
{
    d->parent = at->up->cursor;
    d->function = d->top = d->outermost = clang_getNullCursor();
    d->in_template = false;
    d->instance_count = 0;
    d->instances = INSTANCES_NONE;
    d->pack = PACK_NONE;
    for (const scope_t *s = at; s->up; s = s->up) {
        enum CXCursorKind kind = clang_getCursorKind(s->cursor);
        bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ||
                        kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
                        kind == CXCursor_Destructor;
        d->in_template |=
            is_generic(s->cursor) || is_generic(clang_getCursorSemanticParent(s->cursor));
        if (function && clang_Cursor_isNull(d->function))
            d->function = s->cursor;
        if (!cursor_is_namespace(s->cursor))
            d->top = s->cursor;
        if (!at->elsewhere || (clang_isDeclaration(kind) && unit_is_in(at->u, s->cursor)))
            d->outermost = s->cursor;
    }
}

/* The range of the governed statement. */
static void bind_statement(unit_t *u, directive_t *d)
{
    if (!unit_range(u, d->statement, &d->statement_begin, &d->statement_end)) {
        unit_error(u, d->name_begin, d->name_end,
                   "the statement below is written by a macro; write it out, or put it in braces");
        d->broken = true;
        return;
    }
    token_t after = launch_token_after(u->source, d->statement_end);
    if (token_is(u->source, after, ";"))
        d->statement_end = after.end;
}

static void bind_directive(unit_t *u, directive_t *d, const scope_t *at)
{
    cursors_t list = cursor_children(at->cursor);
    d->bound = true;
    bind_scope(d, at);
    d->probed = at->cursor;
    probe_types(u, d, d->probed);
    d->statement = list.at[list.count - 1];
    d->launch = clang_getNullCursor();
    if (d->broken)
        return;
    if (d->kind == DIRECTIVE_PARALLEL)
        bind_launch(u, d);
    else if (d->kind == DIRECTIVE_TASK || d->kind == DIRECTIVE_DATA)
        bind_statement(u, d);
    if (d->kind == DIRECTIVE_DATA && clang_getCursorKind(d->statement) != CXCursor_CompoundStmt)
        unit_error(u, d->name_begin, d->name_end,
                   "'data' governs a block: put '{' after the pragma");
    if (directive_stands_alone(d) && clang_getCursorKind(d->parent) != CXCursor_CompoundStmt)
        unit_error(u, d->name_begin, d->name_end,
                   "'%s' stands in a block, not as the body of another statement; add braces",
                   source_words(u->source, d->name_begin, d->name_end));
}

static directive_t *directive_at(const unit_t *u, CXCursor c, bool elsewhere)
{
    unsigned offset;
    if (clang_getCursorKind(c) != CXCursor_IfStmt || (elsewhere && !unit_is_in(u, c)))
        return NULL;
    clang_getFileLocation(clang_getRangeStart(clang_getCursorExtent(c)), NULL, NULL, NULL, &offset);
    for (int k = 0; k < u->directive_count; k++)
        if (u->directives[k]->parsed_at == offset && !u->directives[k]->bound)
            return u->directives[k];
    return NULL;
}

static enum CXChildVisitResult visit_scope(CXCursor c, CXCursor parent, CXClientData data)
{
    const scope_t *up = data;
    scope_t at = {up->u, up, c, up->elsewhere};
    (void)parent;
    if (!up->up && (up->elsewhere ? cursor_is_system(c) : !unit_is_in(up->u, c)))
        return CXChildVisit_Continue;
    directive_t *d = directive_at(up->u, c, up->elsewhere);
    if (d)
        bind_directive(up->u, d, &at);
    clang_visitChildren(c, visit_scope, &at);
    return CXChildVisit_Continue;
}

static void refuse_doubles(unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++)
        for (int m = 0; m < k; m++) {
            directive_t *d = u->directives[k], *other = u->directives[m];
            if (!d->bound || !other->bound || clang_Cursor_isNull(d->launch) ||
                !clang_equalCursors(d->launch, other->launch))
                continue;
            unit_error(u, d->name_begin, d->name_end,
                       "the launch has a pragma already; put the clauses of both into one");
            diag_at(SEVERITY_NOTE, u->source, other->name_begin, other->name_end,
                    "the other one is here");
        }
}

/* True if the directive should have been bound. */
static bool is_left(unit_t *u, const directive_t *d)
{
    return !d->bound && !d->broken && d->kind != DIRECTIVE_DECLARE &&
           !disabled_in_parsed(u, d->parsed_at);
}

/* A header may be included within a namespace, a class or a function. */
static void bind_within_others(unit_t *u, scope_t file)
{
    file.elsewhere = true;
    for (int k = 0; k < u->directive_count && u != u->main; k++)
        if (is_left(u, u->directives[k])) {
            clang_visitChildren(file.cursor, visit_scope, &file);
            return;
        }
}

void bind_directives(unit_t *u)
{
    scope_t file = {.u = u, .cursor = clang_getTranslationUnitCursor(u->tu)};
    if (u != u->main && !unit_is_included(u))
        return;
    clang_visitChildren(file.cursor, visit_scope, &file);
    bind_within_others(u, file);
    refuse_doubles(u);
    for (int k = 0; k < u->directive_count; k++) {
        directive_t *d = u->directives[k];
        if (is_left(u, d))
            unit_error(u, d->name_begin, d->name_end,
                       "the pragma governs nothing: it does not stand before a statement");
    }
}
