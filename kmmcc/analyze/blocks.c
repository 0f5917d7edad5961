/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that computes `blockIdx.x * 256 + threadIdx.x` counts on blocks of 256 threads. Where
 * the launch's blocks are variables, that becomes a condition of the launch. */
#include "analyze/blocks.h"

#include <stddef.h>
#include <string.h>

#include "analyze/affine.h"
#include "analyze/configured.h"
#include "base/arena.h"
#include "clang/cursor.h"

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

bool blocks_assume(const unit_t *u, const directive_t *d, const ir_function_t *f, int64_t block[3],
                   const char *text[3])
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
