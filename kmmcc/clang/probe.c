/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text that clang parses, in which the expressions of pragmas are checked in their scope.
 *
 * Each pragma is replaced by
 *
 *     if (0) { ...its expressions, as initializers of variables... } else
 *
 * which is the beginning of a statement that ends with the governed one, wherever a statement may
 * stand. So one parse sees the expressions in their scope, gives their types, and says which
 * statement follows.
 */
#include "clang/probe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/source.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "pragma/expression.h"

/* ---- The text to parse ---- */

typedef struct writer {
    const unit_t *u;
    const include_file_t *file; /* the same; NULL: no #include names it */
    text_t text;
    piece_t *pieces;
    int count, capacity;
} writer_t;

static void copy_piece(writer_t *w, size_t begin, size_t end)
{
    w->pieces = arena_grow(w->pieces, w->count, &w->capacity, sizeof(*w->pieces));
    w->pieces[w->count++] = (piece_t){w->text.length, begin, end - begin};
    text_add(&w->text, w->u->source->text + begin, end - begin);
}

/* The names of headers that clang knows by others are replaced. */
static void copy_source(writer_t *w, size_t begin, size_t end)
{
    const include_file_t *f = w->file;
    for (int k = 0; f && k < f->include_count; k++) {
        const include_t *i = &f->include[k];
        if (i->begin < begin || i->end > end || !includes_is_renamed(i->file))
            continue;
        copy_piece(w, begin, i->begin);
        text_printf(&w->text, "\"%s\"", i->file->parsed_as);
        begin = i->end;
    }
    copy_piece(w, begin, end);
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

static void probe_fits(writer_t *w, directive_t *d)
{
    text_printf(&w->text, "{ ");
    for (int k = 0; k < d->axis_count; k++)
        text_printf(&w->text, "const long long %s = 0; ", d->axis[k].name);
    for (int k = 0; k < d->fits_count; k++)
        probe_optional(w, d, d->fits[k].value);
    text_printf(&w->text, "} ");
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
    for (int k = 0; k < d->setting_count; k++)
        probe_optional(w, d, d->setting[k].value);
    probe_optional(w, d, d->stream);
    probe_items(w, d);
    if (d->fits_count)
        probe_fits(w, d);
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

void probe_write(unit_t *u)
{
    writer_t w = {.u = u, .file = unit_includes(u)};
    size_t from = u->source->lines[0];
    text_printf(&w.text, "%s\n",
                source_line_marker(
                    u->source, 1)); /* as emit_text begins, so that clang can keep the preamble */
    for (int k = 0; k < u->directive_count; k++) {
        copy_source(&w, from, u->directives[k]->pragma.begin);
        write_probe(&w, u->directives[k]);
        from = u->directives[k]->pragma.end;
    }
    copy_source(&w, from, u->source->length);
    if (u->named)
        text_printf(&w.text, "%s", u->named);
    u->pieces = w.pieces;
    u->piece_count = w.count;
    u->parsed = w.text.data;
}

/* ---- Types of the expressions ---- */

/* On the way through a probe: `probe` is the one whose initializer is visited. */
typedef struct walk {
    unit_t *u;
    directive_t *d;
    probe_t *probe;
    size_t macro_begin, macro_end; /* the range of an expression around, which a macro writes */
} walk_t;

static bool is_operator(CXCursor c)
{
    switch (clang_getCursorKind(c)) {
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_ConditionalOperator:
    case CXCursor_UnaryOperator:
    case CXCursor_CStyleCastExpr: return true;
    default: return false;
    }
}

static bool is_leaf(const expr_t *e)
{
    return e->kind == EXPR_NAME || e->kind == EXPR_CALL || e->kind == EXPR_OPAQUE;
}

/* Children are visited after their parents, so that of an expression and its implicit conversions
 * the expression stays. `by_macro`: of several that are not inside each other, the first stays.
 * Returns true for the use of a macro. */
static bool set_type(expr_t *e, size_t begin, size_t end, CXCursor c, bool by_macro)
{
    bool found = false;
    for (; e; e = e->next) {
        if (e->begin == begin && e->end == end) {
            bool again = by_macro && e->is_by_macro;
            e->is_split |= again;
            e->is_by_macro = by_macro && is_leaf(e);
            e->is_open = e->is_by_macro && is_operator(c);
            e->type = again ? e->type : clang_getCursorType(c);
            e->cursor = again ? e->cursor : c;
            found |= e->is_by_macro;
        }
        found |= set_type(e->left, begin, end, c, by_macro);
        found |= set_type(e->right, begin, end, c, by_macro);
        found |= set_type(e->other, begin, end, c, by_macro);
    }
    return found;
}

/* True for the object of an anonymous union, which the name of a member stands for. */
static bool is_unwritten(CXCursor c)
{
    const enum CXCursorKind kind = clang_getCursorKind(c);
    return (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr) &&
           !*cursor_name(clang_getCursorReferenced(c));
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t w = *(const walk_t *)data;
    size_t begin, end;
    int order, number;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_VarDecl &&
        sscanf(cursor_name(c), "kmm_%d_%d", &order, &number) == 2) {
        w.probe = &w.d->probe[number];
        w.probe->type = clang_getCanonicalType(clang_getCursorType(c));
    } else if (w.probe && clang_isExpression(clang_getCursorKind(c)) && !is_unwritten(c) &&
               unit_range(w.u, c, &begin, &end)) {
        /* All that a macro's body writes has the range of its use, also operands. */
        bool written = cursor_is_from_body(c),
             implicit = written && clang_getCursorKind(c) == CXCursor_UnexposedExpr &&
                        cursor_children(c).count == 1;
        bool inside = begin == w.macro_begin && end == w.macro_end;
        if (!implicit && !inside && set_type(w.probe->expr, begin, end, c, written)) {
            w.macro_begin = begin;
            w.macro_end = end;
        }
    }
    clang_visitChildren(c, visit, &w);
    return CXChildVisit_Continue;
}

static void forget_types(expr_t *e)
{
    for (; e; e = e->next) {
        e->type = (CXType){.kind = CXType_Invalid};
        e->cursor = (CXCursor){0}; /* as the parser leaves it */
        e->is_by_macro = e->is_open = e->is_split = false;
        forget_types(e->left);
        forget_types(e->right);
        forget_types(e->other);
    }
}

void probe_types(unit_t *u, directive_t *d, CXCursor statement)
{
    walk_t w = {.u = u, .d = d};
    cursors_t list = cursor_children(statement);
    for (int k = 0; k < d->probe_count; k++)
        forget_types(d->probe[k].expr);
    if (list.count > 1)
        visit(list.at[1], statement, &w);
}
