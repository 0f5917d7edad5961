/* SPDX-License-Identifier: Apache-2.0 */
/* Side effects of a launch's configuration. C++ evaluates `<<<...>>>` before the arguments, so what
 * it changes is what arguments and clauses see. */
#include "analyze/configured.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/effects.h"
#include "analyze/flow.h"
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
