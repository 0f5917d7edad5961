/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libclang shows no instances of a template where the template stands. But each name that is used
 * refers to the instance that it means, and an instance has a body, in which clang has replaced the
 * parameters. So the instances are found by following the names that functions use.
 */
#include "clang/instance.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "clang/callee.h"
#include "clang/cursor.h"
#include "clang/launch.h"
#include "clang/probe.h"

bool instance_is_open(const directive_t *d)
{
    return d->bound && !d->broken && d->kind == DIRECTIVE_PARALLEL && d->in_template &&
           d->is_kernel && d->form == LAUNCH_CHEVRON && !clang_Cursor_isNull(d->launch);
}

/* ---- Instances of functions ---- */

typedef struct parameter {
    unsigned number;
    CXType type;
} parameter_t;

static enum CXChildVisitResult find_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    parameter_t *p = data;
    (void)parent;
    p->type = clang_getCanonicalType(clang_getCursorType(c));
    return p->number-- ? CXChildVisit_Continue : CXChildVisit_Break;
}

long long instance_value(CXCursor instance, unsigned number)
{
    long long value = clang_Cursor_getTemplateArgumentValue(instance, number);
    parameter_t p = {number, {.kind = CXType_Invalid}};
    if (value >= 0)
        return value;
    clang_visitChildren(clang_getSpecializedCursorTemplate(instance), find_parameter, &p);
    bool is_unsigned = p.type.kind >= CXType_Bool && p.type.kind <= CXType_UInt128;
    return is_unsigned ? (long long)clang_Cursor_getTemplateArgumentUnsignedValue(instance, number)
                       : value;
}

/* An instance that the program does not write stands where its template does. */
CXCursor instance_code(CXCursor function)
{
    CXCursor template = clang_getSpecializedCursorTemplate(function),
             own = clang_getCursorDefinition(function);
    if (clang_Cursor_isNull(template))
        return own;
    CXCursor general = clang_getCursorDefinition(template);
    bool is_written =
        !clang_Cursor_isNull(own) &&
        !clang_equalLocations(clang_getCursorLocation(own), clang_getCursorLocation(general));
    return is_written ? own : general;
}

/* ---- Titles ---- */

/* The name with its template arguments; of a function that has none, with its parameters. */
static const char *title_of(CXCursor f)
{
    int count = clang_Cursor_getNumTemplateArguments(f);
    if (count <= 0)
        return clang_text(clang_getCursorDisplayName(f));
    text_t out = {0};
    text_printf(&out, "%s", cursor_name(f));
    for (int k = 0; k < count; k++) {
        const char *text = "..";
        CXType type;
        switch (clang_Cursor_getTemplateArgumentKind(f, (unsigned)k)) {
        case CXTemplateArgumentKind_Type:
            type = clang_Cursor_getTemplateArgumentType(f, (unsigned)k);
            text = clang_text(clang_getTypeSpelling(type));
            break;
        case CXTemplateArgumentKind_Integral:
            text = arena_printf("%lld", instance_value(f, (unsigned)k));
            break;
        default: break;
        }
        text_printf(&out, "%s%s", k ? ", " : "<", text);
    }
    text_printf(&out, ">");
    return out.data;
}

static bool is_class(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_ClassDecl || kind == CXCursor_StructDecl;
}

/* The function with its template arguments, and those of the classes that it is a member of. */
static const char *place_of(CXCursor f)
{
    const char *text = title_of(f);
    for (CXCursor c = clang_getCursorSemanticParent(f); is_class(c);
         c = clang_getCursorSemanticParent(c))
        if (*cursor_name(c) && !strchr(cursor_name(c), '('))
            text = arena_printf("%s::%s", title_of(c), text);
    return text;
}

/* ---- The walk ---- */

typedef struct seen {
    CXCursor *slot; /* a table; null cursors are free slots */
    unsigned size, count;
} seen_t;

typedef struct search {
    unit_t *main;
    reach_t reach;
    cursors_t left; /* instances whose bodies are still to be visited */
    seen_t seen;
    CXCursor function; /* whose body is visited */
} search_t;

static void put(seen_t *s, CXCursor c)
{
    unsigned at = clang_hashCursor(c) % s->size;
    while (!clang_Cursor_isNull(s->slot[at]))
        at = (at + 1) % s->size;
    s->slot[at] = c;
    s->count++;
}

static bool has(const seen_t *s, CXCursor c)
{
    for (unsigned at = s->size ? clang_hashCursor(c) % s->size : 0;
         s->size && !clang_Cursor_isNull(s->slot[at]); at = (at + 1) % s->size)
        if (clang_equalCursors(s->slot[at], c))
            return true;
    return false;
}

static void grow(seen_t *s)
{
    seen_t old = *s;
    if (2 * (s->count + 1) < s->size)
        return;
    s->size = old.size ? 2 * old.size : 256;
    s->slot = arena_alloc(s->size * sizeof(*s->slot));
    s->count = 0;
    for (unsigned k = 0; k < s->size; k++)
        s->slot[k] = clang_getNullCursor();
    for (unsigned k = 0; k < old.size; k++)
        if (!clang_Cursor_isNull(old.slot[k]))
            put(s, old.slot[k]);
}

static bool is_function(CXCursor f)
{
    switch (clang_getCursorKind(f)) {
    case CXCursor_FunctionDecl:
    case CXCursor_CXXMethod:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_ConversionFunction: return true;
    default: return false;
    }
}

/* Functions that are no instances are visited where they stand. */
static void follow(search_t *s, CXCursor f)
{
    if (!is_function(f) || clang_Cursor_isNull(clang_getSpecializedCursorTemplate(f)) ||
        (s->reach == REACH_PROGRAM && cursor_is_system(f)))
        return;
    CXCursor definition = clang_getCursorDefinition(f);
    f = clang_Cursor_isNull(definition) ? f : definition;
    if (has(&s->seen, f))
        return;
    grow(&s->seen);
    put(&s->seen, f);
    s->left.at = arena_grow(s->left.at, s->left.count, &s->left.capacity, sizeof(*s->left.at));
    s->left.at[s->left.count++] = f;
}

static directive_t *directive_at(const search_t *s, CXCursor c)
{
    unsigned offset;
    CXFile file;
    clang_getFileLocation(clang_getRangeStart(clang_getCursorExtent(c)), &file, NULL, NULL,
                          &offset);
    const unit_t *u = file ? unit_of_file(s->main, file) : NULL;
    for (int k = 0; u && k < u->directive_count; k++)
        if (u->directives[k]->parsed_at == offset && instance_is_open(u->directives[k]))
            return u->directives[k];
    return NULL;
}

/* The launch in a statement with a probe; null: there is none, as in a branch that is not taken. */
static CXCursor launch_in(unit_t *u, CXCursor statement)
{
    launches_t found = {.u = u};
    frame_t top = {.cursor = cursor_last_child(statement)};
    launch_find(&found, &top, false);
    return found.kernels.count == 1 ? found.kernels.first : clang_getNullCursor();
}

static void note(search_t *s, directive_t *d, CXCursor statement)
{
    CXCursor launch = launch_in(s->main, statement);
    if (clang_Cursor_isNull(launch) || clang_equalCursors(launch, d->launch))
        return;
    CXCursor kernel = callee_of(launch);
    if (clang_getCursorKind(kernel) != CXCursor_FunctionDecl &&
        clang_getCursorKind(kernel) != CXCursor_CXXMethod)
        return; /* a generic lambda within an instance is still a template */
    for (int k = 0; k < d->instance_count; k++)
        if (clang_equalCursors(d->instance[k].statement, statement))
            return;
    d->instance =
        arena_grow(d->instance, d->instance_count, &d->instance_capacity, sizeof(*d->instance));
    d->instance[d->instance_count++] =
        (instance_t){statement, s->function, kernel, title_of(kernel), place_of(s->function)};
}

static bool is_template(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_FunctionTemplate || kind == CXCursor_ClassTemplate ||
           kind == CXCursor_ClassTemplatePartialSpecialization;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *s = data;
    (void)parent;
    if (is_template(c))
        return CXChildVisit_Continue;
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr || kind == CXCursor_CallExpr)
        follow(s, clang_getCursorReferenced(c));
    directive_t *d = kind == CXCursor_IfStmt ? directive_at(s, c) : NULL;
    if (d)
        note(s, d, c);
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult visit_top(CXCursor c, CXCursor parent, CXClientData data)
{
    if (cursor_is_system(c))
        return CXChildVisit_Continue;
    visit(c, parent, data);
    if (!is_template(c))
        clang_visitChildren(c, visit, data);
    return CXChildVisit_Continue;
}

void instance_find(unit_t *main, reach_t reach)
{
    search_t s = {.main = main, .reach = reach};
    s.function = clang_getNullCursor();
    clang_visitChildren(clang_getTranslationUnitCursor(main->tu), visit_top, &s);
    while (s.left.count) {
        s.function = s.left.at[--s.left.count];
        clang_visitChildren(s.function, visit, &s);
    }
}

/* ---- One instance ---- */

bool instance_enter(unit_t *u, directive_t *d, int number)
{
    const instance_t *i = &d->instance[number];
    CXCursor launch = launch_in(u, i->statement);
    if (clang_Cursor_isNull(launch) || d->pack == PACK_OPEN ||
        (d->pack == PACK_NONE &&
         clang_Cursor_getNumArguments(launch) != clang_Cursor_getNumArguments(d->launch)))
        return false;
    d->pattern = arena_alloc(sizeof(*d->pattern));
    *d->pattern = *d;
    d->launch = launch;
    callee_bind_instance(d);
    d->callee_name = i->title;
    probe_types(u, d, i->statement);
    for (int k = 0; k < d->item_count; k++)
        for (int a = 0; a < d->argument_count && a < d->pattern->argument_count; a++)
            if (clang_equalCursors(d->item[k].base->cursor, d->pattern->argument[a])) {
                d->item[k].base->cursor = d->argument[a];
                d->item[k].base->type = clang_getCursorType(d->argument[a]);
            }
    return true;
}

void instance_leave(unit_t *u, directive_t *d)
{
    const directive_t *p = d->pattern;
    CXCursor *entered = d->argument;
    int count = d->argument_count < p->argument_count ? d->argument_count : p->argument_count;
    d->launch = p->launch;
    d->callee = p->callee;
    d->definition = p->definition;
    d->callee_type = p->callee_type;
    d->callee_name = p->callee_name;
    d->target = p->target;
    d->target_count = p->target_count;
    d->argument = p->argument;
    d->argument_count = p->argument_count;
    d->pattern = NULL;
    probe_types(u, d, d->probed);
    for (int k = 0; k < d->item_count; k++)
        for (int a = 0; a < count; a++)
            if (clang_equalCursors(d->item[k].base->cursor, entered[a])) {
                d->item[k].base->cursor = d->argument[a];
                d->item[k].base->type = clang_getCursorType(d->argument[a]);
            }
}

/* ---- Values of parameters ---- */

typedef struct parameters {
    CXCursor of;
    int count;
    instance_visit_fn *visit;
    void *context;
} parameters_t;

static enum CXChildVisitResult visit_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    parameters_t *p = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind != CXCursor_TemplateTypeParameter && kind != CXCursor_NonTypeTemplateParameter &&
        kind != CXCursor_TemplateTemplateParameter)
        return CXChildVisit_Break;
    unsigned k = (unsigned)p->count++;
    if (kind == CXCursor_NonTypeTemplateParameter && *cursor_name(c) &&
        clang_Cursor_getTemplateArgumentKind(p->of, k) == CXTemplateArgumentKind_Integral)
        p->visit(p->context, cursor_name(c), instance_value(p->of, k));
    return CXChildVisit_Continue;
}

void instance_values(const instance_t *i, instance_visit_fn *visit, void *context)
{
    for (CXCursor c = i->function; is_function(c) || is_class(c);
         c = clang_getCursorSemanticParent(c)) {
        parameters_t p = {c, 0, visit, context};
        CXCursor template = clang_getSpecializedCursorTemplate(c);
        if (is_template(template))
            clang_visitChildren(template, visit_parameter, &p);
    }
}
