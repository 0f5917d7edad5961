/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that expressions of clauses are integers that can be computed anywhere. */
#include "analyze/check_scalar.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/effects.h"
#include "base/arena.h"
#include "base/diag.h"
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

bool check_calls(unit_t *u, const directive_t *d, const expr_t *e)
{
    for (; e; e = e->next) {
        if (e->kind == EXPR_CALL && !effects_is_pure(e->cursor)) {
            unit_error(u, e->begin, e->end,
                       "the call of '%s' may have side effects, and a clause has none; compute the "
                       "value before the pragma",
                       unit_words(u, e->left->begin, e->left->end));
            suggest_variable(u, d, e);
            return false;
        }
        if (!check_calls(u, d, e->left) || !check_calls(u, d, e->right) ||
            !check_calls(u, d, e->other))
            return false;
    }
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
