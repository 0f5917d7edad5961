/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that look up in shared memory which part of the grid runs. */
#include "gpu/share.h"

#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "clang/cursor.h"
#include "gpu/change.h"

static void share_locals(unit_t *file, size_t body, const function_t *f)
{
    unit_edit(
        file, body, body,
        arena_printf(" const kmm_blocks_t kmm__blocks = kmm_shared_blocks(); (void)kmm__blocks;%s",
                     change_locals(file, f)));
}

enum CXChildVisitResult share_kernel(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *u = data;
    (void)parent;
    if (cursor_is_system(c))
        return CXChildVisit_Continue;
    if (cursor_is_namespace(c))
        return CXChildVisit_Recurse;
    if (!cursor_is_kernel(c) || !clang_isCursorDefinition(c))
        return CXChildVisit_Continue;
    unit_t *file = unit_holding(u, c);
    size_t body = file ? change_body_begin(file, c) : 0;
    if (!body)
        return CXChildVisit_Continue;
    unit_edit(file, body, body, " kmm_share_blocks(kmm_all_blocks());");
    unit_include_before(file, c);
    return CXChildVisit_Continue;
}

void share_function(unit_t *u, function_t *f)
{
    size_t body = f->u ? change_body_begin(f->u, f->cursor) : 0;
    if (!body) {
        diag_plain(SEVERITY_ERROR,
                   "'%s' reads blockIdx or gridDim for a kernel that is split, and a macro writes "
                   "it; write it out",
                   f->name);
        return;
    }
    share_locals(f->u, body, f);
    for (const change_t *c = f->changes; c; c = c->next)
        unit_edit(f->u, c->begin, c->end, c->text);
    unit_include_before(f->u, f->cursor);
    (void)u;
}

static bool reads(const lambda_t *l)
{
    return l->reads_index || l->reads_dim || l->reads_group;
}

void share_lambdas(function_t *f)
{
    for (lambda_t *l = f->lambdas; l; l = l->next) {
        size_t body = f->u && reads(l) && !l->up ? change_body_begin(f->u, l->cursor) : 0;
        function_t as = {.reads_index = l->reads_index, .reads_dim = l->reads_dim};
        if (!body)
            continue;
        share_locals(f->u, body, &as);
        unit_include_before(f->u, f->cursor);
    }
}

bool share_is_needed(const unit_t *u)
{
    for (const function_t *f = u->functions; f; f = f->next) {
        if (f->is_shared && (f->reads_index || f->reads_dim || f->reads_group))
            return true;
        for (const lambda_t *l = f->lambdas; f->holds_lambdas && l; l = l->next)
            if (reads(l))
                return true;
    }
    return false;
}
