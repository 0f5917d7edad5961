/* SPDX-License-Identifier: Apache-2.0 */
/* Side effects of a launch's configuration. C++ evaluates `<<<...>>>` before the arguments, so what
 * it changes is what arguments and clauses see. */
#include "analyze/configured.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/effects.h"
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

void check_configured(unit_t *u, const directive_t *d)
{
    size_t begin, end;
    if (!d->is_kernel || !configured_has_effects(d))
        return;
    bool is_first = unit_range(u, d->launch, &begin, &end) && begin == d->launch_begin;
    if (!is_first || !d->configuration.end)
        unit_error(u, d->launch_begin, d->launch_end,
                   "the launch's configuration changes a variable, or calls what is not seen to "
                   "change nothing, and kmm cannot evaluate it before the clauses here; compute it "
                   "before the pragma");
}
