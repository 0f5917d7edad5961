/* SPDX-License-Identifier: Apache-2.0 */
/* Nested pointers: pointers that kernels load from memory. libkmm does not see the accesses through
 * these. */
#include "cpu/program/nested.h"

#include <stddef.h>
#include <string.h>

#include "clang/cursor.h"

static void find_nested(nested_t *n, CXType type);

static enum CXVisitorResult find_nested_field(CXCursor field, CXClientData data)
{
    find_nested(data, clang_getCursorType(field));
    return CXVisit_Continue;
}

/* Sets n->found if the memory that the type points to holds pointers. */
static void find_nested(nested_t *n, CXType type)
{
    type = clang_getCanonicalType(type);
    for (int k = 0; k < n->count; k++)
        if (clang_equalTypes(n->seen[k], type))
            return;
    if (n->count == (int)(sizeof(n->seen) / sizeof(*n->seen)))
        return;
    n->seen[n->count++] = type;
    n->depends |= strstr(clang_text(clang_getTypeSpelling(type)), "type-parameter-") != NULL;
    if (type.kind == CXType_Pointer)
        n->found |= type_holds_pointers(clang_getPointeeType(type));
    else if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_nested_field, n);
}

static enum CXChildVisitResult find_nested_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl)
        find_nested(data, clang_getCursorType(c));
    return CXChildVisit_Continue;
}

nested_t nested_pointers_of(CXCursor kernel)
{
    nested_t n = {.count = 0};
    clang_visitChildren(kernel, find_nested_parameter, &n);
    return n;
}
