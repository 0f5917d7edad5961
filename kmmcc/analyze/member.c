/* SPDX-License-Identifier: Apache-2.0 */
/* Finds members in the text of clauses that an instance of the launch cannot name. */
#include "analyze/member.h"

#include <ctype.h>
#include <string.h>

#include "analyze/instances.h"
#include "analyze/translate.h"
#include "base/arena.h"
#include "clang/cursor.h"

typedef struct field {
    const char *name;
    CXCursor found;
} field_t;

static enum CXVisitorResult match_field(CXCursor c, CXClientData data)
{
    field_t *f = data;
    if (strcmp(cursor_name(c), f->name) != 0)
        return CXVisit_Continue;
    f->found = c;
    return CXVisit_Break;
}

/* True in a function of the class. What friends a class has is not looked at. */
static bool sees_private(const directive_t *d, CXCursor class)
{
    CXCursor template = clang_getSpecializedCursorTemplate(class);
    if (cursor_has_child(class, CXCursor_FriendDecl) ||
        (!clang_Cursor_isNull(template) && cursor_has_child(template, CXCursor_FriendDecl)))
        return true;
    for (CXCursor c = d->function; clang_isDeclaration(clang_getCursorKind(c));
         c = clang_getCursorSemanticParent(c))
        if (clang_equalCursors(c, class) || clang_equalCursors(c, template))
            return true;
    return false;
}

static bool can_name(const directive_t *d, CXType type, const char *name)
{
    field_t f = {.name = name, .found = clang_getNullCursor()};
    type = clang_getCanonicalType(type);
    if (type.kind == CXType_LValueReference)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    if (type.kind != CXType_Record)
        return false;
    clang_Type_visitFields(type, match_field, &f);
    if (clang_Cursor_isNull(f.found))
        return false;
    enum CX_CXXAccessSpecifier access = clang_getCXXAccessSpecifier(f.found);
    return access == CX_CXXPublic || access == CX_CXXInvalidAccessSpecifier ||
           sees_private(d, clang_getTypeDeclaration(type));
}

/* The kernel of an instance, or the one that the launch runs. */
static CXType parameter_of(const directive_t *d, int instance, int number)
{
    CXCursor kernel = instances_are_known(d) ? d->instance[instance].kernel : d->target[0].instance;
    return clang_getArgType(clang_getCursorType(kernel), (unsigned)number);
}

static bool can_name_in_all(const directive_t *d, int number, const char *name)
{
    int count = instances_are_known(d) ? d->instance_count : d->target_count;
    for (int k = 0; k < count && (!k || instances_are_known(d)); k++)
        if (!can_name(d, parameter_of(d, k, number), name))
            return false;
    return true;
}

static bool is_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Returns the member of the argument that follows at the place of the text; NULL: none does. */
static const char *member_behind(const char *text, const char *at, const char *argument)
{
    size_t length = strlen(argument), count = 0;
    if (at > text && (is_in_name(at[-1]) || at[-1] == '.' || at[-1] == '>' || at[-1] == ':'))
        return NULL;
    const char *name = at + length;
    name += *name == ')';
    if (*name++ != '.')
        return NULL;
    while (is_in_name(name[count]))
        count++;
    return count ? arena_copy(name, count) : NULL;
}

/* True if the text of another argument begins with the member. */
static bool is_argument(completion_t *c, const char *member)
{
    size_t length = strlen(member);
    for (int k = 0; k < c->d->argument_count; k++) {
        const char *text = translate_argument_text(c, k);
        if (text && !strncmp(text, member, length) && !is_in_name(text[length]))
            return true;
    }
    return false;
}

const char *member_unnamed(const unit_t *u, const directive_t *d, const char *text)
{
    for (int k = 0; k < d->argument_count; k++) {
        completion_t c = {.u = (unit_t *)u, .d = (directive_t *)d};
        const char *argument = translate_argument_text(&c, k);
        for (const char *at = argument && *argument ? strstr(text, argument) : NULL; at;
             at = strstr(at + 1, argument)) {
            const char *name = member_behind(text, at, argument);
            const char *member = name ? arena_printf("%s.%s", argument, name) : NULL;
            if (name && !can_name_in_all(d, k, name) && !is_argument(&c, member))
                return member;
        }
    }
    return NULL;
}
