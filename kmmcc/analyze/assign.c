/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides if an assignment of a class stores the whole object. An operator that the compiler makes
 * assigns base by base and member by member, so it stores as much as these assignments do. One that
 * the program writes may store a part.
 */
#include "analyze/assign.h"

#include <string.h>

#include "clang/cursor.h"

bool assign_is_implicit(CXCursor f)
{
    CXCursor class = clang_getCursorSemanticParent(f);
    return clang_equalLocations(clang_getCursorLocation(f), clang_getCursorLocation(class)) ||
           clang_CXXMethod_isDefaulted(f);
}

static bool copies_whole(CXType type);

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data)
{
    *(bool *)data &= copies_whole(clang_getCursorType(field));
    return *(bool *)data ? CXVisit_Continue : CXVisit_Break;
}

/* True if the program writes the operator: as a copy or move assignment, or as a template, which
 * may be chosen instead. */
static bool is_written(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (strcmp(cursor_name(c), "operator=") != 0)
        return false;
    bool copies = kind == CXCursor_CXXMethod && (clang_CXXMethod_isCopyAssignmentOperator(c) ||
                                                 clang_CXXMethod_isMoveAssignmentOperator(c));
    return kind == CXCursor_FunctionTemplate || (copies && !assign_is_implicit(c));
}

/* True if the class, apart from its fields, is copied whole: neither it nor a base has an operator=
 * of the program. */
static bool has_plain_class(CXCursor class)
{
    CXCursor template = clang_getSpecializedCursorTemplate(class);
    cursors_t list = cursor_children(clang_Cursor_isNull(template) ? class : template);
    bool plain = true;
    for (int k = 0; k < list.count && plain; k++)
        if (clang_getCursorKind(list.at[k]) == CXCursor_CXXBaseSpecifier)
            plain = copies_whole(clang_getCursorType(list.at[k]));
        else
            plain = !is_written(list.at[k]);
    return plain;
}

/* False also where the type depends on a template's arguments. */
static bool copies_whole(CXType type)
{
    bool whole = true;
    type = clang_getCanonicalType(type);
    while (clang_getArrayElementType(type).kind != CXType_Invalid)
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (type_is_dependent(type))
        return false;
    if (type.kind != CXType_Record || clang_isPODType(type))
        return true;
    clang_Type_visitFields(type, visit_field, &whole);
    return whole && has_plain_class(clang_getTypeDeclaration(type));
}

bool assign_stores_whole(CXCursor f)
{
    return assign_is_implicit(f) &&
           copies_whole(clang_getCursorType(clang_getCursorSemanticParent(f)));
}
