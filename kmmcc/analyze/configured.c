/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a launch. C++ evaluates `<<<...>>>` before the arguments, so what it changes
 * is what arguments and clauses see. A kernel that computes `blockIdx.x * 256 + threadIdx.x` counts
 * on blocks of 256 threads: where the launch's blocks are variables, that becomes a condition.
 */
#include "analyze/configured.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/affine.h"
#include "analyze/effects.h"
#include "analyze/flow.h"
#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"

static bool is_dim3(CXCursor declaration)
{
    return !strcmp(cursor_name(declaration), "dim3");
}

bool configured_is_dim3(CXCursor c)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    CXCursor f = clang_getCursorReferenced(c);
    bool calls = clang_getCursorKind(c) == CXCursor_CallExpr && !clang_Cursor_isNull(f);
    return is_dim3(clang_getTypeDeclaration(type)) &&
           (!calls || (clang_getCursorKind(f) == CXCursor_Constructor &&
                       is_dim3(clang_getCursorSemanticParent(f))));
}

/* What a dim3 of the configuration is a copy of. Before C++17 libclang shows the copy as a call of
 * nothing. */
static CXCursor uncopied(CXCursor c)
{
    cursors_t list = cursor_children(c);
    while (clang_getCursorKind(c) == CXCursor_CallExpr && list.count == 1 &&
           clang_Cursor_isNull(clang_getCursorReferenced(c)) && configured_is_dim3(c)) {
        c = list.at[0];
        list = cursor_children(c);
    }
    return c;
}

bool configured_has_effects(const directive_t *d)
{
    cursors_t launch = cursor_children(d->launch);
    if (d->form != LAUNCH_CHEVRON || launch.count < 2)
        return false;
    CXCursor configuration = launch.at[1];
    for (int k = 0; k < clang_Cursor_getNumArguments(configuration); k++)
        if (!effects_is_pure(uncopied(clang_Cursor_getArgument(configuration, (unsigned)k))))
            return true;
    return false;
}

/* A change of a variable that a clause names. */
typedef struct change {
    const unit_t *u;
    const directive_t *d;
    const char *name; /* of the variable; NULL: there is none */
} change_t;

static bool is_axis(const directive_t *d, const char *name)
{
    for (int k = 0; k < d->axis_count; k++)
        if (!strcmp(d->axis[k].name, name))
            return true;
    return false;
}

/* True if the pragma's text has the name of the variable. */
static bool names(const change_t *found, const char *name)
{
    const source_t *s = found->u->source;
    lexer_t l = lexer_at(s, found->d->pragma.content, found->d->pragma.content_end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_NAME && !strcmp(token_text(s, t), name))
            return !is_axis(found->d, name);
    return false;
}

static enum CXChildVisitResult find_change(CXCursor c, CXCursor parent, CXClientData data)
{
    change_t *found = data;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    const enum CXUnaryOperatorKind one = clang_getCursorUnaryOperatorKind(c);
    (void)parent;
    bool changes = kind == CXCursor_CompoundAssignOperator ||
                   (kind == CXCursor_BinaryOperator &&
                    clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign &&
                    type_is_integer(clang_getCursorType(c))) ||
                   (kind == CXCursor_UnaryOperator && one >= CXUnaryOperator_PreInc &&
                    one <= CXUnaryOperator_PreDec);
    const char *name =
        changes ? cursor_name(clang_getCursorReferenced(flow_operand(cursor_first_child(c)))) : "";
    if (*name && names(found, name))
        found->name = name;
    return found->name ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* The kernel gets the new value of what an argument changes, and the clauses the old one. `n++` is
 * the old one, too. What a pointer is set to is compared with the kernel. */
static void check_changed(unit_t *u, const directive_t *d)
{
    change_t found = {.u = u, .d = d};
    for (int k = 0; k < d->argument_count && !found.name; k++)
        if (find_change(d->argument[k], d->launch, &found) == CXChildVisit_Recurse)
            clang_visitChildren(d->argument[k], find_change, &found);
    if (found.name)
        unit_error(u, d->launch_begin, d->launch_end,
                   "the launch changes '%s', which a clause names; change it before the pragma",
                   found.name);
}

void check_configured(unit_t *u, const directive_t *d)
{
    size_t begin, end;
    if (d->is_kernel)
        check_changed(u, d);
    if (!d->is_kernel || !configured_has_effects(d))
        return;
    bool is_first = unit_range(u, d->launch, &begin, &end) && begin == d->launch_begin;
    if (!is_first || !d->configuration.end)
        unit_error(u, d->launch_begin, d->launch_end,
                   "the launch's configuration changes a variable, or calls what is not seen to "
                   "change nothing, and kmm cannot evaluate it before the clauses here; compute it "
                   "before the pragma");
}

/* ---- Sizes of blocks ---- */

/* True if nothing but defaults follows the first expression. */
static bool is_one(cursors_t list)
{
    for (int k = 1; k < list.count; k++)
        if (clang_getCursorKind(list.at[k]) != CXCursor_UnexposedExpr ||
            cursor_children(list.at[k]).count)
            return false;
    return list.count > 0;
}

/* The expression below copies and conversions to dim3, if it names a variable; null: it does not.
 */
static CXCursor reference_of(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind == CXCursor_DeclRefExpr) {
            kind = clang_getCursorKind(clang_getCursorReferenced(c));
            return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl ? c
                                                                         : clang_getNullCursor();
        }
        cursors_t list = cursor_children(c);
        bool wraps = kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr;
        bool is_number = type_is_integer(clang_getCursorType(c));
        if (!(wraps && is_number) &&
            !((wraps || kind == CXCursor_CallExpr) && configured_is_dim3(c)))
            return clang_getNullCursor();
        if (!is_one(list))
            return clang_getNullCursor();
        c = list.at[0];
    }
}

/* The launch's expression for the size of a block in the dimension, with the qualifiers that it is
 * written with: without them, another variable may have the name. NULL: it has no name. */
static const char *name_of(const unit_t *u, const directive_t *d, int dimension)
{
    cursors_t launch = cursor_children(d->launch), list = {0};
    size_t begin, end;
    if (d->form == LAUNCH_CHEVRON && launch.count > 1)
        list = cursor_children(launch.at[1]);
    CXCursor c = list.count > 2 ? reference_of(list.at[2]) : clang_getNullCursor();
    const unit_t *holder = clang_Cursor_isNull(c) ? NULL : unit_holding(u->main, c);
    if (!holder || !unit_range(holder, c, &begin, &end))
        return NULL;
    const char *text = unit_words(holder, begin, end);
    CXType type = clang_getCanonicalType(clang_getCursorType(clang_getCursorReferenced(c)));
    if (type_is_integer(type))
        return dimension == 0 ? text : NULL;
    bool is_dim3 =
        type.kind == CXType_Record && !strcmp(cursor_name(clang_getTypeDeclaration(type)), "dim3");
    return is_dim3 ? arena_printf("%s.%c", text, "xyz"[dimension]) : NULL;
}

bool configured_blocks(const unit_t *u, const directive_t *d, const ir_function_t *f,
                       int64_t block[3], const char *text[3])
{
    int64_t counted[3];
    bool any = false;
    memcpy(counted, block, sizeof(counted));
    affine_blocks(f, counted);
    for (int k = 0; k < 3; k++) {
        text[k] = block[k] == 0 && counted[k] > 0 && !d->pattern ? name_of(u, d, k) : NULL;
        block[k] = text[k] ? counted[k] : block[k];
        any |= text[k] != NULL;
    }
    return any;
}
