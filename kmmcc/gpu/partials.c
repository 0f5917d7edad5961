/* SPDX-License-Identifier: Apache-2.0 */
/* Which pointers the clones of kernels that reduce move. */
#include "gpu/partials.h"

#include <clang-c/Index.h>
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/text.h"
#include "clang/cursor.h"

/* ---- Which kernels ---- */

/* True if chunks and their order decide the bits of the result. Other reductions are launched as
 * they stand while all data fits (runtime/launch/natively.c). */
static bool is_ordered(const item_t *item)
{
    return item->mode == KMM_REDUCE && (item->reduced.type > KMM_UINT64 || item->reduced.is_pair ||
                                        item->op == KMM_OP_LAND || item->op == KMM_OP_LOR);
}

static bool has_ordered(const directive_t *d)
{
    bool has = false;
    for (int k = 0; k < d->item_count; k++)
        has |= is_ordered(&d->item[k]);
    return has && d->kind == DIRECTIVE_PARALLEL && d->is_kernel && d->bound && !d->home;
}

/* The runtime reads from the clone's mangled name what is moved. */
static bool is_mangled(CXCursor f)
{
    return cursor_is_template(f) ||
           !strncmp(clang_text(clang_Cursor_getMangling(f)), "_Z", strlen("_Z"));
}

/* A pointer through which the kernel may store, and which it can set. */
static bool is_movable(CXCursor parameter)
{
    const CXType type = clang_getCanonicalType(clang_getCursorType(parameter));
    const CXType to = clang_getPointeeType(type);
    return type.kind == CXType_Pointer && !clang_isConstQualifiedType(type) &&
           !clang_isConstQualifiedType(to) && to.kind != CXType_FunctionProto &&
           *cursor_name(parameter);
}

static void choose(function_t *f)
{
    cursors_t children = cursor_children(f->cursor);
    unsigned number = 1;
    if (!f->is_kernel || f->moved_count || !f->is_copied || !is_mangled(f->cursor) ||
        !clang_Cursor_isNull(clang_getSpecializedCursorTemplate(f->cursor)))
        return;
    for (int k = 0; k < children.count; k++) {
        if (clang_getCursorKind(children.at[k]) != CXCursor_ParmDecl)
            continue;
        if (number < MOVED_NUMBERS && f->moved_count < MOST_MOVED && is_movable(children.at[k])) {
            f->moved_name[f->moved_count++] = cursor_name(children.at[k]);
            f->moved |= 1u << number;
        }
        number++;
    }
}

/* A launch that names one of several clones must find the same type in all of them. */
static bool is_one_of_several(const directive_t *d)
{
    return d->names_clone && d->target_count > 1;
}

void partials_choose(unit_t *u)
{
    if (u->lang != LANG_CUDA || u->options->checks)
        return;
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            const directive_t *d = file->directives[k];
            for (int i = 0; has_ordered(d) && i < d->target_count; i++)
                if (!clang_Cursor_isNull(d->target[i].definition))
                    choose(reach_kernel(u, d->target[i].definition));
        }
    for (unit_t *file = u; file; file = file->next)
        for (int k = 0; k < file->directive_count; k++) {
            const directive_t *d = file->directives[k];
            for (int i = 0; is_one_of_several(d) && i < d->target_count; i++)
                if (!clang_Cursor_isNull(d->target[i].definition))
                    reach_kernel(u, d->target[i].definition)->moved_count = 0;
        }
    for (function_t *f = u->functions; f; f = f->next)
        if (f->is_special)
            f->moved_count = 0;
}

/* ---- Their text ---- */

const char *partials_type(const function_t *f)
{
    return f->moved_count ? arena_printf("kmm_partials<%u, %d>", f->moved, f->moved_count)
                          : "kmm_blocks_t";
}

const char *partials_parameter(const function_t *f)
{
    return f->moved_count ? arena_printf("const %s kmm__partials", partials_type(f))
                          : "const kmm_blocks_t kmm__blocks";
}

const char *partials_locals(const function_t *f)
{
    text_t out = {0};
    text_add(&out, "", 0);
    if (!f->moved_count)
        return "";
    text_printf(&out, " const kmm_blocks_t kmm__blocks = kmm__partials.blocks; (void)kmm__blocks; "
                      "const uint64_t kmm__chunk = kmm_chunk_of(kmm__partials);");
    for (int k = 0; k < f->moved_count; k++)
        text_printf(&out, " %s = kmm_moved(%s, kmm__chunk * kmm__partials.stride[%d]);",
                    f->moved_name[k], f->moved_name[k], k);
    return out.data;
}
