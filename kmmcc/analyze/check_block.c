/* SPDX-License-Identifier: Apache-2.0 */
/* Checks maps, and the blocks of `data` and `task`. */
#include "analyze/check_block.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/check_item.h"
#include "analyze/check_scalar.h"
#include "analyze/task_name.h"
#include "clang/cursor.h"
#include "pragma/expression.h"

/* ---- data and task ---- */

enum { IN_BREAKABLE = 1, IN_LOOP = 2, IN_SWITCH = 4 };

typedef struct leave {
    unit_t *u;
    const directive_t *d;
    int in; /* statements of the block that are around */
    const char *message;
} leave_t;

/* True if the jump's label stands in the block. */
static bool stays(const leave_t *l, CXCursor jump)
{
    size_t begin, end;
    CXCursor label = clang_getCursorReferenced(cursor_first_child(jump));
    return !clang_Cursor_isNull(label) && unit_range(l->u, label, &begin, &end) &&
           begin >= l->d->statement_begin && begin < l->d->statement_end;
}

/* Visitor of the function around the block: reports jumps from outside to a label in it. */
static enum CXChildVisitResult find_entry(CXCursor c, CXCursor parent, CXClientData data)
{
    const leave_t *l = data;
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_GotoStmt && unit_range(l->u, c, &begin, &end) &&
        (begin < l->d->statement_begin || begin >= l->d->statement_end) && stays(l, c))
        unit_error(l->u, begin, end, "this would enter the block of '%s' behind its beginning",
                   l->d->kind == DIRECTIVE_DATA ? "data" : "task");
    return CXChildVisit_Recurse;
}

/* Visitor: reports statements by which control leaves the block other than at its end. */
static enum CXChildVisitResult find_leave(CXCursor c, CXCursor parent, CXClientData data)
{
    leave_t inner = *(leave_t *)data;
    size_t begin, end;
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_LambdaExpr)
        return CXChildVisit_Continue;
    bool loop = kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt ||
                kind == CXCursor_CXXForRangeStmt;
    if (loop)
        inner.in |= IN_BREAKABLE | IN_LOOP;
    if (kind == CXCursor_SwitchStmt)
        inner.in |= IN_BREAKABLE | IN_SWITCH;
    if ((kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt) && !(inner.in & IN_SWITCH) &&
        unit_range(inner.u, c, &begin, &end))
        unit_error(inner.u, begin, begin + 1, "this would enter the block behind its beginning");
    bool leaves = kind == CXCursor_ReturnStmt || (kind == CXCursor_GotoStmt && !stays(&inner, c)) ||
                  kind == CXCursor_IndirectGotoStmt ||
                  (kind == CXCursor_BreakStmt && !(inner.in & IN_BREAKABLE)) ||
                  (kind == CXCursor_ContinueStmt && !(inner.in & IN_LOOP));
    if (leaves && unit_range(inner.u, c, &begin, &end))
        unit_error(inner.u, begin, end, "%s", inner.message);
    clang_visitChildren(c, find_leave, &inner);
    return CXChildVisit_Continue;
}

/* True if a pointer needs no section, since the runtime knows the whole array there. */
static bool may_be_bare(const directive_t *d)
{
    return d->kind == DIRECTIVE_WAIT || d->kind == DIRECTIVE_UPDATE;
}

static void check_map(unit_t *u, directive_t *d, map_item_t *item)
{
    CXType type = clang_getCanonicalType(item->base->type);
    const char *text = unit_words(u, item->base->begin, item->base->end);
    check_scalar(u, d, item->lower);
    check_scalar(u, d, item->length);
    if (!check_calls(u, d, item->base) || type_is_dependent(type))
        return;
    if (type.kind == CXType_Pointer && !item->length && !may_be_bare(d))
        unit_error(u, item->begin, item->end,
                   "'%s' is a pointer, so a map needs its length: %s[0:n]", text, text);
    else if (type.kind == CXType_Pointer && type_pointee(type).kind == CXType_Void && item->length)
        unit_error(u, item->begin, item->end,
                   "'%s' points to void, whose elements have no size; cast it, as in ((char *)%s)",
                   text, text);
    else if (type.kind != CXType_Pointer && !type_is_array(type))
        check_no_memory(u, item->begin, item->end, text, item->base->type);
}

void check_data(unit_t *u, directive_t *d)
{
    leave_t leave = {
        u, d, 0,
        "this would leave the block of 'data' before its arrays are back; leave it at its end"};
    for (int k = 0; k < d->map_count; k++)
        check_map(u, d, &d->map[k]);
    if (d->kind != DIRECTIVE_DATA)
        return;
    clang_visitChildren(d->statement, find_leave, &leave);
    clang_visitChildren(d->top, find_entry, &leave);
}

/* ---- task ---- */

/* Inside the task a pointer of the same name stands for the array, so the base must be a name. */
static void check_task_item(unit_t *u, const item_t *item)
{
    if (item->base->kind != EXPR_NAME || strstr(item->base->op, "::"))
        unit_error(
            u, item->base->begin, item->base->end,
            "inside a task an array goes by its own name, but '%s' is no name of a variable; "
            "declare a pointer before the pragma",
            unit_words(u, item->base->begin, item->base->end));
}

static void check_nested(unit_t *u, const directive_t *d)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *inner = u->directives[k];
        if (inner->bound && inner->pragma.begin >= d->statement_begin &&
            inner->pragma.end <= d->statement_end)
            unit_error(
                u, inner->name_begin, inner->name_end,
                "'%s' stands inside a task, where arrays are plain memory of a device; put it "
                "before or behind the task",
                unit_words(u, inner->name_begin, inner->name_end));
    }
}

void check_task(unit_t *u, directive_t *d)
{
    leave_t leave = {u, d, 0, "this would leave the task before it has ended; leave it at its end"};
    check_scalars(u, d);
    check_items(u, d);
    for (int k = 0; k < d->item_count; k++)
        check_task_item(u, &d->item[k]);
    check_nested(u, d);
    check_task_names(u, d);
    find_leave(d->statement, d->statement, &leave);
    clang_visitChildren(d->top, find_entry, &leave);
}
