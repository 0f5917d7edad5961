/* SPDX-License-Identifier: Apache-2.0 */
/* Finds whether a plain function may read memory that is no item's and that the program may change
 * while chunks run. */
#include "analyze/outside.h"

#include "analyze/check_argument.h"
#include "analyze/flow.h"
#include "clang/cursor.h"
#include "ir/load.h"

bool outside_is_named(const directive_t *d, CXCursor argument, CXCursor field)
{
    for (int k = 0; k < d->item_count; k++) {
        CXCursor base = flow_operand(d->item[k].base->cursor);
        if (clang_getCursorKind(base) == CXCursor_MemberRefExpr &&
            clang_equalCursors(clang_getCursorReferenced(base), field) &&
            clang_equalCursors(cursor_root(base), cursor_root(argument)))
            return true;
    }
    return false;
}

typedef struct fields {
    const directive_t *d;
    CXCursor argument; /* null: the fields are those of a member of the argument */
    bool open;         /* a pointer leads to what no item names */
} fields_t;

static void look_at_struct(fields_t *f, CXType type);

static enum CXVisitorResult look_at_field(CXCursor field, CXClientData data)
{
    fields_t *f = data;
    CXType type = clang_getCanonicalType(clang_getCursorType(field));
    bool part = type_is_array(type);
    while (type_is_array(type))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    fields_t inner = {.d = f->d, .argument = clang_getNullCursor()};
    if (type.kind == CXType_Record)
        look_at_struct(&inner, type);
    bool pointer =
        flow_is_reference(type) || type.kind == CXType_MemberPointer || type_holds_pointers(type);
    bool named = type.kind == CXType_Pointer && !part && !clang_Cursor_isNull(f->argument) &&
                 outside_is_named(f->d, f->argument, field);
    f->open |= inner.open || (pointer && !named);
    return CXVisit_Continue;
}

/* The members that a class inherits are not looked at. */
static void look_at_struct(fields_t *f, CXType type)
{
    CXCursor definition = clang_getCursorDefinition(clang_getTypeDeclaration(type)),
             template = clang_getSpecializedCursorTemplate(definition);
    f->open |=
        clang_Cursor_isNull(definition) || clang_getCursorKind(definition) == CXCursor_UnionDecl ||
        cursor_has_child(definition, CXCursor_CXXBaseSpecifier) ||
        (!clang_Cursor_isNull(template) && cursor_has_child(template, CXCursor_CXXBaseSpecifier));
    clang_Type_visitFields(type, look_at_field, f);
}

/* True if a struct that the launch passes by value may lead to memory that no item names. */
static bool passes_open_struct(const directive_t *d)
{
    fields_t f = {.d = d};
    const parameter_list_t *p = check_parameters(d->target[0].kernel);
    for (int k = 0; k < p->count; k++) {
        CXType type = clang_getCanonicalType(clang_getCursorType(p->at[k]));
        f.argument = k < d->argument_count ? d->argument[k] : clang_getNullCursor();
        if (type.kind == CXType_Record)
            look_at_struct(&f, type);
    }
    return f.open;
}

bool outside_is_read(const unit_t *u, const directive_t *d)
{
    if (d->target_count != 1 || passes_open_struct(d))
        return true;
    const ir_function_t *f = ir_plain_function_of(u->main, d->target[0].instance);
    return !f || f->elsewhere;
}

bool outside_is_unused(const unit_t *u, const directive_t *d)
{
    const ir_function_t *f =
        d->target_count == 1 ? ir_function_of(u->main, d->target[0].instance) : NULL;
    return f && !f->elsewhere;
}

bool outside_is_owned(const unit_t *u, const directive_t *d)
{
    const ir_function_t *f =
        d->target_count == 1 ? ir_plain_function_of(u->main, d->target[0].instance) : NULL;
    return f && f->owns_memory;
}
