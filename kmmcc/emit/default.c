/* SPDX-License-Identifier: Apache-2.0 */
/* Finds whether a default argument is the same in each chunk. */
#include "emit/default.h"

#include <stddef.h>

#include "clang/cursor.h"

static bool is_constant(CXCursor e)
{
    CXEvalResult result = clang_Cursor_Evaluate(e);
    CXEvalResultKind kind = result ? clang_EvalResult_getKind(result) : CXEval_UnExposed;
    if (result)
        clang_EvalResult_dispose(result);
    return kind == CXEval_Int || kind == CXEval_Float;
}

/* True for nullptr, NULL, {} and "text", for functions, and for structs of constants. */
static bool is_null_or_static(CXCursor e)
{
    cursors_t list = cursor_children(e);
    CXCursor called = clang_getCursorReferenced(e);
    bool good = true;
    switch (clang_getCursorKind(e)) {
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr:
    case CXCursor_StringLiteral: return true;
    case CXCursor_DeclRefExpr: return clang_getCursorKind(called) == CXCursor_FunctionDecl;
    case CXCursor_CallExpr: /* of a struct without constructors that do anything */
        if (clang_getCursorKind(called) != CXCursor_Constructor ||
            !clang_isPODType(clang_getCursorType(e)))
            return false;
        break;
    case CXCursor_InitListExpr: break;
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        if (list.count == 0)
            return false;
        break;
    default: return false;
    }
    for (int k = 0; k < list.count && good; k++)
        if (clang_isExpression(clang_getCursorKind(list.at[k])))
            good = is_constant(list.at[k]) || is_null_or_static(list.at[k]);
    return good;
}

/* True for an expression with __builtin_LINE() and the like, which libclang shows as nothing. */
static bool asks_for_place(CXCursor e)
{
    cursors_t list = cursor_children(e);
    bool asks = clang_getCursorKind(e) == CXCursor_UnexposedExpr && list.count == 0;
    for (int k = 0; k < list.count && !asks; k++)
        asks = asks_for_place(list.at[k]);
    return asks;
}

/* The default of a parameter, in the declaration that has it; null: it is not seen. */
static CXCursor default_of(CXCursor f, int number)
{
    const CXCursor declarations[] = {f, clang_getCanonicalCursor(f), clang_getCursorDefinition(f)};
    for (size_t k = 0; k < sizeof(declarations) / sizeof(*declarations); k++) {
        if (clang_Cursor_isNull(declarations[k]))
            continue;
        CXCursor p = clang_Cursor_getArgument(declarations[k], (unsigned)number),
                 e = cursor_last_child(p);
        if (!type_is_array(clang_getCursorType(p)) && clang_isExpression(clang_getCursorKind(e)))
            return e;
    }
    return clang_getNullCursor();
}

bool default_is_constant(CXCursor function, int number, CXCursor argument)
{
    CXCursor e = default_of(function, number);
    return !asks_for_place(e) && (is_constant(argument) || is_null_or_static(e));
}
