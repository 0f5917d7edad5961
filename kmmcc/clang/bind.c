/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what the directives govern, and lets clang check their expressions.
 *
 * In the text that clang parses each pragma is replaced by
 *
 *     if (0) { ...its expressions, as initializers of variables... } else
 *
 * which is the beginning of a statement that ends with the governed one, wherever a statement may
 * stand. So one parse sees the expressions in their scope, gives their types, and says which
 * statement follows.
 */
#include "clang/bind.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "pragma/directive.h"
#include "pragma/expression.h"

/* ---- The text to parse ---- */

typedef struct writer {
    const unit_t *u;
    text_t text;
    piece_t *pieces;
    int count, capacity;
} writer_t;

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
    text_printf(&w->text, "%s kmm_%d_%d = (", w->u->lang == LANG_C ? "__auto_type" : "auto",
                d->order, d->probe_count);
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
    if (d->kind == DIRECTIVE_DECLARE && d->check_head)
        text_printf(&w->text, "%s{ ", d->check_head);
    d->parsed_at = w->text.length;
    if (d->kind == DIRECTIVE_DECLARE && !d->check_head)
        return;
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
    probe_optional(w, d, d->ordinal);
    probe_optional(w, d, d->priority);
    probe_optional(w, d, d->stream);
    probe_items(w, d);
    for (int k = 0; k < d->map_count; k++) {
        add_probe(w, d, d->map[k].base);
        probe_optional(w, d, d->map[k].lower);
        probe_optional(w, d, d->map[k].length);
    }
    text_printf(&w->text, "} else %s",
                directive_stands_alone(d)      ? ";"
                : d->kind == DIRECTIVE_DECLARE ? "; }"
                                               : "");
}

void bind_probes(unit_t *u)
{
    writer_t w = {.u = u};
    size_t from = 0;
    text_printf(&w.text, "%s\n",
                source_line_marker(
                    u->source, 1)); /* as emit_text begins, so that clang can keep the preamble */
    for (int k = 0; k < u->directive_count; k++) {
        copy_source(&w, from, u->directives[k]->pragma.begin);
        write_probe(&w, u->directives[k]);
        from = u->directives[k]->pragma.end;
    }
    copy_source(&w, from, u->source->length);
    u->pieces = w.pieces;
    u->piece_count = w.count;
    u->parsed = w.text.data;
}

/* ---- Types of the expressions ---- */

typedef struct walk {
    unit_t *u;
    directive_t *d;
    probe_t *probe;
} walk_t;

/* Children are visited after their parents, so that of an expression and its implicit conversions
 * the expression stays. */
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
    } else if (w.probe && clang_isExpression(clang_getCursorKind(c)) &&
               unit_range(w.u, c, &begin, &end)) {
        set_type(w.probe->expr, begin, end, c);
    }
    clang_visitChildren(c, visit_probe, &w);
    return CXChildVisit_Continue;
}

/* ---- The launch in a governed statement ---- */

/* A cursor on the way from the statement to the place that is visited; `first`, `last` among its
 * parent's children. */
typedef struct frame {
    const struct frame *up;
    CXCursor cursor;
    bool first, last;
} frame_t;

/* The launches of one kind in a statement. */
typedef struct calls {
    int count;
    CXCursor first, second;
    launch_form_t form; /* of the first */
    bool alone;         /* the first is a statement of its own */
    bool placed;        /* the first is in a statement that can be replaced: [begin, end), with its
                           semicolon */
    size_t begin, end;
} calls_t;

typedef struct found {
    unit_t *u;
    calls_t kernels, functions;
    bool cooperative;
} found_t;

static const char *spelling(CXCursor c)
{
    return clang_text(clang_getCursorSpelling(c));
}

/* The argument of `cudaLaunchKernel` and its like that is the kernel; -1 for other calls. */
static int kernel_argument(CXCursor call)
{
    static const char *const first[] = {"cudaLaunchKernel", "cudaLaunchKernel_ptsz",
                                        "hipLaunchKernel", "hipExtLaunchKernel", NULL};
    static const char *const second[] = {"cudaLaunchKernelEx", "cudaLaunchKernelExC",
                                         "cudaLaunchKernelExC_ptsz", "hipLaunchKernelExC", NULL};
    const char *name = spelling(call);
    return text_is_one_of(name, first) ? 0 : text_is_one_of(name, second) ? 1 : -1;
}

static bool is_cooperative(CXCursor call)
{
    static const char *const names[] = {"cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel",
                                        "cudaLaunchCooperativeKernelMultiDevice", NULL};
    return text_is_one_of(spelling(call), names);
}

/* Whether the parent, seen from the child, only wraps the child's value: parentheses, (void),
 * temporaries. */
static bool is_wrapper(const unit_t *u, CXCursor parent, CXCursor child)
{
    size_t a, b, c, d;
    enum CXCursorKind kind = clang_getCursorKind(parent);
    if (kind == CXCursor_CStyleCastExpr)
        return clang_getCursorType(parent).kind == CXType_Void;
    if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr)
        return false;
    return kind == CXCursor_ParenExpr ||
           (unit_range(u, parent, &a, &b) && unit_range(u, child, &c, &d) && a == c && b == d);
}

static token_t token_after(const source_t *s, size_t offset)
{
    lexer_t l = lexer_at(s, offset, s->length);
    l.line_start = false;
    return lex(&l);
}

/* Whether the cursor of the frame is one of the statements in its parent, and not the parent's
 * condition or the like. */
static bool is_statement_of_parent(const frame_t *at)
{
    if (!at->up)
        return true;
    switch (clang_getCursorKind(at->up->cursor)) {
    case CXCursor_CompoundStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt: return true;
    case CXCursor_DoStmt: return at->first;
    case CXCursor_IfStmt: return !at->first;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_CXXForRangeStmt:
    case CXCursor_SwitchStmt: return at->last;
    default: return false;
    }
}

/* Whether a place of the statement that begins at `from` is in an argument of a macro or function:
 * between parentheses, with no block of its own. */
static bool is_in_parentheses(const source_t *s, size_t from, size_t place)
{
    enum { DEEPEST = 256 };
    bool round[DEEPEST];
    int depth = 0;
    lexer_t l = lexer_at(s, from, place);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (token_is(s, t, "(") || token_is(s, t, "{")) {
            if (depth < DEEPEST)
                round[depth] = token_is(s, t, "(");
            depth++;
        } else if ((token_is(s, t, ")") || token_is(s, t, "}")) && depth) {
            depth--;
        }
    }
    return depth && depth <= DEEPEST && round[depth - 1];
}

static bool is_from_macro(CXCursor c)
{
    CXFile file, spelled;
    unsigned at, spelled_at;
    CXSourceLocation place = clang_getRangeStart(clang_getCursorExtent(c));
    clang_getExpansionLocation(place, &file, NULL, NULL, &at);
    clang_getSpellingLocation(place, &spelled, NULL, NULL, &spelled_at);
    return at != spelled_at || !file || !spelled || !clang_File_isEqual(file, spelled);
}

/* Where the statement ends that is written in [begin, *end): behind its semicolon, if it has one. A
 * macro may end with that. */
static bool find_end(const source_t *s, CXCursor c, size_t *end)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    token_t t = token_after(s, *end);
    bool has = token_is(s, t, ";");
    bool block = kind == CXCursor_CompoundStmt || kind == CXCursor_IfStmt ||
                 kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt ||
                 kind == CXCursor_SwitchStmt || kind == CXCursor_CXXForRangeStmt ||
                 kind == CXCursor_CXXTryStmt;
    bool closed = s->text[*end - 1] == '}' || s->text[*end - 1] == ';';
    if (!has && !block)
        return is_from_macro(c) && !token_is(s, t, ",") && !token_is(s, t, ")");
    if (has && !(block && closed))
        *end = t.end;
    return true;
}

/* Behind the use of a macro that begins at `at`: its name, and its arguments if it has some. */
static size_t macro_end(const source_t *s, size_t at)
{
    lexer_t l = lexer_at(s, at, s->length);
    l.line_start = false;
    size_t end = lex(&l).end;
    int depth = 0;
    for (token_t t = lex(&l); depth || token_is(s, t, "("); t = lex(&l)) {
        if (t.kind == TOKEN_END)
            return end;
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0)
            return t.end;
    }
    return end;
}

/* Where the use of the macro begins of whose arguments the place is a part, between its parentheses
 * and in no block there. */
static bool in_argument(const unit_t *u, CXSourceLocation place, size_t *use)
{
    CXFile file, used_in;
    unsigned at, used_at;
    size_t origin;
    clang_getFileLocation(place, &file, NULL, NULL, &at);
    clang_getExpansionLocation(place, &used_in, NULL, NULL, &used_at);
    return at != used_at && file && used_in && clang_File_isEqual(file, used_in) &&
           unit_exact_offset(u, at, &origin) && unit_exact_offset(u, used_at, use) &&
           is_in_parentheses(u->source, *use, origin);
}

/* The range of a statement. One that begins or ends with an argument of a macro is the whole use of
 * the macro. */
static bool statement_range(const unit_t *u, CXCursor c, size_t *begin, size_t *end)
{
    CXSourceRange range = clang_getCursorExtent(c);
    size_t use;
    if (!unit_range(u, c, begin, end))
        return false;
    size_t first = *begin, last = *end;
    if (in_argument(u, clang_getRangeStart(range), &use)) {
        first = use;
        last = macro_end(u->source, use);
    }
    if (in_argument(u, clang_getRangeEnd(range), &use))
        last = macro_end(u->source, use);
    *begin = first;
    *end = last > *end ? last : *end;
    return true;
}

/* The innermost statement with the call that can be replaced by another: written in one piece, in
 * the place of a statement. One that comes from a macro is the macro's whole expansion. */
static bool place_of(const found_t *found, const frame_t *at, size_t *begin, size_t *end)
{
    const source_t *s = found->u->source;
    const frame_t *top = at;
    size_t first, last, outer_first, outer_last;
    while (top->up)
        top = top->up;
    if (!statement_range(found->u, top->cursor, &outer_first, &outer_last))
        return false;
    for (; at; at = at->up) {
        enum CXCursorKind kind = clang_getCursorKind(at->cursor);
        if (!is_statement_of_parent(at) || !statement_range(found->u, at->cursor, &first, &last))
            continue;
        bool same = at->up &&
                    statement_range(found->u, at->up->cursor, &outer_first, &outer_last) &&
                    outer_first == first && outer_last == last;
        statement_range(found->u, top->cursor, &outer_first, &outer_last);
        if (same || kind == CXCursor_DeclStmt || is_in_parentheses(s, outer_first, first) ||
            !find_end(s, at->cursor, &last))
            continue;
        *begin = first;
        *end = last;
        return true;
    }
    return false;
}

/* Whether the call is a statement, and nothing uses its value. */
static bool is_alone(const unit_t *u, const frame_t *at)
{
    size_t begin, end;
    while (at->up && is_wrapper(u, at->up->cursor, at->cursor))
        at = at->up;
    return unit_range(u, at->cursor, &begin, &end) &&
           token_is(u->source, token_after(u->source, end), ";") && is_statement_of_parent(at);
}

static void add_call(const found_t *found, calls_t *calls, const frame_t *at, launch_form_t form)
{
    calls->count++;
    if (calls->count == 1) {
        calls->first = at->cursor;
        calls->form = form;
        calls->alone = is_alone(found->u, at);
        calls->placed = place_of(found, at, &calls->begin, &calls->end);
    } else if (calls->count == 2) {
        calls->second = at->cursor;
    }
}

/* A call; true when nothing is looked for in it. */
static bool find_call(found_t *found, const frame_t *at, bool *in_call)
{
    /* A constructor or a conversion is written as no call. */
    enum CXCursorKind callee = clang_getCursorKind(clang_getCursorReferenced(at->cursor));
    bool function = callee != CXCursor_Constructor && callee != CXCursor_ConversionFunction;
    if (cursor_is_launch(at->cursor) || kernel_argument(at->cursor) >= 0) {
        add_call(found, &found->kernels, at,
                 cursor_is_launch(at->cursor) ? LAUNCH_CHEVRON : LAUNCH_CALL);
        return true;
    }
    found->cooperative |= is_cooperative(at->cursor);
    if (!*in_call && function)
        add_call(found, &found->functions, at, LAUNCH_FUNCTION);
    *in_call |= function;
    return false;
}

/* Function calls within another call's arguments are part of that; kernel launches are found
 * anywhere. */
static void find_calls(found_t *found, const frame_t *at, bool in_call)
{
    if (clang_getCursorKind(at->cursor) == CXCursor_CallExpr && find_call(found, at, &in_call))
        return;
    cursors_t list = cursor_children(at->cursor);
    for (int k = 0; k < list.count; k++) {
        frame_t inner = {at, list.at[k], k == 0, k == list.count - 1};
        find_calls(found, &inner, in_call);
    }
}

/* ---- What is launched ---- */

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

/* The reference to what is called: below conversions, casts, `&` and parentheses. */
static CXCursor callee_reference(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr &&
            kind != CXCursor_CStyleCastExpr && kind != CXCursor_CXXReinterpretCastExpr &&
            kind != CXCursor_CXXStaticCastExpr && kind != CXCursor_UnaryOperator)
            return c;
        cursors_t list = cursor_children(c);
        if (list.count == 0)
            return c;
        c = list.at[list.count - 1];
    }
}

static CXCursor template_of(CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    return clang_Cursor_isNull(template) ? f : template;
}

static void add_target(directive_t *d, CXCursor f)
{
    enum { MAX_TARGETS = 64 };
    CXCursor kernel = template_of(f);
    for (int k = 0; k < d->target_count; k++)
        if (clang_equalCursors(d->target[k].instance, f))
            return;
    if (!d->target)
        d->target = arena_alloc(MAX_TARGETS * sizeof(*d->target));
    if (d->target_count < MAX_TARGETS)
        d->target[d->target_count++] =
            (target_kernel_t){kernel, clang_getCursorDefinition(kernel), f};
}

/* The functions that a name stands for. */
static void add_named(directive_t *d, CXCursor f)
{
    enum CXCursorKind kind = clang_getCursorKind(f);
    if (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate)
        add_target(d, f);
    if (kind != CXCursor_OverloadedDeclRef)
        return;
    unsigned count = clang_getNumOverloadedDecls(f);
    for (unsigned k = 0; k < count; k++) {
        CXCursor one = cursor_used(clang_getOverloadedDecl(f, k));
        if (!d->is_kernel || cursor_is_kernel(template_of(one)))
            add_target(d, clang_getCanonicalCursor(one));
    }
}

static CXType pointed_function(CXType type)
{
    type = clang_getCanonicalType(type);
    if (type.kind == CXType_LValueReference || type.kind == CXType_Pointer)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    return type.kind == CXType_Pointer ? clang_getCanonicalType(clang_getPointeeType(type)) : type;
}

/* Whether the type depends on a template's parameters, by the names that these have in canonical
 * types. */
static bool is_dependent(CXType type)
{
    return strstr(clang_text(clang_getTypeSpelling(clang_getCanonicalType(type))),
                  "type-parameter-");
}

static bool same_parameters(CXType a, CXType b)
{
    int count = clang_getNumArgTypes(a);
    if (a.kind != CXType_FunctionProto || b.kind != CXType_FunctionProto || is_dependent(a) ||
        is_dependent(b))
        return true; /* one is void *, or depends on a template: it may be any */
    if (count != clang_getNumArgTypes(b))
        return false;
    for (int k = 0; k < count; k++)
        if (!clang_equalTypes(clang_getCanonicalType(clang_getArgType(a, (unsigned)k)),
                              clang_getCanonicalType(clang_getArgType(b, (unsigned)k))))
            return false;
    return true;
}

typedef struct addressed {
    directive_t *d;
    CXType type;
} addressed_t;

/* Every kernel of the pointer's type whose name is written other than to launch it may be what it
 * points to. */
static enum CXChildVisitResult find_addressed(CXCursor c, CXCursor parent, CXClientData data)
{
    addressed_t *a = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (clang_isDeclaration(kind) && clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    if (kind == CXCursor_CallExpr && cursor_is_launch(c)) {
        cursors_t list = cursor_children(c);
        for (int k = 1; k < list.count; k++) {
            find_addressed(list.at[k], parent, data);
            clang_visitChildren(list.at[k], find_addressed, data);
        }
        return CXChildVisit_Continue;
    }
    if (kind == CXCursor_DeclRefExpr) {
        CXCursor f = clang_getCursorReferenced(c);
        if (cursor_is_kernel(template_of(f)) &&
            same_parameters(a->type, clang_getCanonicalType(clang_getCursorType(f))))
            add_target(a->d, f);
    }
    return CXChildVisit_Recurse;
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
    const char *name = d->callee_name;
    d->name_at = last_name(u->source, d->callee_begin);
    d->name_after = d->template_end = d->name_at + strlen(name);
    if (!*name || d->name_after > u->source->length ||
        memcmp(u->source->text + d->name_at, name, strlen(name)))
        return false;
    lexer_t l = lexer_at(u->source, d->name_after, d->launch_end);
    l.line_start = false;
    token_t t = lex(&l);
    if (d->is_kernel) {
        for (int depth = 0; !token_is(u->source, t, "<<<"); t = lex(&l)) {
            depth += token_is(u->source, t, "(") - token_is(u->source, t, ")");
            if (t.kind == TOKEN_END || depth < 0 || token_is(u->source, t, ";"))
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
    d->open = token_is(u->source, t, "(") ? t.end : 0;
    return d->open;
}

static void bind_arguments(directive_t *d)
{
    int count = d->form == LAUNCH_CALL ? 0 : clang_Cursor_getNumArguments(d->launch);
    d->argument_count = count > 0 ? count : 0;
    d->argument = arena_alloc(((size_t)d->argument_count + 1) * sizeof(*d->argument));
    for (int k = 0; k < d->argument_count; k++)
        d->argument[k] = clang_Cursor_getArgument(d->launch, (unsigned)k);
}

/* Where the callee is written; NULL when that is not in the source. */
static const char *written(const unit_t *u, CXCursor c)
{
    size_t begin, end;
    return unit_range(u, c, &begin, &end) ? source_words(u->source, begin, end) : "?";
}

static void no_launch(unit_t *u, directive_t *d, const char *message)
{
    error_of(u, d, d->launch, message);
    d->launch = clang_getNullCursor();
}

/* The kernels that a launch through a variable may run. */
static void bind_pointer(unit_t *u, directive_t *d, CXCursor reference)
{
    addressed_t a = {d, pointed_function(clang_getCursorType(reference))};
    if (a.type.kind == CXType_FunctionProto)
        d->callee_type = a.type;
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_addressed, &a);
    if (d->target_count == 0)
        no_launch(u, d,
                  arena_printf("what '%s' points to is not known: no kernel of its type is named "
                               "in this file; launch the kernel by its name",
                               d->callee_name));
}

static void bind_kernel(unit_t *u, directive_t *d, CXCursor written_callee)
{
    CXCursor reference = callee_reference(written_callee), f = clang_getCursorReferenced(reference);
    size_t end;
    add_named(d, f);
    d->callee_name = d->target_count ? spelling(d->target[0].kernel) : written(u, reference);
    if (d->target_count == 0)
        bind_pointer(u, d, reference);
    else if (d->target_count == 1)
        d->callee = d->target[0].kernel, d->definition = d->target[0].definition;
    if (clang_Cursor_isNull(d->launch))
        return;
    if (d->target_count == 1 &&
        clang_getCanonicalType(clang_getCursorType(d->target[0].instance)).kind ==
            CXType_FunctionProto)
        d->callee_type = clang_getCanonicalType(clang_getCursorType(d->target[0].instance));
    enum CXCursorKind kind = clang_getCursorKind(f);
    bool named = d->form == LAUNCH_CHEVRON &&
                 (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ||
                  kind == CXCursor_OverloadedDeclRef);
    bool written_out =
        named && unit_range(u, written_callee, &d->callee_begin, &end) && find_name(u, d);
    bool is_template = false;
    for (int k = 0; k < d->target_count; k++)
        is_template |= clang_getCursorKind(d->target[k].kernel) == CXCursor_FunctionTemplate;
    d->names_clone = written_out && is_template;
    if (!written_out)
        d->open = 0, d->name_at = d->launch_begin, d->name_after = d->launch_begin;
    bind_arguments(d);
}

static void bind_function(unit_t *u, directive_t *d, CXCursor written_callee)
{
    CXCursor reference = callee_reference(written_callee);
    size_t end;
    add_named(d, clang_getCursorReferenced(reference));
    if (d->target_count != 1) {
        no_launch(u, d,
                  clang_getCursorKind(reference) == CXCursor_MemberRefExpr
                      ? "the call of a member function cannot be split; govern the call of a plain "
                        "function"
                      : "what is called here is no single function; a call through a pointer, or "
                        "of overloads that depend on a template, cannot be split");
        return;
    }
    d->callee = d->target[0].kernel;
    d->definition = d->target[0].definition;
    d->callee_name = spelling(d->callee);
    if (!unit_range(u, written_callee, &d->callee_begin, &end) || !find_name(u, d)) {
        no_launch(u, d, "the call is written by a macro; write it out below the pragma");
        return;
    }
    bind_arguments(d);
}

static void bind_callee(unit_t *u, directive_t *d)
{
    cursors_t list = cursor_children(d->launch);
    CXCursor callee = list.count ? list.at[0] : clang_getNullCursor();
    d->callee = d->definition = clang_getNullCursor();
    d->callee_type = (CXType){.kind = CXType_Invalid};
    d->target_count = 0;
    d->names_clone = false;
    d->open = 0;
    if (d->form == LAUNCH_CALL)
        callee = clang_Cursor_getArgument(d->launch, (unsigned)kernel_argument(d->launch));
    if (d->is_kernel)
        bind_kernel(u, d, callee);
    else
        bind_function(u, d, callee);
}

static void bind_launch(unit_t *u, directive_t *d)
{
    found_t found = {.u = u};
    frame_t top = {.cursor = d->statement};
    find_calls(&found, &top, false);
    d->is_kernel = found.kernels.count > 0;
    calls_t *calls = d->is_kernel ? &found.kernels : &found.functions;
    if (found.cooperative && !d->is_kernel) {
        error_at(u, d->name_begin, d->name_end,
                 "a cooperative launch synchronizes its whole grid, so it cannot be split; launch "
                 "it without the pragma");
    } else if (calls->count == 0) {
        error_at(u, d->name_begin, d->name_end,
                 "'parallel' governs no launch: the next statement has neither a kernel launch nor "
                 "a call of a function");
    } else if (calls->count > 1) {
        error_of(u, d, calls->second,
                 "'parallel' governs several launches; it must govern exactly one: give each a "
                 "pragma of its own");
    } else if (!d->is_kernel && !calls->alone) {
        error_of(u, d, calls->first,
                 "the result of the call must not be used: its chunks have one result each");
    } else if (!calls->placed) {
        error_of(u, d, calls->first,
                 "the launch must be in a statement of its own, and not in a declaration or a "
                 "condition");
    } else {
        d->launch = calls->first;
        d->form = calls->form;
        d->launch_begin = calls->begin;
        d->launch_end = calls->end;
        bind_callee(u, d);
    }
}

/* ---- From pragma to statement ---- */

typedef struct scope {
    unit_t *u;
    const struct scope *up;
    CXCursor cursor;
} scope_t;

static void bind_scope(directive_t *d, const scope_t *at)
{
    d->parent = at->up->cursor;
    d->function = d->top = d->outermost = clang_getNullCursor();
    for (const scope_t *s = at; s->up; s = s->up) {
        enum CXCursorKind kind = clang_getCursorKind(s->cursor);
        bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ||
                        kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
                        kind == CXCursor_Destructor;
        if (function && clang_Cursor_isNull(d->function))
            d->function = s->cursor;
        if (kind != CXCursor_Namespace && kind != CXCursor_LinkageSpec &&
            kind != CXCursor_UnexposedDecl)
            d->top = s->cursor;
        d->outermost = s->cursor;
    }
}

/* The range of the governed statement. */
static void bind_statement(unit_t *u, directive_t *d)
{
    if (!unit_range(u, d->statement, &d->statement_begin, &d->statement_end)) {
        error_at(u, d->name_begin, d->name_end,
                 "the statement below is written by a macro; write it out, or put it in braces");
        d->broken = true;
        return;
    }
    token_t after = token_after(u->source, d->statement_end);
    if (token_is(u->source, after, ";"))
        d->statement_end = after.end;
}

static void bind_directive(unit_t *u, directive_t *d, const scope_t *at)
{
    cursors_t list = cursor_children(at->cursor);
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
    else if (d->kind == DIRECTIVE_TASK || d->kind == DIRECTIVE_DATA)
        bind_statement(u, d);
    if (d->kind == DIRECTIVE_DATA && clang_getCursorKind(d->statement) != CXCursor_CompoundStmt)
        error_at(u, d->name_begin, d->name_end, "'data' governs a block: put '{' after the pragma");
    if (directive_stands_alone(d) && clang_getCursorKind(d->parent) != CXCursor_CompoundStmt)
        error_at(
            u, d->name_begin, d->name_end,
            arena_printf("'%s' stands in a block, not as the body of another statement; add braces",
                         source_words(u->source, d->name_begin, d->name_end)));
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
    if (!up->up && !unit_is_in(up->u, c))
        return CXChildVisit_Continue;
    directive_t *d = directive_at(up->u, c);
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
            error_at(u, d->name_begin, d->name_end,
                     "the launch has a pragma already; put the clauses of both into one");
            diag_at(SEVERITY_NOTE, u->source, other->name_begin, other->name_end,
                    "the other one is here");
        }
}

void bind_directives(unit_t *u)
{
    scope_t file = {.u = u, .cursor = clang_getTranslationUnitCursor(u->tu)};
    if (u != u->main && !unit_is_included(u))
        return;
    clang_visitChildren(file.cursor, visit_scope, &file);
    refuse_doubles(u);
    for (int k = 0; k < u->directive_count; k++) {
        directive_t *d = u->directives[k];
        if (!d->bound && !d->broken && d->kind != DIRECTIVE_DECLARE &&
            !disabled_in_parsed(u, d->parsed_at))
            error_at(u, d->name_begin, d->name_end,
                     "the pragma governs nothing: it does not stand before a statement");
    }
}
