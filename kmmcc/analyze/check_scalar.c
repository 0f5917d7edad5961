/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that expressions of clauses are integers that can be computed anywhere. */
#include "analyze/check_scalar.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/effects.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"

/* A variable before the pragma in place of the call; where a declaration may stand, and the pragma
 * is a line of its own. */
static void suggest_variable(const unit_t *u, const directive_t *d, const expr_t *call)
{
    size_t line = d->pragma.begin, text = 0;
    const char *type = clang_text(clang_getTypeSpelling(call->type)),
               *name = unit_words(u, call->left->begin, call->left->end);
    if (clang_getCursorKind(d->parent) != CXCursor_CompoundStmt || d->pragma.is_operator ||
        call->left->kind != EXPR_NAME || strchr(name, ':') || strchr(name, '<') ||
        !type_is_integer(call->type))
        return;
    while (line > 0 && u->source->text[line - 1] != '\n')
        line--;
    while (line + text < d->pragma.begin && strchr(" \t", u->source->text[line + text]))
        text++;
    if (line + text < d->pragma.begin)
        return;
    diag_fix(call->begin, call->end, arena_printf("%s_value", name));
    diag_fix(line, line,
             arena_printf("%.*sconst %s %s_value = %s;\n", (int)text, u->source->text + line, type,
                          name, unit_words(u, call->begin, call->end)));
}

typedef struct mention {
    const unit_t *u;
    const directive_t *d;
    const expr_t *e;
    const char *axis; /* its name; NULL: none is mentioned */
} mention_t;

/* The tokens of a macro's body have the range of its use. Those of its arguments have not. */
static enum CXChildVisitResult find_axis(CXCursor c, CXCursor parent, CXClientData data)
{
    mention_t *m = data;
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr && unit_range(m->u, c, &begin, &end) &&
        begin == m->e->begin && end == m->e->end)
        for (int k = 0; k < m->d->axis_count; k++)
            if (!strcmp(cursor_name(c), m->d->axis[k].name))
                m->axis = m->d->axis[k].name;
    return m->axis ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* True if no expression of clang's has the text of the macro's use. */
static bool is_torn(const unit_t *u, const expr_t *e)
{
    return e->is_split ||
           (e->kind == EXPR_CALL && !e->cursor.kind && e->left &&
            source_defines(u->source, source_words(u->source, e->left->begin, e->left->end)));
}

/* Refuses macros that do not mean in generated code what they mean in the clause. */
static bool check_macro(const unit_t *u, const directive_t *d, const expr_t *e)
{
    const char *text = unit_words(u, e->begin, e->end);
    mention_t m = {.u = u, .d = d, .e = e};
    bool torn = is_torn(u, e);
    if (!e->is_by_macro && !torn)
        return true;
    if (!torn && find_axis(e->cursor, e->cursor, &m) == CXChildVisit_Recurse)
        clang_visitChildren(e->cursor, find_axis, &m);
    if (torn)
        unit_error(u, e->begin, e->end,
                   "macro '%s' is no operand of its own here, since the operators around it bind "
                   "tighter than its own; put its body in parentheses",
                   text);
    else if (m.axis)
        unit_error(u, e->begin, e->end,
                   "macro '%s' mentions '%s', which is the name of an axis; write it out, "
                   "since macros in clauses do not know axes",
                   text, m.axis);
    else if (clang_getCursorBinaryOperatorKind(e->cursor) == CXBinaryOperator_Comma)
        unit_error(u, e->begin, e->end,
                   "macro '%s' is a list; write its parts out, since a macro in a clause stands "
                   "for one expression",
                   text);
    else if (!effects_is_pure(e->cursor))
        unit_error(u, e->begin, e->end,
                   "macro '%s' may have side effects, and a clause has none; compute the value "
                   "before the pragma",
                   text);
    else
        return true;
    return false;
}

/* Operators and conversions of a template show what they call in its instances, of which each is
 * asked. */
static bool is_pure(const directive_t *d, const expr_t *e)
{
    if (clang_Cursor_isNull(e->cursor) && e->kind != EXPR_CALL)
        return true; /* an extent of an array's type, which the user has not written */
    return d->in_template && !d->pattern ? effects_may_be_pure(e->cursor)
                                         : effects_is_pure(e->cursor);
}

/* Refuses the call, or the part of the expression that makes one by an operator or a conversion. */
static bool refuse_effects(unit_t *u, const directive_t *d, const expr_t *e)
{
    bool call = e->kind == EXPR_CALL;
    if (call)
        unit_error(u, e->begin, e->end,
                   "the call of '%s' may have side effects, and a clause has none; compute the "
                   "value before the pragma",
                   unit_words(u, e->left->begin, e->left->end));
    else
        unit_error(u, e->begin, e->end,
                   "'%s' may have side effects, and a clause has none; compute the value before "
                   "the pragma",
                   unit_words(u, e->begin, e->end));
    if (call)
        suggest_variable(u, d, e);
    return false;
}

bool check_calls(unit_t *u, const directive_t *d, const expr_t *e)
{
    for (; e; e = e->next) {
        if (!check_macro(u, d, e))
            return false;
        if (e->kind == EXPR_CALL && !effects_is_pure(e->cursor))
            return refuse_effects(u, d, e);
        if (!check_calls(u, d, e->left) || !check_calls(u, d, e->right) ||
            !check_calls(u, d, e->other))
            return false;
        if (e->cursor.kind && !is_pure(d, e))
            return refuse_effects(u, d, e);
    }
    return true;
}

bool check_effects(unit_t *u, const directive_t *d)
{
    for (int k = 0; k < d->probe_count; k++)
        if (d->probe[k].expr != d->stream && !check_calls(u, d, d->probe[k].expr))
            return false;
    return true;
}

static bool check_numbers(unit_t *u, const expr_t *e)
{
    for (; e; e = e->next) {
        if (e->kind == EXPR_NUMBER && !e->integral) {
            unit_error(u, e->begin, e->end, "'%s' is no integer", unit_words(u, e->begin, e->end));
            return false;
        }
        if (e->kind == EXPR_CALL || e->kind == EXPR_OPAQUE || e->kind == EXPR_CAST)
            continue;
        if (!check_numbers(u, e->left) || !check_numbers(u, e->right) ||
            !check_numbers(u, e->other))
            return false;
    }
    return true;
}

static CXType probe_type(const directive_t *d, const expr_t *e)
{
    for (int k = 0; k < d->probe_count; k++)
        if (d->probe[k].expr == e)
            return d->probe[k].type;
    return (CXType){.kind = CXType_Invalid};
}

bool check_scalar(unit_t *u, const directive_t *d, const expr_t *e)
{
    if (!e)
        return true;
    CXType type = probe_type(d, e);
    if (!type_is_integer(type) && !type_is_dependent(type)) {
        unit_error(u, e->begin, e->end, "'%s' must be an integer, but it is '%s'",
                   unit_words(u, e->begin, e->end), clang_text(clang_getTypeSpelling(type)));
        return false;
    }
    return check_calls(u, d, e) && check_numbers(u, e);
}

void check_scalars(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->axis_count; k++) {
        check_scalar(u, d, d->axis[k].lower);
        check_scalar(u, d, d->axis[k].length);
    }
    for (int k = 0; k < d->chunk_count; k++)
        check_scalar(u, d, d->chunk[k]);
    for (int k = 0; k < d->shape_count; k++)
        for (int i = 0; i < d->shape[k].dims; i++)
            check_scalar(u, d, d->shape[k].extent[i]);
    for (int k = 0; k < d->setting_count; k++)
        check_scalar(u, d, d->setting[k].value);
    if (d->condition)
        check_calls(u, d, d->condition);
}
