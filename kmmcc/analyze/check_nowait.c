/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch with `nowait` may run when the function has returned, and a variable on the function's
 * stack is gone then. That is certain where nothing behind the launch can wait: no directive that
 * waits, and no call of a function of the program.
 */
#include "analyze/check_nowait.h"

#include <clang-c/Index.h>

#include "clang/cursor.h"

enum { DEEPEST = 8 };

/* What may wait behind the launch, or in a function that is called there. */
typedef struct rest {
    const unit_t *u;
    size_t begin; /* of the function's rest in the source */
    int depth;    /* 0: in the function of the launch */
    bool may_wait;
} rest_t;

static bool callee_may_wait(const unit_t *u, CXCursor f, int depth);

static enum CXChildVisitResult find_call(CXCursor c, CXCursor parent, CXClientData data)
{
    rest_t *rest = data;
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_CallExpr &&
        (rest->depth || !unit_range(rest->u, c, &begin, &end) || end > rest->begin))
        rest->may_wait = callee_may_wait(rest->u, clang_getCursorReferenced(c), rest->depth + 1);
    return rest->may_wait ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* False if the function's body is seen, and neither a directive nor an unknown function in it may
 * wait. */
static bool callee_may_wait(const unit_t *u, CXCursor f, int depth)
{
    if (clang_Cursor_isNull(f) || depth > DEEPEST)
        return true;
    if (cursor_is_system(f))
        return false;
    CXCursor definition = clang_getCursorDefinition(f);
    if (clang_Cursor_isNull(definition))
        return true;
    for (int k = 0; k < u->directive_count; k++)
        if (u->directives[k]->bound && clang_equalCursors(u->directives[k]->function, definition))
            return true;
    rest_t rest = {.u = u, .depth = depth};
    clang_visitChildren(definition, find_call, &rest);
    return rest.may_wait;
}

/* True if a map whose end waits, or that the program ends elsewhere, names the variable. */
static bool is_mapped(const directive_t *data, const directive_t *d, CXCursor variable)
{
    bool around = data->kind == DIRECTIVE_ENTER_DATA ||
                  (data->kind == DIRECTIVE_DATA && data->statement_begin <= d->launch_begin &&
                   data->statement_end >= d->launch_end);
    for (int k = 0; k < data->map_count && around; k++)
        if (clang_equalCursors(clang_getCanonicalCursor(cursor_root(data->map[k].base->cursor)),
                               clang_getCanonicalCursor(variable)))
            return true;
    return false;
}

static bool may_wait(const unit_t *u, const directive_t *d, CXCursor variable)
{
    rest_t rest = {.u = u, .begin = d->launch_end};
    for (int k = 0; k < u->directive_count && !rest.may_wait; k++) {
        const directive_t *other = u->directives[k];
        if (!other->bound || !clang_equalCursors(other->function, d->function))
            continue;
        rest.may_wait = is_mapped(other, d, variable) ||
                        (other->pragma.begin > d->launch_end &&
                         (other->kind == DIRECTIVE_WAIT || other->kind == DIRECTIVE_UPDATE));
    }
    if (!rest.may_wait)
        clang_visitChildren(d->function, find_call, &rest);
    return rest.may_wait;
}

/* True for a variable that ends with its function. A pointer may lead anywhere. */
static bool is_on_stack(CXCursor variable)
{
    enum CX_StorageClass storage = clang_Cursor_getStorageClass(variable);
    CXType type = clang_getCanonicalType(clang_getCursorType(variable));
    enum CXCursorKind scope = clang_getCursorKind(clang_getCursorSemanticParent(variable));
    return clang_getCursorKind(variable) == CXCursor_VarDecl &&
           (storage == CX_SC_None || storage == CX_SC_Auto || storage == CX_SC_Register) &&
           clang_getCursorTLSKind(variable) == CXTLS_None &&
           (scope == CXCursor_FunctionDecl || scope == CXCursor_CXXMethod ||
            scope == CXCursor_Constructor || scope == CXCursor_Destructor) &&
           (type_is_array(type) || type_is_integer(type) || type.kind == CXType_Float ||
            type.kind == CXType_Double);
}

void check_nowait(const unit_t *u, const directive_t *d)
{
    for (int k = 0; k < d->item_count && d->nowait; k++) {
        const item_t *item = &d->item[k];
        if (clang_Cursor_isNull(item->root) || !is_on_stack(item->root) ||
            may_wait(u, d, item->root))
            continue;
        unit_error(u, item->begin, item->end,
                   "the launch may still run when '%s' returns, and '%s' is on its stack; add "
                   "'#pragma kmm wait' behind the launch, or leave out nowait",
                   cursor_name(d->function), cursor_name(item->root));
        return;
    }
}
