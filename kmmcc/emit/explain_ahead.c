/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends lookahead in the loops around a launch. Where data does not fit, chunks of later steps
 * run while their data is on the device, if these steps have been submitted. A call in the loop
 * that waits for results keeps them from it. So does a launch without a pragma, which is one chunk
 * that uses all of its arrays. libkmm's note [waits] (runtime/memory/residency/lookahead.c) says
 * the same when it happens.
 */
#include "emit/explain_ahead.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "clang/cursor.h"

/* DEEPEST: calls of functions that are followed. */
enum { MAX_LOOPS = 16, DEEPEST = 4, TO_HOST = 2 };

typedef struct search {
    const unit_t *u;
    const directive_t *d;     /* whose launch is in the loops */
    CXCursor loop[MAX_LOOPS]; /* around the launch, the innermost first */
    int loop_count;
    CXCursor visited; /* one of them, whose ends have been found */
    explained_t *out;
    unsigned line, loop_line; /* of the loop's statement that is visited, and of the loop */
    int depth;                /* of functions that are followed */
    const char *path;         /* of these, "'f', which calls " */
} search_t;

/* The line of the unit's file on which the cursor begins; that of a macro's use. */
static unsigned line_of(const unit_t *u, CXCursor c)
{
    unsigned offset;
    clang_getFileLocation(clang_getCursorLocation(c), NULL, NULL, NULL, &offset);
    return source_line(u->source, unit_offset(u, offset));
}

/* ---- The loops around the launch ---- */

/* `do ... while (0)` is no loop. */
static bool is_loop(CXCursor c)
{
    long long value;
    switch (clang_getCursorKind(c)) {
    case CXCursor_DoStmt: return !cursor_evaluates_to(cursor_last_child(c), &value) || value;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_CXXForRangeStmt: return true;
    default: return false;
    }
}

/* Lists the loops in c around the launch. False: it is not in c. */
static bool find_loops(search_t *s, CXCursor c)
{
    if (clang_equalCursors(c, s->d->launch))
        return true;
    const cursors_t children = cursor_children(c);
    bool found = false;
    for (int k = 0; k < children.count && !found; k++)
        found = find_loops(s, children.at[k]);
    if (found && is_loop(c) && s->loop_count < MAX_LOOPS)
        s->loop[s->loop_count++] = c;
    return found;
}

/* ---- What ends lookahead ---- */

/* Names that cuda and hip begin, or none. `direction`: index of the argument that says from where
 * to where is copied; 0: none does. */
static const struct ending {
    const char *name;
    bool is_own;
    int direction;
} endings[] = {
    {"Memcpy", false, 3},
    {"Memcpy2D", false, 6},
    {"MemcpyFromSymbol", false, 4},
    {"MemcpyDtoH", false, 0},
    {"DeviceSynchronize", false, 0},
    {"ThreadSynchronize", false, 0},
    {"StreamSynchronize", false, 0},
    {"EventSynchronize", false, 0},
    {"kmm_wait", true, 0},
    {"kmm_copy_out", true, 0},
};

static const char *without_prefix(const char *name)
{
    return !strncmp(name, "cuda", 4) ? name + 4 : !strncmp(name, "hip", 3) ? name + 3 : NULL;
}

/* What the call does to end lookahead; NULL: nothing. */
static const char *ending_of(CXCursor call)
{
    const char *name = cursor_name(call), *plain = without_prefix(name);
    for (size_t k = 0; k < sizeof(endings) / sizeof(*endings); k++) {
        const struct ending *e = &endings[k];
        const char *found = e->is_own ? name : plain;
        if (!found || strcmp(found, e->name) != 0)
            continue;
        long long to = TO_HOST;
        if (e->direction && clang_Cursor_getNumArguments(call) > e->direction &&
            !cursor_evaluates_to(clang_Cursor_getArgument(call, (unsigned)e->direction), &to))
            return NULL;
        return to == TO_HOST ? arena_printf("'%s'%s", name, e->direction ? " to the host" : "")
                             : NULL;
    }
    return NULL;
}

/* Of a loop, lines ascend. */
static void add_end(const search_t *s, const char *what, bool always)
{
    explained_end_t *end = arena_alloc(sizeof(*end)), **last = &s->out->ends;
    end->what = arena_printf("%s%s", s->path, what);
    end->line = s->line;
    end->loop_line = s->loop_line;
    end->always = always;
    while (*last && ((*last)->loop_line != s->loop_line || (*last)->line <= s->line))
        last = &(*last)->next;
    end->next = *last;
    *last = end;
}

static bool is_governed(const unit_t *u, CXCursor launch)
{
    bool is = false;
    for (int k = 0; k < u->directive_count && !is; k++)
        is = u->directives[k]->kind == DIRECTIVE_PARALLEL &&
             clang_equalCursors(u->directives[k]->launch, launch);
    return is;
}

static void visit(search_t *s, CXCursor c, bool always);

/* Follows a call of a function of the file. */
static void visit_callee(search_t *s, CXCursor call, bool always)
{
    CXCursor callee = clang_getCursorReferenced(call);
    CXCursor definition = clang_getCursorDefinition(callee);
    if (clang_Cursor_isNull(definition) || s->depth == DEEPEST || cursor_is_kernel(definition) ||
        !unit_is_in(s->u, definition))
        return;
    const char *path = s->path;
    s->path = arena_printf("%s'%s', which calls ", path, cursor_name(definition));
    s->depth++;
    visit(s, cursor_body(definition), always);
    s->depth--;
    s->path = path;
}

static void visit_call(search_t *s, CXCursor call, bool always)
{
    const char *what = ending_of(call);
    if (s->depth == 0)
        s->line = line_of(s->u, call);
    if (cursor_is_launch(call) && !is_governed(s->u, call))
        what = arena_printf("a launch of '%s' without a pragma", cursor_name(call));
    if (what)
        add_end(s, what, always);
    else
        visit_callee(s, call, always);
}

/* Directives that stand alone in c and wait. */
static void visit_directives(search_t *s, CXCursor c, bool always)
{
    for (int k = 0; k < s->u->directive_count; k++) {
        const directive_t *d = s->u->directives[k];
        if (d->kind != DIRECTIVE_WAIT || !d->bound || !clang_equalCursors(d->parent, c))
            continue;
        if (s->depth == 0)
            s->line = source_line(s->u->source, d->pragma.begin);
        add_end(s, "'#pragma kmm wait'", always);
    }
}

/* True if the cursor's children, but for the first, are run in some cases only. */
static bool chooses(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_IfStmt || kind == CXCursor_SwitchStmt ||
           kind == CXCursor_ConditionalOperator;
}

static bool is_task(const unit_t *u, CXCursor c)
{
    bool is = false;
    for (int k = 0; k < u->directive_count && !is; k++)
        is = u->directives[k]->kind == DIRECTIVE_TASK &&
             clang_equalCursors(u->directives[k]->statement, c);
    return is;
}

/* Visits what runs in c, but for the loop that has been visited. `always`: whenever the loop does
 * a step. */
static void visit(search_t *s, CXCursor c, bool always)
{
    const enum CXCursorKind kind = clang_getCursorKind(c);
    if (clang_Cursor_isNull(c) || kind == CXCursor_LambdaExpr || is_task(s->u, c) ||
        clang_equalCursors(s->visited, c))
        return;
    visit_directives(s, c, always);
    if (kind == CXCursor_CallExpr)
        visit_call(s, c, always);
    const cursors_t children = cursor_children(c);
    for (int k = 0; k < children.count; k++)
        visit(s, children.at[k], always && !(k && chooses(c)));
}

void explain_ahead(const unit_t *u, const directive_t *d, explained_t *out)
{
    search_t s = {.u = u, .d = d, .visited = clang_getNullCursor(), .out = out, .path = ""};
    find_loops(&s, d->function);
    for (int k = 0; k < s.loop_count; k++) {
        s.loop_line = line_of(u, s.loop[k]);
        visit(&s, s.loop[k], true);
        s.visited = s.loop[k];
    }
}
