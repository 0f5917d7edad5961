/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what the directives govern, and lets clang check their expressions.
 *
 * In the text that clang parses each pragma is replaced by
 *
 *     if (0) { ...its expressions, as initializers of variables... } else
 *
 * which is the beginning of a statement that ends with the governed one, wherever a statement may stand. So one parse
 * sees the expressions in their scope, gives their types, and says which statement follows.
 */
#include <stdio.h>
#include <string.h>

#include "directive.h"

/* ---- The text to parse ---- */

typedef struct writer { const unit_t *u; text_t text; piece_t *pieces; int count, capacity; } writer_t;

static void copy_source(writer_t *w, size_t begin, size_t end)
{
    if (w->count == w->capacity) {
        w->capacity = 2 * w->capacity + 64;
        piece_t *pieces = arena_alloc((size_t)w->capacity * sizeof(*pieces));
        if (w->count)
            memcpy(pieces, w->pieces, (size_t)w->count * sizeof(*pieces));
        w->pieces = pieces;
    }
    w->pieces[w->count++] = (piece_t){w->text.length, begin, end - begin};
    text_add(&w->text, w->u->source->text + begin, end - begin);
}

static void add_probe(writer_t *w, directive_t *d, expr_t *e)
{
    if (!d->probe)
        d->probe = arena_alloc(MAX_PROBES * sizeof(*d->probe));
    d->probe[d->probe_count].expr = e;
    text_printf(&w->text, "%s kmm_%d_%d = (", w->u->lang == LANG_C ? "__auto_type" : "auto", d->order, d->probe_count);
    copy_source(w, e->begin, e->end);
    text_printf(&w->text, "); ");
    d->probe_count++;
}

static void probe_optional(writer_t *w, directive_t *d, expr_t *e)
{
    if (e)
        add_probe(w, d, e);
}

static void probe_sections(writer_t *w, directive_t *d, item_t *item)
{
    text_printf(&w->text, "{ ");
    for (int k = 0; k < d->axis_count; k++)
        text_printf(&w->text, "const long long %s = 0; ", d->axis[k].name);
    for (int k = 0; k < item->section_count; k++) {
        probe_optional(w, d, item->section[k].lower);
        probe_optional(w, d, item->section[k].length);
    }
    text_printf(&w->text, "} ");
}

static void probe_items(writer_t *w, directive_t *d)
{
    for (int k = 0; k < d->item_count; k++) {
        add_probe(w, d, d->item[k].base);
        if (d->item[k].section_count)
            probe_sections(w, d, &d->item[k]);
    }
}

static void write_probe(writer_t *w, directive_t *d)
{
    d->probe_count = 0; /* a file may be parsed twice */
    d->bound = false;
    d->parsed_at = w->text.length;
    text_printf(&w->text, "if (0) { ");
    for (int k = 0; k < d->axis_count; k++) {
        probe_optional(w, d, d->axis[k].lower);
        probe_optional(w, d, d->axis[k].length);
    }
    for (int k = 0; k < d->chunk_count; k++)
        add_probe(w, d, d->chunk[k]);
    for (int k = 0; k < d->shape_count; k++)
        for (int i = 0; i < d->shape[k].dims; i++)
            add_probe(w, d, d->shape[k].extent[i]);
    probe_optional(w, d, d->condition);
    probe_items(w, d);
    for (int k = 0; k < d->map_count; k++) {
        add_probe(w, d, d->map[k].base);
        probe_optional(w, d, d->map[k].lower);
        probe_optional(w, d, d->map[k].length);
    }
    text_printf(&w->text, "} else %s", d->kind == DIRECTIVE_WAIT ? ";" : "");
}

char *bind_probes(unit_t *u)
{
    writer_t w = {.u = u};
    size_t from = 0;
    text_printf(&w.text, "%s\n", emit_line(u->source, 1)); /* as emit_text begins, so that clang can keep the preamble */
    for (int k = 0; k < u->directive_count; k++) {
        copy_source(&w, from, u->directives[k]->pragma.begin);
        write_probe(&w, u->directives[k]);
        from = u->directives[k]->pragma.end;
    }
    copy_source(&w, from, u->source->length);
    u->pieces = w.pieces;
    u->piece_count = w.count;
    return w.text.data;
}

/* ---- Types of the expressions ---- */

typedef struct walk { unit_t *u; directive_t *d; probe_t *probe; } walk_t;

/* Children are visited after their parents, so that of an expression and its implicit conversions the
 * expression stays. */
static void set_type(expr_t *e, size_t begin, size_t end, CXCursor c)
{
    for (; e; e = e->next) {
        if (e->begin == begin && e->end == end) {
            e->type = clang_getCursorType(c);
            e->cursor = c;
        }
        set_type(e->left, begin, end, c);
        set_type(e->right, begin, end, c);
        set_type(e->other, begin, end, c);
    }
}

static enum CXChildVisitResult visit_probe(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t w = *(const walk_t *)data;
    size_t begin, end;
    int order, number;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_VarDecl &&
        sscanf(clang_text(clang_getCursorSpelling(c)), "kmm_%d_%d", &order, &number) == 2) {
        w.probe = &w.d->probe[number];
        w.probe->type = clang_getCanonicalType(clang_getCursorType(c));
    } else if (w.probe && clang_isExpression(clang_getCursorKind(c)) && unit_range(w.u, c, &begin, &end)) {
        set_type(w.probe->expr, begin, end, c);
    }
    clang_visitChildren(c, visit_probe, &w);
    return CXChildVisit_Continue;
}

/* ---- The launch in a governed statement ---- */

/* A cursor on the way from the statement to the place that is visited; `first`, `last` among its parent's children. */
typedef struct frame { const struct frame *up; CXCursor cursor; bool first, last; } frame_t;

/* The calls of one kind in a statement. */
typedef struct calls {
    int count;
    CXCursor first, second;
    bool alone;   /* the first is a statement of its own */
    size_t begin; /* where that begins: before (void) and parentheses */
} calls_t;

typedef struct found { unit_t *u; calls_t kernels, functions; } found_t;

typedef struct children { CXCursor *at; int count, capacity; } children_t;

static enum CXChildVisitResult add_child(CXCursor c, CXCursor parent, CXClientData data)
{
    children_t *list = data;
    (void)parent;
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 8;
        CXCursor *at = arena_alloc((size_t)list->capacity * sizeof(*at));
        if (list->count)
            memcpy(at, list->at, (size_t)list->count * sizeof(*at));
        list->at = at;
    }
    list->at[list->count++] = c;
    return CXChildVisit_Continue;
}

static children_t children_of(CXCursor c)
{
    children_t list = {0};
    clang_visitChildren(c, add_child, &list);
    return list;
}

/* `k<<<...>>>(...)`: its second child is the call that pushes the configuration. */
static bool is_kernel_launch(CXCursor call)
{
    children_t list = children_of(call);
    const char *name = list.count < 2 ? "" : clang_text(clang_getCursorSpelling(list.at[1]));
    return !strcmp(name, "__cudaPushCallConfiguration") || !strcmp(name, "cudaConfigureCall") ||
           !strcmp(name, "__hipPushCallConfiguration") || !strcmp(name, "hipConfigureCall");
}

/* Whether the parent, seen from the child, only wraps the child's value: parentheses, (void), temporaries. */
static bool is_wrapper(const unit_t *u, CXCursor parent, CXCursor child)
{
    size_t a, b, c, d;
    enum CXCursorKind kind = clang_getCursorKind(parent);
    if (kind == CXCursor_CStyleCastExpr)
        return clang_getCursorType(parent).kind == CXType_Void;
    if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr)
        return false;
    return kind == CXCursor_ParenExpr || (unit_range(u, parent, &a, &b) && unit_range(u, child, &c, &d) && a == c && b == d);
}

static token_t token_after(const source_t *s, size_t offset)
{
    lexer_t l = lexer_at(s, offset, s->length);
    l.line_start = false;
    return lex(&l);
}

/* Whether the call is a statement; where that begins. */
static bool is_statement(const unit_t *u, const frame_t *at, size_t *begin)
{
    size_t end;
    while (at->up && is_wrapper(u, at->up->cursor, at->cursor))
        at = at->up;
    const frame_t *up = at->up;
    if (!unit_range(u, at->cursor, begin, &end) || !token_is(u->source, token_after(u->source, end), ";"))
        return false;
    if (!up)
        return true;
    switch (clang_getCursorKind(up->cursor)) {
    case CXCursor_CompoundStmt: case CXCursor_CaseStmt: case CXCursor_DefaultStmt: case CXCursor_LabelStmt:
    case CXCursor_DoStmt:
        return true;
    case CXCursor_IfStmt:
        return !at->first;
    case CXCursor_ForStmt: case CXCursor_WhileStmt: case CXCursor_CXXForRangeStmt: case CXCursor_SwitchStmt:
        return at->last;
    default:
        return false;
    }
}

static void add_call(const unit_t *u, calls_t *calls, const frame_t *at)
{
    calls->count++;
    if (calls->count == 1) {
        calls->first = at->cursor;
        calls->alone = is_statement(u, at, &calls->begin);
    } else if (calls->count == 2) {
        calls->second = at->cursor;
    }
}

/* Function calls within another call's arguments are part of that; kernel launches are found anywhere. */
static void find_calls(found_t *found, const frame_t *at, bool in_call)
{
    if (clang_getCursorKind(at->cursor) == CXCursor_CallExpr) {
        if (is_kernel_launch(at->cursor)) {
            add_call(found->u, &found->kernels, at);
            return;
        }
        /* A constructor or a conversion is written as no call. */
        enum CXCursorKind callee = clang_getCursorKind(clang_getCursorReferenced(at->cursor));
        bool function = callee != CXCursor_Constructor && callee != CXCursor_ConversionFunction;
        if (!in_call && function)
            add_call(found->u, &found->functions, at);
        in_call |= function;
    }
    children_t list = children_of(at->cursor);
    for (int k = 0; k < list.count; k++) {
        frame_t inner = {at, list.at[k], k == 0, k == list.count - 1};
        find_calls(found, &inner, in_call);
    }
}

/* ---- The parts of the launch ---- */

static void error_at(const unit_t *u, size_t begin, size_t end, const char *message)
{
    diag_at(SEVERITY_ERROR, u->source, begin, end, "%s", message);
}

static void error_of(const unit_t *u, const directive_t *d, CXCursor c, const char *message)
{
    size_t begin, end;
    if (unit_range(u, c, &begin, &end))
        error_at(u, begin, end, message);
    else
        error_at(u, d->name_begin, d->name_end, message);
}

/* The reference to what is called: below conversions and parentheses. */
static CXCursor callee_reference(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr)
            return c;
        children_t list = children_of(c);
        if (list.count == 0)
            return c;
        c = list.at[list.count - 1];
    }
}

/* The function or template; null when it is known only by a value or there are several. */
static CXCursor called_function(CXCursor reference)
{
    CXCursor f = clang_getCursorReferenced(reference);
    if (clang_getCursorKind(f) == CXCursor_OverloadedDeclRef) {
        if (clang_getNumOverloadedDecls(f) != 1)
            return clang_getNullCursor();
        f = clang_getOverloadedDecl(f, 0);
    }
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    if (!clang_Cursor_isNull(template))
        f = template;
    enum CXCursorKind kind = clang_getCursorKind(f);
    return kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ? f : clang_getNullCursor();
}

/* The last name of `a::b::name`, which begins the launch. */
static size_t last_name(const source_t *s, size_t begin)
{
    lexer_t l = lexer_at(s, begin, s->length);
    l.line_start = false;
    size_t name = begin;
    for (token_t t = lex(&l); t.kind == TOKEN_NAME || token_is(s, t, "::"); t = lex(&l))
        if (t.kind == TOKEN_NAME)
            name = t.begin;
    return name;
}

/* Finds the places in `name [<...>] [<<<...>>>] (`. */
static bool find_name(unit_t *u, directive_t *d)
{
    const char *name = clang_text(clang_getCursorSpelling(d->callee));
    d->name_at = last_name(u->source, d->callee_begin);
    d->name_after = d->template_end = d->name_at + strlen(name);
    if (!*name || d->name_after > u->source->length || memcmp(u->source->text + d->name_at, name, strlen(name)))
        return false;
    lexer_t l = lexer_at(u->source, d->name_after, d->launch_end);
    token_t t = lex(&l);
    if (d->is_kernel) {
        for (; !token_is(u->source, t, "<<<"); t = lex(&l)) {
            if (t.kind == TOKEN_END)
                return false;
            d->template_end = t.end;
        }
        for (int depth = 0; depth || !token_is(u->source, t, ">>>"); t = lex(&l)) {
            if (t.kind == TOKEN_END)
                return false;
            depth += token_is(u->source, t, "(") - token_is(u->source, t, ")");
        }
        t = lex(&l);
    }
    while (!d->is_kernel && !token_is(u->source, t, "(") && t.kind != TOKEN_END) {
        d->template_end = t.end;
        t = lex(&l);
    }
    d->open = t.end;
    return token_is(u->source, t, "(");
}

static void bind_arguments(directive_t *d)
{
    int count = clang_Cursor_getNumArguments(d->launch);
    d->argument_count = count > 0 ? count : 0;
    d->argument = arena_alloc(((size_t)d->argument_count + 1) * sizeof(*d->argument));
    for (int k = 0; k < d->argument_count; k++)
        d->argument[k] = clang_Cursor_getArgument(d->launch, (unsigned)k);
}

static void bind_callee(unit_t *u, directive_t *d)
{
    children_t list = children_of(d->launch);
    CXCursor reference = list.count ? callee_reference(list.at[0]) : clang_getNullCursor();
    d->callee = called_function(reference);
    d->instance = clang_getCursorReferenced(reference);
    if (clang_Cursor_isNull(d->callee)) {
        error_of(u, d, d->launch, clang_getCursorKind(reference) == CXCursor_MemberRefExpr
                     ? "the call of a member function cannot be split; govern the call of a plain function"
                     : "what is launched here is no single function; launches through pointers and of overloads that depend on a template are not yet supported");
        d->launch = clang_getNullCursor();
        return;
    }
    d->definition = clang_getCursorDefinition(d->callee);
    size_t end;
    if (!unit_range(u, list.at[0], &d->callee_begin, &end) || !find_name(u, d)) {
        error_of(u, d, d->launch, "the launch is written by a macro; write it out below the pragma");
        d->launch = clang_getNullCursor();
        return;
    }
    bind_arguments(d);
}

static void bind_launch(unit_t *u, directive_t *d)
{
    found_t found = {.u = u};
    frame_t top = {.cursor = d->statement};
    find_calls(&found, &top, false);
    d->is_kernel = found.kernels.count > 0;
    calls_t *calls = d->is_kernel ? &found.kernels : &found.functions;
    if (calls->count == 0) {
        error_at(u, d->name_begin, d->name_end, "'parallel' governs no launch: the next statement has neither a kernel launch nor a call of a function");
    } else if (calls->count > 1) {
        error_of(u, d, calls->second, "'parallel' governs several launches; it must govern exactly one: give each a pragma of its own");
    } else if (!calls->alone) {
        error_of(u, d, calls->first, d->is_kernel ? "the launch must be a statement of its own" : "the result of the call must not be used: its chunks have one result each");
    } else {
        size_t begin, end;
        d->launch = calls->first;
        d->launch_begin = calls->begin;
        unit_range(u, d->launch, &begin, &end);
        lexer_t l = lexer_at(u->source, end, u->source->length);
        token_t t = lex(&l);
        while (t.kind != TOKEN_END && !token_is(u->source, t, ";"))
            t = lex(&l);
        d->launch_end = t.end;
        bind_callee(u, d);
    }
}

/* ---- From pragma to statement ---- */

typedef struct scope { unit_t *u; const struct scope *up; CXCursor cursor; } scope_t;

static void bind_scope(directive_t *d, const scope_t *at)
{
    d->parent = at->up->cursor;
    d->function = d->top = d->outermost = clang_getNullCursor();
    for (const scope_t *s = at; s->up; s = s->up) {
        enum CXCursorKind kind = clang_getCursorKind(s->cursor);
        bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate || kind == CXCursor_CXXMethod ||
                        kind == CXCursor_Constructor || kind == CXCursor_Destructor;
        if (function && clang_Cursor_isNull(d->function))
            d->function = s->cursor;
        if (kind != CXCursor_Namespace && kind != CXCursor_LinkageSpec && kind != CXCursor_UnexposedDecl)
            d->top = s->cursor;
        d->outermost = s->cursor;
    }
}

static void bind_directive(unit_t *u, directive_t *d, const scope_t *at)
{
    children_t list = children_of(at->cursor);
    walk_t w = {.u = u, .d = d};
    d->bound = true;
    bind_scope(d, at);
    visit_probe(list.at[1], at->cursor, &w);
    d->statement = list.at[list.count - 1];
    d->launch = clang_getNullCursor();
    if (d->broken)
        return;
    if (d->kind == DIRECTIVE_PARALLEL)
        bind_launch(u, d);
    else if (d->kind == DIRECTIVE_DATA && clang_getCursorKind(d->statement) != CXCursor_CompoundStmt)
        error_at(u, d->name_begin, d->name_end, "'data' governs a block: put '{' after the pragma");
    else if (d->kind == DIRECTIVE_WAIT && clang_getCursorKind(d->parent) != CXCursor_CompoundStmt)
        error_at(u, d->name_begin, d->name_end, "'wait' stands in a block, not as the body of another statement; add braces");
}

static directive_t *directive_at(const unit_t *u, CXCursor c)
{
    unsigned offset;
    if (clang_getCursorKind(c) != CXCursor_IfStmt)
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
    scope_t at = {up->u, up, c};
    (void)parent;
    if (!up->up && !clang_Location_isFromMainFile(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    directive_t *d = directive_at(up->u, c);
    if (d)
        bind_directive(up->u, d, &at);
    clang_visitChildren(c, visit_scope, &at);
    return CXChildVisit_Continue;
}

void bind_directives(unit_t *u)
{
    scope_t file = {.u = u, .cursor = clang_getTranslationUnitCursor(u->tu)};
    clang_visitChildren(file.cursor, visit_scope, &file);
    for (int k = 0; k < u->directive_count; k++) {
        directive_t *d = u->directives[k];
        if (!d->bound && !d->broken && !clang_disabled(u, d->parsed_at))
            error_at(u, d->name_begin, d->name_end, "the pragma governs nothing: it does not stand before a statement");
    }
}
