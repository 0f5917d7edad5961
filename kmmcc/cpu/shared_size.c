/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of a kernel's static shared memory, as cudaFuncGetAttributes returns it: that of its own
 * declarations and of those in the functions that it reaches.
 */
#include "cpu/shared_size.h"

#include "base/arena.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "cpu/program/callgraph.h"

typedef struct declared {
    unsigned long long bytes;
    text_t *types;
} declared_t;

/* Visitor: sets *data if a declaration names something that is declared in the function. Parameters
 * of its template do not count, since they are known beside the function as well. */
static enum CXChildVisitResult find_own_name(CXCursor c, CXCursor parent, CXClientData data)
{
    const CXCursor named = clang_getCursorReferenced(c);
    const enum CXCursorKind kind = clang_getCursorKind(named);
    (void)parent;
    if (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl || kind == CXCursor_TypedefDecl ||
        kind == CXCursor_TypeAliasDecl || kind == CXCursor_StructDecl ||
        kind == CXCursor_ClassDecl || kind == CXCursor_EnumDecl ||
        kind == CXCursor_EnumConstantDecl) {
        const enum CXCursorKind holder = clang_getCursorKind(clang_getCursorSemanticParent(named));
        *(bool *)data |= holder == CXCursor_FunctionDecl || holder == CXCursor_FunctionTemplate ||
                         holder == CXCursor_EnumDecl;
    }
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_declared(CXCursor c, CXCursor parent, CXClientData data)
{
    declared_t *d = data;
    bool is_own = false;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_VarDecl)
        return CXChildVisit_Recurse;
    if (!cursor_has_child(c, CXCursor_CUDASharedAttr) ||
        clang_Cursor_getStorageClass(c) == CX_SC_Extern)
        return CXChildVisit_Recurse;
    const CXType type = clang_getCursorType(c);
    const long long size = clang_Type_getSizeOf(type), alignment = clang_Type_getAlignOf(type);
    if (size >= 0 && alignment > 0) {
        const unsigned long long unit = (unsigned long long)alignment;
        d->bytes = (d->bytes + unit - 1) / unit * unit + (unsigned long long)size;
        return CXChildVisit_Recurse;
    }
    clang_visitChildren(c, find_own_name, &is_own);
    if (d->types && !is_own)
        text_printf(d->types, " + sizeof(%s)", clang_text(clang_getTypeSpelling(type)));
    return CXChildVisit_Recurse;
}

unsigned long long shared_declared(CXCursor function, text_t *types)
{
    declared_t d = {0, types};
    clang_visitChildren(function, find_declared, &d);
    return d.bytes;
}

const char *shared_bytes_text(const kernel_t *k, const program_t *h)
{
    list_t reached = {0};
    text_t types = {0};
    unsigned long long bytes = shared_declared(k->cursor, &types);
    callgraph_add_reached(h, k->definition, &reached);
    for (int i = 0; i < h->callee_count; i++)
        if (list_has(&reached, h->callees[i].definition->name))
            bytes += shared_declared(h->callees[i].cursor, NULL);
    return arena_printf("%llu%s", bytes, types.length ? types.data : "");
}
