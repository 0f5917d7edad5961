/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of kernels. A cast `(void *)k` becomes `(void *)kmm_host_kernel(k)`, which records the
 * kernel's parameters for launches by address. */
#include "cpu/address.h"

#include <stdbool.h>
#include <stddef.h>

#include "clang/cursor.h"
#include "clang/unit.h"

/* Returns the kernel that the expression names below conversions, parentheses and `&`; null if it
 * names none. */
static CXCursor named_kernel(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_OverloadedDeclRef) {
        CXCursor f = clang_getCursorReferenced(c);
        if (clang_getCursorKind(f) == CXCursor_OverloadedDeclRef)
            f = clang_getNumOverloadedDecls(f) ? cursor_used(clang_getOverloadedDecl(f, 0))
                                               : clang_getNullCursor();
        CXCursor general = clang_getSpecializedCursorTemplate(f);
        f = clang_Cursor_isNull(general) ? f : general;
        return !clang_Cursor_isNull(f) && cursor_is_kernel(f) ? f : clang_getNullCursor();
    }
    CXCursor inner = clang_getNullCursor();
    if (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr ||
        kind == CXCursor_UnaryOperator)
        inner = cursor_last_child(c);
    return clang_Cursor_isNull(inner) ? inner : named_kernel(inner);
}

static bool is_plain_address(CXType type)
{
    type = clang_getCanonicalType(type);
    return type.kind == CXType_Pointer &&
           clang_getCanonicalType(clang_getPointeeType(type)).kind == CXType_Void;
}

enum CXChildVisitResult address_edit(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *main = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    size_t begin, end;
    (void)parent;
    if (cursor_is_system(c))
        return CXChildVisit_Continue;
    if ((kind != CXCursor_CStyleCastExpr && kind != CXCursor_CXXReinterpretCastExpr) ||
        !is_plain_address(clang_getCursorType(c)))
        return CXChildVisit_Recurse;
    const CXCursor inner = cursor_last_child(c);
    unit_t *u = unit_holding(main, c);
    if (!u || clang_Cursor_isNull(inner) || clang_Cursor_isNull(named_kernel(inner)) ||
        !unit_range(u, inner, &begin, &end))
        return CXChildVisit_Recurse;
    unit_edit(u, begin, begin, "kmm_host_kernel(");
    unit_edit(u, end, end, ")");
    return CXChildVisit_Recurse;
}
