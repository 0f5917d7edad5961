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
#include "base/arena.h"
#include "base/token.h"
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

/* True if the statement stands in the block. */
static bool is_inside(const leave_t *l, CXCursor statement)
{
    size_t begin, end;
    return !clang_Cursor_isNull(statement) && unit_range(l->u, statement, &begin, &end) &&
           begin >= l->d->statement_begin && begin < l->d->statement_end;
}

/* True if the label of the jump, or of `&&label`, stands in the block. */
static bool stays(const leave_t *l, CXCursor jump)
{
    return is_inside(l, clang_getCursorReferenced(cursor_first_child(jump)));
}

/* The names of labels in `asm goto (... : label, ...)`, as " label other ". "": there are none. */
static const char *asm_labels(const unit_t *u, CXCursor statement)
{
    size_t begin, end;
    const char *names = " ";
    bool jumps = false;
    if (!unit_range(u, statement, &begin, &end))
        return "";
    lexer_t l = lexer_within(u->source, begin, end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        jumps |= token_is(u->source, t, "goto");
        if (token_is(u->source, t, ":") || token_is(u->source, t, "::"))
            names = " ";
        else if (t.kind == TOKEN_NAME)
            names = arena_printf("%s%s ", names, token_text(u->source, t));
    }
    return jumps ? names : "";
}

typedef struct labels {
    const leave_t *leave;
    const char *names;
    bool inside, outside; /* some of the labels stand there */
} labels_t;

static enum CXChildVisitResult find_label(CXCursor c, CXCursor parent, CXClientData data)
{
    labels_t *labels = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_LabelStmt &&
        strstr(labels->names, arena_printf(" %s ", cursor_name(c))))
        *(is_inside(labels->leave, c) ? &labels->inside : &labels->outside) = true;
    return CXChildVisit_Recurse;
}

/* Where an assembler statement may jump to. */
static labels_t labels_of(const leave_t *l, CXCursor statement)
{
    labels_t found = {.leave = l, .names = asm_labels(l->u, statement)};
    if (*found.names)
        clang_visitChildren(l->d->top, find_label, &found);
    return found;
}

/* Visitor of the function around the block: reports jumps from outside to a label in it, and
 * addresses of such labels, to which only jumps from outside can lead. */
static enum CXChildVisitResult find_entry(CXCursor c, CXCursor parent, CXClientData data)
{
    const leave_t *l = data;
    size_t begin, end;
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool enters = (kind == CXCursor_AddrLabelExpr && stays(l, c)) ||
                  (kind == CXCursor_GotoStmt && !is_inside(l, c) && stays(l, c)) ||
                  (kind == CXCursor_GCCAsmStmt && !is_inside(l, c) && labels_of(l, c).inside);
    if (enters && unit_range(l->u, c, &begin, &end))
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
                  (kind == CXCursor_GCCAsmStmt && labels_of(&inner, c).outside) ||
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
