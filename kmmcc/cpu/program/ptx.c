/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly in device functions is PTX, which the CPU cannot run. Kernels must not reach it. */
#include "cpu/program/ptx.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "clang/cursor.h"
#include "cpu/program/callgraph.h"

typedef struct assembly {
    unit_t *u;
    size_t begin, end;
    bool found;
} assembly_t;

static enum CXChildVisitResult find_assembly(CXCursor c, CXCursor parent, CXClientData data)
{
    assembly_t *a = data;
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_GCCAsmStmt || !unit_range(a->u, c, &begin, &end))
        return CXChildVisit_Recurse;
    const char *text = strchr(arena_copy(a->u->source->text + begin, end - begin), '"');
    if (text && text[1] == '"') /* a barrier for the compiler */
        return CXChildVisit_Recurse;
    a->begin = begin;
    a->end = begin + strcspn(a->u->source->text + begin, "\n");
    a->found = true;
    return CXChildVisit_Break;
}

/* Assembly with an empty text is no PTX but a barrier for the compiler. */
void ptx_find(unit_t *u, CXCursor c, definition_t *b)
{
    assembly_t a = {.u = u};
    if (!list_has(&b->names, "asm") && !list_has(&b->names, "__asm__") &&
        !list_has(&b->names, "__asm"))
        return;
    if (cursor_is_kernel(c) || cursor_has_child(c, CXCursor_CUDADeviceAttr))
        clang_visitChildren(c, find_assembly, &a);
    if (a.found) {
        b->ptx = u;
        b->ptx_begin = a.begin;
        b->ptx_end = a.end;
    }
}

/* Functions that no kernel reaches may have assembly. */
void ptx_refuse(const program_t *h)
{
    list_t direct = {0};
    for (int k = 0; k < h->definition_count; k++)
        if (h->definitions[k]->ptx)
            list_add(&direct, h->definitions[k]->name);
    if (!direct.count)
        return;
    list_t reached = {0}; /* from kernels */
    for (int k = 0; k < h->kernel_count; k++)
        list_add(&reached, h->kernels[k].definition->name);
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->definition_count; k++)
            for (int i = 0;
                 list_has(&reached, h->definitions[k]->name) && i < h->definitions[k]->names.count;
                 i++)
                if (!list_has(&reached, h->definitions[k]->names.item[i])) {
                    list_add(&reached, h->definitions[k]->names.item[i]);
                    grown = true;
                }
    }
    for (int k = 0; k < h->definition_count; k++) {
        const definition_t *b = h->definitions[k];
        if (b->ptx && list_has(&reached, b->name))
            diag_at(SEVERITY_ERROR, b->ptx->source, b->ptx_begin, b->ptx_end,
                    "assembly for GPUs is missing on the CPU target");
    }
}
