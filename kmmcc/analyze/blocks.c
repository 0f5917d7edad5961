/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that computes `blockIdx.x * 256 + threadIdx.x` counts on blocks of 256 threads. Where
 * the launch's blocks are variables, that becomes a condition of the launch. */
#include "analyze/blocks.h"

#include <stddef.h>
#include <string.h>

#include "analyze/affine.h"
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

/* The variable that the expression is, also as a copy or converted to dim3; null: it is none. */
static CXCursor variable_of(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind == CXCursor_DeclRefExpr) {
            CXCursor v = clang_getCursorReferenced(c);
            kind = clang_getCursorKind(v);
            return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl ? v
                                                                         : clang_getNullCursor();
        }
        cursors_t list = cursor_children(c);
        if ((kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr &&
             kind != CXCursor_CallExpr) ||
            !is_one(list))
            return clang_getNullCursor();
        c = list.at[0];
    }
}

/* The launch's expression for the size of a block in the dimension; NULL: it has no name. */
static const char *name_of(const directive_t *d, int dimension)
{
    cursors_t launch = cursor_children(d->launch), list = {0};
    if (d->form == LAUNCH_CHEVRON && launch.count > 1)
        list = cursor_children(launch.at[1]);
    CXCursor v = list.count > 2 ? variable_of(list.at[2]) : clang_getNullCursor();
    if (clang_Cursor_isNull(v))
        return NULL;
    CXType type = clang_getCanonicalType(clang_getCursorType(v));
    if (type_is_integer(type))
        return dimension == 0 ? cursor_name(v) : NULL;
    bool is_dim3 =
        type.kind == CXType_Record && !strcmp(cursor_name(clang_getTypeDeclaration(type)), "dim3");
    return is_dim3 ? arena_printf("%s.%c", cursor_name(v), "xyz"[dimension]) : NULL;
}

bool blocks_assume(const directive_t *d, const ir_function_t *f, int64_t block[3],
                   const char *text[3])
{
    int64_t counted[3];
    bool any = false;
    memcpy(counted, block, sizeof(counted));
    affine_blocks(f, counted);
    for (int k = 0; k < 3; k++) {
        text[k] = block[k] == 0 && counted[k] > 0 && !d->pattern ? name_of(d, k) : NULL;
        block[k] = text[k] ? counted[k] : block[k];
        any |= text[k] != NULL;
    }
    return any;
}
