/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetches into the processor's cache. A block asks for the elements that the next block reads
 * first. A round of a strided loop asks for the elements of the next round.
 */
#include "cpu/loops/prefetch.h"

#include <string.h>

#include "base/arena.h"
#include "cpu/loops/axis.h"
#include "cpu/loops/declarator.h"

/* The processor does not run far enough ahead to load the next block's elements by itself. */
void prefetch_next_block(emitter_t *e, const node_t *n)
{
    const node_t *base = n->kind == CXCursor_ArraySubscriptExpr ? tree_stripped(n->child) : NULL,
                 *index = base ? tree_stripped(n->last) : NULL;
    bool is_array =
        base && base->kind == CXCursor_DeclRefExpr && base->variable &&
        base->variable->storage == STORAGE_UNIFORM &&
        clang_getCanonicalType(clang_getCursorType(base->cursor)).kind == CXType_Pointer;
    const variable_t *v = is_array && index->kind == CXCursor_DeclRefExpr ? index->variable : NULL;
    const char *axis = v && v->is_block_level ? axis_known(e, v) : NULL;
    if (axis && *axis == 'x') {
        const char *text =
            arena_printf("{ const ::uint3 blockIdx __attribute__((__unused__)) = "
                         "kmm__b.kmm_after(); const kmm_host_as<%s> kmm__next %s; "
                         "kmm_host_soon(%s, (size_t)kmm__next, kmm__e.x); }\n",
                         declarator_type(e, v), declarator_suffix(e, v), base->variable->name);
        emitter_name_in_block(v->initializer);
        if (!e->out.data || !strstr(e->out.data, text))
            text_printf(&e->out, "%s", text);
    }
    for (const node_t *c = n->child; c; c = c->next)
        prefetch_next_block(e, c);
}

void prefetch_next_round(emitter_t *e, const node_t *n, const variable_t *v, const char *stride,
                         text_t *out)
{
    const node_t *base = n->kind == CXCursor_ArraySubscriptExpr ? tree_stripped(n->child) : NULL;
    if (base && base->kind == CXCursor_DeclRefExpr && base->variable &&
        base->variable->storage == STORAGE_UNIFORM && tree_stripped(n->last)->variable == v &&
        clang_getCanonicalType(clang_getCursorType(base->cursor)).kind == CXType_Pointer) {
        const char *text =
            arena_printf("kmm_host_ahead(%s, (size_t)kmm__i%d, (size_t)(%s), kmm__e.x);\n",
                         base->variable->name, v->number, stride);
        if (!out->data || !strstr(out->data, text))
            text_printf(out, "%s", text);
    }
    for (const node_t *c = n->child; c; c = c->next)
        prefetch_next_round(e, c, v, stride, out);
}
