/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that can run a part of their grid: copies whose first parameter says which part, and in
 * which `blockIdx` and `gridDim` are locals that hide the built-in ones. Functions that kernels
 * call are copied in the same way if they use `blockIdx` or `gridDim`.
 */
#include "gpu/clone.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/hazard.h"
#include "base/arena.h"
#include "base/diag.h"
#include "clang/cursor.h"
#include "gpu/change.h"
#include "gpu/copy.h"
#include "gpu/name.h"
#include "gpu/partials.h"
#include "gpu/reach.h"
#include "gpu/register.h"
#include "gpu/share.h"

/* ---- Which kernels ---- */

static bool is_kernel_launch(const directive_t *d)
{
    return d->bound && d->kind == DIRECTIVE_PARALLEL && d->is_kernel &&
           !clang_Cursor_isNull(d->launch);
}

/* A search for a kernel, or a function that it calls, whose body is in a header of the program. The
 * first parse leaves out bodies in headers. */
typedef struct calls {
    unit_t *u;
    CXCursor seen[512];
    int seen_count;
    bool found;
} calls_t;

static enum CXChildVisitResult find_header(CXCursor c, CXCursor parent, CXClientData data)
{
    calls_t *calls = data;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_DeclRefExpr &&
        clang_getCursorKind(c) != CXCursor_MemberRefExpr)
        return CXChildVisit_Recurse;
    CXCursor f = clang_getCursorReferenced(c);
    if (!clang_isDeclaration(clang_getCursorKind(f)) ||
        clang_getCursorResultType(f).kind == CXType_Invalid ||
        clang_Location_isInSystemHeader(clang_getCursorLocation(f)))
        return CXChildVisit_Recurse;
    f = clang_getCursorDefinition(f);
    size_t begin, end;
    if (clang_Cursor_isNull(f) || !unit_range(calls->u, f, &begin, &end)) {
        calls->found = true;
        return CXChildVisit_Break;
    }
    for (int k = 0; k < calls->seen_count; k++)
        if (clang_equalCursors(calls->seen[k], f))
            return CXChildVisit_Recurse;
    if (calls->seen_count < 512) {
        calls->seen[calls->seen_count++] = f;
        clang_visitChildren(f, find_header, calls);
    }
    return calls->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool launch_needs_headers(unit_t *file, const directive_t *d, calls_t *calls)
{
    size_t begin, end;
    for (int k = 0; k < d->target_count; k++) {
        CXCursor definition = d->target[k].definition;
        if (clang_Cursor_isNull(definition) || !unit_range(file->main, definition, &begin, &end))
            return true;
        clang_visitChildren(definition, find_header, calls);
    }
    return calls->found;
}

bool clone_needs_headers(unit_t *u)
{
    calls_t *calls = arena_alloc(sizeof(*calls));
    calls->u = u;
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++)
            if (is_kernel_launch(file->directives[k]) &&
                launch_needs_headers(file, file->directives[k], calls))
                return true;
    return false;
}

/* ---- Kernels that cannot be cloned ---- */

static const function_t *find_reached(const function_t *f, int depth,
                                      bool (*is)(const function_t *))
{
    const function_t *found = is(f) ? f : NULL;
    for (const reach_call_t *c = f->calls; c && !found && depth < 32; c = c->next)
        for (int k = 0; k < c->callee_count && !found; k++)
            if (c->callee[k] != f && !c->callee[k]->is_kernel)
                found = find_reached(c->callee[k], depth + 1, is);
    return found;
}

static bool syncs_grid(const function_t *f)
{
    return f->syncs_grid;
}

static bool uses_cluster(const function_t *f)
{
    return f->is_cluster;
}

static bool asks_assembly(const function_t *f)
{
    return f->asks_assembly;
}

static bool calls_pointer(const function_t *f)
{
    return f->calls_pointer;
}

static bool asks_grid(const function_t *f)
{
    return f->reads_index || f->reads_dim || f->reads_group;
}

/* A search for functions that ask for their block or grid, and whose addresses variables hold. */
typedef struct held {
    unit_t *u;
    bool in_variable;
    const char *name; /* of one; NULL: there is none */
} held_t;

static enum CXChildVisitResult find_held(CXCursor c, CXCursor parent, CXClientData data)
{
    held_t *h = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_VarDecl && !h->in_variable) {
        h->in_variable = true;
        clang_visitChildren(c, find_held, h);
        h->in_variable = false;
        return CXChildVisit_Continue;
    }
    if (h->in_variable && kind == CXCursor_DeclRefExpr) {
        CXCursor f = clang_getCursorDefinition(clang_getCursorReferenced(c));
        if (clang_getCursorKind(f) == CXCursor_FunctionDecl && unit_holding(h->u, f) &&
            find_reached(reach_kernel(h->u, f), 0, asks_grid))
            h->name = cursor_name(f);
        return CXChildVisit_Continue;
    }
    return h->in_variable || kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec
               ? CXChildVisit_Recurse
               : CXChildVisit_Continue;
}

static const char *held_name(unit_t *u)
{
    held_t h = {.u = u};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_held, &h);
    return h.name;
}

static bool hides_group(const function_t *f)
{
    return f->is_hidden_group;
}

static void error_of(const unit_t *u, const directive_t *d, const char *message)
{
    diag_at(SEVERITY_ERROR, u->source, d->name_at,
            d->name_after > d->name_at ? d->name_after : d->launch_end, "%s", message);
}

static bool has_written_name(const function_t *f)
{
    size_t at = change_name_offset(f->u, f->cursor), length = strlen(f->name);
    return at + length <= f->u->source->length &&
           !strncmp(f->u->source->text + at, f->name, length);
}

static void check_target(unit_t *u, const directive_t *d, const target_kernel_t *t)
{
    const char *name = cursor_name(t->kernel);
    if (clang_Cursor_isNull(t->definition)) {
        if (cursor_is_template(t->kernel))
            error_of(u, d,
                     arena_printf("kernel '%s' is a template that is only declared here; a launch "
                                  "of it can be split where its definition is seen: include it",
                                  name));
        return;
    }
    const function_t *f = reach_kernel(u, t->definition);
    const char *held = f->u && find_reached(f, 0, calls_pointer) ? held_name(u) : NULL;
    if (!f->u)
        error_of(
            u, d,
            arena_printf("kernel '%s' is written by a macro, so it cannot be split; write it out",
                         name));
    else if (!has_written_name(f))
        error_of(u, d,
                 arena_printf("the name of kernel '%s' is written by a macro, so the kernel cannot "
                              "be split; write its name out, or make it a template",
                              name));
    else if (find_reached(f, 0, syncs_grid))
        error_of(u, d,
                 arena_printf("kernel '%s' synchronizes its whole grid (cooperative groups), so it "
                              "cannot be split; launch it without the pragma",
                              name));
    else if (find_reached(f, 0, uses_cluster))
        error_of(
            u, d,
            arena_printf("kernel '%s' uses clusters of thread blocks or several grids (cooperative "
                         "groups), so it cannot be split; launch it without the pragma",
                         name));
    else if (find_reached(f, 0, asks_assembly))
        error_of(
            u, d,
            arena_printf("kernel '%s' asks for its block or grid by assembly, which would give "
                         "those of a chunk; use blockIdx and gridDim",
                         name));
    else if (held)
        error_of(u, d,
                 arena_printf("kernel '%s' calls a function through a pointer, and '%s', of which "
                              "a variable holds the address, asks for its block or grid: it would "
                              "get those of a chunk; pass it what it asks for",
                              name, held));
    else if (find_reached(f, 0, hides_group))
        error_of(u, d,
                 arena_printf("kernel '%s' asks a cooperative group for the grid in a macro, so it "
                              "cannot be split; write it out",
                              name));
    else if (cursor_is_template(t->kernel) && !d->names_clone &&
             !register_template_arguments(t->instance))
        error_of(u, d,
                 arena_printf("the template arguments of kernel '%s' are not known here; write its "
                              "launch out below the pragma",
                              name));
}

void clone_check(unit_t *u)
{
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            const directive_t *d = file->directives[k];
            for (int i = 0; is_kernel_launch(d) && i < d->target_count; i++)
                check_target(file, d, &d->target[i]);
        }
}

/* ---- All clones ---- */

typedef struct special {
    unit_t *u;
    CXCursor general;
    bool has;
} special_t;

/* Explicit specializations of the template. */
static enum CXChildVisitResult find_special(CXCursor c, CXCursor parent, CXClientData data)
{
    special_t *s = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (cursor_is_namespace(c))
        return cursor_is_system(c) ? CXChildVisit_Continue : CXChildVisit_Recurse;
    if (kind != CXCursor_FunctionDecl || !clang_isCursorDefinition(c))
        return CXChildVisit_Continue;
    CXCursor general = clang_getSpecializedCursorTemplate(c);
    if (!clang_Cursor_isNull(general) &&
        clang_equalCursors(clang_getCanonicalCursor(general), clang_getCanonicalCursor(s->general)))
        reach_kernel(s->u, c)->is_copied = s->has = true;
    return CXChildVisit_Continue;
}

static bool calls_elsewhere(const unit_t *u, CXCursor kernel)
{
    hazards_t h = hazards_of(kernel);
    return hazard_calls_elsewhere(u, &h);
}

static void add_kernels(unit_t *u, const directive_t *d)
{
    for (int k = 0; k < d->target_count; k++) {
        const target_kernel_t *t = &d->target[k];
        if (clang_Cursor_isNull(t->definition) ||
            (!cursor_is_template(t->kernel) && calls_elsewhere(u, t->definition)))
            continue;
        function_t *f = reach_kernel(u, t->definition);
        special_t special = {u, t->kernel, false};
        f->is_copied = true;
        if (cursor_is_template(t->kernel))
            clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_special, &special);
        f->is_special |= special.has;
    }
}

/* Every kernel, but those that cannot be told and those that are templates. */
static enum CXChildVisitResult add_any(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *u = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (cursor_is_system(c))
        return CXChildVisit_Continue;
    if (cursor_is_namespace(c))
        return CXChildVisit_Recurse;
    if (kind != CXCursor_FunctionDecl || !cursor_is_kernel(c) || !clang_isCursorDefinition(c) ||
        !clang_Cursor_isNull(clang_getSpecializedCursorTemplate(c)))
        return CXChildVisit_Continue;
    function_t *f = reach_kernel(u, c);
    f->is_copied |= f->u && !find_reached(f, 0, syncs_grid) && !find_reached(f, 0, uses_cluster) &&
                    !find_reached(f, 0, hides_group) && !calls_elsewhere(u, c);
    return CXChildVisit_Continue;
}

void clone_kernels(unit_t *u)
{
    if (u->options->clones_all)
        clang_visitChildren(clang_getTranslationUnitCursor(u->tu), add_any, u);
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++)
            if (is_kernel_launch(file->directives[k]))
                add_kernels(u, file->directives[k]);
    reach_close(u);
    partials_choose(u);
    bool shares = share_is_needed(u);
    for (function_t *f = u->functions; f; f = f->next)
        f->is_copied |= f->is_told && !f->is_kernel && !f->holds_lambdas;
    name_choose_prefix(u);
    if (shares)
        clang_visitChildren(clang_getTranslationUnitCursor(u->tu), share_kernel, u);
    for (function_t *f = u->functions; f; f = f->next) {
        if (f->is_shared && reach_is_told(f))
            share_function(u, f);
        if (f->holds_lambdas)
            share_lambdas(f);
        if (f->is_copied && f->u)
            copy_function(u, f, shares);
    }
}

/* A launch of a template names the clone, and the compiler chooses the instance. */
void clone_launch(unit_t *u, const directive_t *d)
{
    if (!d->names_clone)
        return;
    unit_edit(u, d->name_at, d->name_at,
              name_prefix_at(u, u->source, d->name_at, d->target[0].kernel, d->function));
    const char *type = clang_Cursor_isNull(d->target[0].definition)
                           ? "kmm_blocks_t"
                           : partials_type(reach_kernel(u->main, d->target[0].definition));
    unit_edit(u, d->open, d->open,
              arena_printf("%s()%s", type, change_has_arguments(u->source, d->open) ? ", " : ""));
}
