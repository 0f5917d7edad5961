/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that rebase tells a function its part of every axis. */
#include "analyze/check_rebase.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/check_argument.h"
#include "base/diag.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "pragma/spelling.h"

static int find_parameter(unit_t *u, const rebase_t *r, const parameter_list_t *p)
{
    const char *names[256], *text = token_text(u->source, r->name);
    for (int k = 0; k < p->count; k++) {
        names[k] = cursor_name(p->at[k]);
        if (r->by_number ? atoi(text) == k + 1 : !strcmp(names[k], text))
            return k;
    }
    const char *near = r->by_number ? NULL : spelling_nearest(text, names, p->count);
    if (r->by_number)
        unit_error(u, r->begin, r->end, "the function has %d parameters, so there is no #%s",
                   p->count, text);
    else if (near && *near)
        unit_error(u, r->name.begin, r->name.end,
                   "the function has no parameter '%s'; did you mean '%s'?", text, near),
            diag_fix(r->name.begin, r->name.end, near);
    else
        unit_error(u, r->name.begin, r->name.end,
                   "the function has no parameter '%s'; name an unnamed one by its number, as in "
                   "rebase(#1: i)",
                   text);
    return -1;
}

static void check_rebase_item(unit_t *u, directive_t *d, rebase_t *r, const parameter_list_t *p)
{
    r->parameter = find_parameter(u, r, p);
    if (r->parameter < 0)
        return;
    /* of a template, the parameter of the function that is called */
    CXCursor called = d->target_count == 1
                          ? clang_Cursor_getArgument(d->target[0].instance, (unsigned)r->parameter)
                          : clang_getNullCursor();
    CXType type = clang_getCursorType(clang_Cursor_isNull(called) ? p->at[r->parameter] : called);
    if (type_is_dependent(type))
        unit_error(
            u, r->begin, r->end,
            "the call of a function that depends on a template's parameters cannot be split; "
            "call it from a function that is no template");
    else if (!type_is_integer(type))
        unit_error(u, r->begin, r->end,
                   "rebase passes a length or a bound, but parameter '%s' is '%s'",
                   cursor_name(p->at[r->parameter]), clang_text(clang_getTypeSpelling(type)));
    for (rebase_t *other = d->rebase; other < r; other++)
        if (other->parameter == r->parameter)
            unit_error(u, r->begin, r->end, "the parameter is rebased twice");
}

void check_rebase(unit_t *u, directive_t *d)
{
    if (d->is_kernel) {
        if (d->rebase_count)
            unit_error(
                u, d->rebase_begin, d->rebase_end,
                "rebase is for calls of functions; a kernel's chunks are blocks of its grid");
        return;
    }
    parameter_list_t *p = check_parameters(d->callee);
    for (int k = 0; k < d->rebase_count; k++)
        check_rebase_item(u, d, &d->rebase[k], p);
    for (int k = 0; k < d->axis_count; k++) {
        bool found = false;
        for (int i = 0; i < d->rebase_count; i++)
            found |= d->rebase[i].axis == k;
        if (!found)
            unit_error(u, d->axis[k].begin, d->axis[k].end,
                       "nothing says how '%s' is told its part of axis '%s'; add rebase(n: %s), n "
                       "being the parameter with the length",
                       cursor_name(d->callee), d->axis[k].name, d->axis[k].name);
    }
}
