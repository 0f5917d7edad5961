/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the launch in a governed statement, and the statement that is replaced with it. */
#include "clang/launch.h"

#include "base/text.h"
#include "clang/cursor.h"

int launch_kernel_argument(CXCursor call)
{
    static const char *const first[] = {"cudaLaunchKernel", "cudaLaunchKernel_ptsz",
                                        "hipLaunchKernel", "hipExtLaunchKernel", NULL};
    static const char *const second[] = {"cudaLaunchKernelEx", "cudaLaunchKernelExC",
                                         "cudaLaunchKernelExC_ptsz", "hipLaunchKernelExC", NULL};
    const char *name = cursor_name(call);
    for (CXCursor c = call; !*name && !clang_Cursor_isNull(c); name = cursor_name(c))
        c = cursor_first_child(c); /* in a template */
    return text_is_one_of(name, first) ? 0 : text_is_one_of(name, second) ? 1 : -1;
}

static bool is_cooperative(CXCursor call)
{
    static const char *const names[] = {"cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel",
                                        "cudaLaunchCooperativeKernelMultiDevice", NULL};
    return text_is_one_of(cursor_name(call), names);
}

/* True if the parent, seen from the child, only wraps the child's value: parentheses, (void),
 * temporaries. */
static bool is_wrapper(const unit_t *u, CXCursor parent, CXCursor child)
{
    size_t a, b, c, d;
    enum CXCursorKind kind = clang_getCursorKind(parent);
    if (kind == CXCursor_CStyleCastExpr)
        return clang_getCursorType(parent).kind == CXType_Void;
    if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr)
        return false;
    return kind == CXCursor_ParenExpr ||
           (unit_range(u, parent, &a, &b) && unit_range(u, child, &c, &d) && a == c && b == d);
}

token_t launch_token_after(const source_t *s, size_t offset)
{
    lexer_t l = lexer_at(s, offset, s->length);
    l.line_start = false;
    return lex(&l);
}

/* True if the cursor of the frame is one of the statements in its parent, and not the parent's
 * condition or the like. */
static bool is_statement_of_parent(const frame_t *at)
{
    if (!at->up)
        return true;
    switch (clang_getCursorKind(at->up->cursor)) {
    case CXCursor_CompoundStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt: return true;
    case CXCursor_DoStmt: return at->first;
    case CXCursor_IfStmt: return !at->first;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_CXXForRangeStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_UnexposedStmt: return at->last; /* one with attributes before it */
    default: return false;
    }
}

/* True if a place of the statement that begins at `from` is in an argument of a macro or function:
 * between parentheses, and in no block there. */
static bool is_in_parentheses(const source_t *s, size_t from, size_t place)
{
    enum { DEEPEST = 256 };
    bool round[DEEPEST];
    int depth = 0;
    lexer_t l = lexer_at(s, from, place);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (token_is(s, t, "(") || token_is(s, t, "{")) {
            if (depth < DEEPEST)
                round[depth] = token_is(s, t, "(");
            depth++;
        } else if ((token_is(s, t, ")") || token_is(s, t, "}")) && depth) {
            depth--;
        }
    }
    return depth && depth <= DEEPEST && round[depth - 1];
}

/* Moves *end, the end of the statement's cursor, behind the statement's semicolon. False if there
 * is no semicolon, unless the statement needs none or a macro ends with it. */
static bool find_end(const source_t *s, CXCursor c, size_t *end)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    token_t t = launch_token_after(s, *end);
    bool has = token_is(s, t, ";");
    bool block = kind == CXCursor_CompoundStmt || kind == CXCursor_IfStmt ||
                 kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt ||
                 kind == CXCursor_SwitchStmt || kind == CXCursor_CXXForRangeStmt ||
                 kind == CXCursor_CXXTryStmt;
    bool closed = s->text[*end - 1] == '}' || s->text[*end - 1] == ';';
    if (!has && !block)
        return cursor_is_from_macro(c) && !token_is(s, t, ",") && !token_is(s, t, ")");
    if (has && !(block && closed))
        *end = t.end;
    return true;
}

/* Returns the offset behind the use of a macro that begins at `at`: behind its name, and its
 * arguments if it has some. */
static size_t macro_end(const source_t *s, size_t at)
{
    lexer_t l = lexer_at(s, at, s->length);
    l.line_start = false;
    size_t end = lex(&l).end;
    int depth = 0;
    for (token_t t = lex(&l); depth || token_is(s, t, "("); t = lex(&l)) {
        if (t.kind == TOKEN_END)
            return end;
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0)
            return t.end;
    }
    return end;
}

/* True if the place is in an argument of a macro, between its parentheses and in no block there.
 * *use becomes the offset of the use of the macro. */
static bool in_argument(const unit_t *u, CXSourceLocation place, size_t *use)
{
    CXFile file, used_in;
    unsigned at, used_at;
    size_t origin;
    clang_getFileLocation(place, &file, NULL, NULL, &at);
    clang_getExpansionLocation(place, &used_in, NULL, NULL, &used_at);
    return at != used_at && file && used_in && clang_File_isEqual(file, used_in) &&
           unit_exact_offset(u, at, &origin) && unit_exact_offset(u, used_at, use) &&
           is_in_parentheses(u->source, *use, origin);
}

/* The range of a statement. One that begins or ends with an argument of a macro is the whole use of
 * the macro. */
static bool statement_range(const unit_t *u, CXCursor c, size_t *begin, size_t *end)
{
    CXSourceRange range = clang_getCursorExtent(c);
    size_t use;
    if (!unit_range(u, c, begin, end))
        return false;
    size_t first = *begin, last = *end;
    if (in_argument(u, clang_getRangeStart(range), &use)) {
        first = use;
        last = macro_end(u->source, use);
    }
    if (in_argument(u, clang_getRangeEnd(range), &use))
        last = macro_end(u->source, use);
    *begin = first;
    *end = last > *end ? last : *end;
    return true;
}

/* The innermost statement with the call that can be replaced by another: written in one piece, in
 * the place of a statement. One that comes from a macro is the macro's whole expansion. */
static bool place_of(const launches_t *found, const frame_t *at, size_t *begin, size_t *end)
{
    const source_t *s = found->u->source;
    const frame_t *top = at;
    size_t first, last, outer_first, outer_last;
    while (top->up)
        top = top->up;
    if (!statement_range(found->u, top->cursor, &outer_first, &outer_last))
        return false;
    for (; at; at = at->up) {
        enum CXCursorKind kind = clang_getCursorKind(at->cursor);
        if (!is_statement_of_parent(at) || !statement_range(found->u, at->cursor, &first, &last))
            continue;
        bool same = at->up &&
                    statement_range(found->u, at->up->cursor, &outer_first, &outer_last) &&
                    outer_first == first && outer_last == last;
        statement_range(found->u, top->cursor, &outer_first, &outer_last);
        if (same || kind == CXCursor_DeclStmt || is_in_parentheses(s, outer_first, first) ||
            !find_end(s, at->cursor, &last))
            continue;
        *begin = first;
        *end = last;
        return true;
    }
    return false;
}

/* What becomes of the call's value. */
static use_t use_of(const unit_t *u, const frame_t *at)
{
    size_t begin, end;
    while (at->up && is_wrapper(u, at->up->cursor, at->cursor))
        at = at->up;
    const bool has_value = clang_getCursorType(at->cursor).kind != CXType_Void;
    if (at->up && clang_getCursorKind(at->up->cursor) == CXCursor_ReturnStmt && !has_value)
        return USE_RETURN;
    if (unit_range(u, at->cursor, &begin, &end) &&
        token_is(u->source, launch_token_after(u->source, end), ";") && is_statement_of_parent(at))
        return USE_NONE;
    bool comma = at->up && at->first &&
                 clang_getCursorKind(at->up->cursor) == CXCursor_BinaryOperator &&
                 clang_getCursorBinaryOperatorKind(at->up->cursor) == CXBinaryOperator_Comma;
    return comma || !has_value ? USE_PART : USE_VALUE;
}

static void add_call(const launches_t *found, calls_t *calls, const frame_t *at, launch_form_t form)
{
    calls->count++;
    if (calls->count == 1) {
        calls->first = at->cursor;
        calls->form = form;
        calls->use = use_of(found->u, at);
        calls->argument = in_argument(
            found->u, clang_getRangeStart(clang_getCursorExtent(at->cursor)), &(size_t){0});
        calls->placed = place_of(found, at, &calls->begin, &calls->end);
        for (const frame_t *f = at->up; f; f = f->up)
            calls->generic |= clang_getCursorKind(f->cursor) == CXCursor_GenericSelectionExpr;
    } else if (calls->count == 2) {
        calls->second = at->cursor;
    }
}

/* A call; true when nothing is looked for in it. */
static bool find_call(launches_t *found, const frame_t *at, bool *in_call)
{
    /* A constructor or a conversion is written as no call. */
    enum CXCursorKind callee = clang_getCursorKind(clang_getCursorReferenced(at->cursor));
    bool function = callee != CXCursor_Constructor && callee != CXCursor_ConversionFunction;
    if (cursor_is_launch(at->cursor) || launch_kernel_argument(at->cursor) >= 0) {
        add_call(found, &found->kernels, at,
                 cursor_is_launch(at->cursor) ? LAUNCH_CHEVRON : LAUNCH_CALL);
        return true;
    }
    found->cooperative |= is_cooperative(at->cursor);
    if (!*in_call && function)
        add_call(found, &found->functions, at, LAUNCH_FUNCTION);
    *in_call |= function;
    return false;
}

void launch_find(launches_t *found, const frame_t *at, bool in_call)
{
    if (clang_getCursorKind(at->cursor) == CXCursor_CallExpr && find_call(found, at, &in_call))
        return;
    cursors_t list = cursor_children(at->cursor);
    for (int k = 0; k < list.count; k++) {
        frame_t inner = {at, list.at[k], k == 0, k == list.count - 1};
        launch_find(found, &inner, in_call);
    }
}
