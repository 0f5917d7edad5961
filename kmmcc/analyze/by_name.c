/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that a plain function reads by their names. When a launch has returned, an array has
 * its newest value in the host's memory, unless a `data` directive maps the array or the launch has
 * `nowait`. A function reads what is in the host's memory. */
#include "analyze/by_name.h"

#include <clang-c/Index.h>
#include <string.h>

#include "analyze/check_argument.h"
#include "analyze/flow.h"
#include "base/diag.h"
#include "base/source.h"
#include "clang/cursor.h"
#include "ir/ir.h"

enum { MAX_SEEN = 64 };

typedef struct walk {
    const unit_t *main;
    CXCursor seen[MAX_SEEN];
    int seen_count;
    CXCursor found, variable;  /* the mention; null: there is none */
    const unit_t *holder;      /* of the directive that names the variable */
    const directive_t *keeper; /* that directive */
} walk_t;

static bool is_root(const expr_t *base, CXCursor variable)
{
    return clang_equalCursors(clang_getCanonicalCursor(variable),
                              clang_getCanonicalCursor(cursor_root(base->cursor)));
}

/* True if the variable's newest value may be on a device behind this directive. */
static bool keeps(const directive_t *d, CXCursor variable)
{
    if (!d->bound || d->broken)
        return false;
    for (int k = 0; k < d->map_count; k++)
        if (d->map[k].base && is_root(d->map[k].base, variable))
            return d->kind == DIRECTIVE_DATA || d->kind == DIRECTIVE_ENTER_DATA;
    for (int k = 0; k < d->item_count && d->nowait; k++)
        if (is_root(d->item[k].base, variable))
            return true;
    return false;
}

static void note_mention(walk_t *w, CXCursor mention)
{
    const CXCursor v = clang_getCursorReferenced(mention);
    if (clang_getCursorKind(v) != CXCursor_VarDecl || !cursor_is_static(v) ||
        flow_is_constant(clang_getCursorType(v)) || cursor_is_system(v))
        return;
    for (const unit_t *u = w->main; u && !w->keeper; u = u->next)
        for (int k = 0; k < u->directive_count && !w->keeper; k++)
            if (keeps(u->directives[k], v)) {
                w->holder = u;
                w->keeper = u->directives[k];
                w->found = mention;
                w->variable = v;
            }
}

static void walk_function(walk_t *w, CXCursor f);

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t *w = data;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_UnaryExpr) /* sizeof */
        return CXChildVisit_Continue;
    if (kind == CXCursor_DeclRefExpr)
        note_mention(w, c);
    if (kind == CXCursor_CallExpr)
        walk_function(w, clang_getCursorReferenced(c));
    return w->keeper ? CXChildVisit_Break : CXChildVisit_Recurse;
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

void check_by_name(unit_t *u, directive_t *d)
{
    walk_t w = {.main = u->main};
    if (d->is_kernel || d->target_count != 1 || !d->rebase_count)
        return;
    walk_function(&w, d->target[0].kernel);
    if (!w.keeper)
        return;
    diag_at(SEVERITY_WARNING, u->source, d->rebase_begin, d->rebase_end,
            "it is not proven that chunks of '%s' give what one call gives, since it reads '%s' by "
            "its name, and the directive in line %u of '%s' lets its newest value be on a device; "
            "make it a parameter, with a clause that names it [-Wkmm-unproven]",
            d->callee_name, cursor_name(w.variable),
            source_line(w.holder->source, w.keeper->pragma.begin), w.holder->path);
    check_note(u, w.found, "it is read here");
    d->is_doubted = true;
}

/* True if a pointer or a reference leads from the expression's variable to the array. */
static bool is_led_to(const expr_t *base)
{
    const CXCursor root = cursor_root(base->cursor);
    if (clang_Cursor_isNull(root))
        return true;
    CXType t = clang_getCanonicalType(clang_getCursorType(root));
    while (type_is_array(t))
        t = clang_getCanonicalType(type_pointee(t));
    if (t.kind == CXType_Record)
        t = clang_getCanonicalType(clang_getCursorType(base->cursor));
    return t.kind == CXType_Pointer || t.kind == CXType_LValueReference;
}

/* The kind of the elements of an array to which a pointer leads; 0: the expression names a
 * variable. */
static uint64_t element_away(const expr_t *base)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(base->cursor));
    while (t.kind == CXType_Pointer || type_is_array(t))
        t = clang_getCanonicalType(type_pointee(t));
    const long long bytes = clang_Type_getSizeOf(t);
    return is_led_to(base) && bytes > 0
               ? IR_ELEMENT(bytes, t.kind == CXType_Float || t.kind == CXType_Double)
               : 0;
}

uint64_t by_name_away(const unit_t *u)
{
    uint64_t all = 0;
    for (const unit_t *of = u->main; of; of = of->next)
        for (int k = 0; k < of->directive_count; k++) {
            const directive_t *d = of->directives[k];
            const bool maps = d->kind == DIRECTIVE_DATA || d->kind == DIRECTIVE_ENTER_DATA;
            if (!d->bound || d->broken)
                continue;
            for (int i = 0; i < d->map_count && maps; i++)
                all |= d->map[i].base ? element_away(d->map[i].base) : 0;
            for (int i = 0; i < d->item_count && d->nowait; i++)
                all |= d->item[i].mode != KMM_READ ? element_away(d->item[i].base) : 0;
        }
    return all;
}
