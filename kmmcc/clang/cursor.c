/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about single cursors of libclang. */
#include "clang/cursor.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"

char *clang_text(CXString string)
{
    const char *text = clang_getCString(string);
    char *copy = arena_copy(text ? text : "", text ? strlen(text) : 0);
    clang_disposeString(string);
    return copy;
}

bool clang_file_range(CXCursor c, CXFile *file, size_t *begin, size_t *end)
{
    CXSourceRange range = clang_getCursorExtent(c);
    unsigned from, to;
    CXFile end_file;
    if (clang_Range_isNull(range))
        return false;
    clang_getFileLocation(clang_getRangeStart(range), file, NULL, NULL, &from);
    clang_getFileLocation(clang_getRangeEnd(range), &end_file, NULL, NULL, &to);
    *begin = from;
    *end = to;
    return *file && end_file && clang_File_isEqual(*file, end_file) && to >= from;
}

static enum CXChildVisitResult add_child(CXCursor c, CXCursor parent, CXClientData data)
{
    cursors_t *list = data;
    (void)parent;
    list->at = arena_grow(list->at, list->count, &list->capacity, sizeof(*list->at));
    list->at[list->count++] = c;
    return CXChildVisit_Continue;
}

cursors_t cursor_children(CXCursor c)
{
    cursors_t list = {0};
    clang_visitChildren(c, add_child, &list);
    return list;
}

/* Its second child is the call that pushes the configuration. */
bool cursor_is_launch(CXCursor call)
{
    static const char *const names[] = {"__cudaPushCallConfiguration", "cudaConfigureCall",
                                        "__hipPushCallConfiguration", "hipConfigureCall", NULL};
    cursors_t list = cursor_children(call);
    return list.count >= 2 &&
           text_is_one_of(clang_text(clang_getCursorSpelling(list.at[1])), names);
}

typedef struct kind_search {
    enum CXCursorKind kind;
    bool found;
} kind_search_t;

static enum CXChildVisitResult find_kind(CXCursor c, CXCursor parent, CXClientData data)
{
    kind_search_t *s = data;
    (void)parent;
    s->found |= clang_getCursorKind(c) == s->kind;
    return s->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

bool cursor_has_child(CXCursor c, enum CXCursorKind kind)
{
    kind_search_t s = {kind, false};
    clang_visitChildren(c, find_kind, &s);
    return s.found;
}

bool cursor_is_system(CXCursor declaration)
{
    return clang_isDeclaration(clang_getCursorKind(declaration)) &&
           clang_Location_isInSystemHeader(clang_getCursorLocation(declaration));
}

/* libclang gives some versions of `extern "C"` no kind of their own. */
bool cursor_is_namespace(CXCursor c)
{
    const enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
           kind == CXCursor_UnexposedDecl;
}

bool cursor_is_kernel(CXCursor f)
{
    enum CXCursorKind kind = clang_getCursorKind(f);
    return (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate) &&
           cursor_has_child(f, CXCursor_CUDAGlobalAttr);
}

CXCursor cursor_used(CXCursor f)
{
    enum CXCursorKind kind = clang_getCursorKind(f);
    return kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ||
                   kind == CXCursor_OverloadedDeclRef
               ? f
               : clang_getCursorDefinition(f);
}

/* True for &k, whose k may be an integer. */
static bool takes_address(CXCursor parent)
{
    return clang_getCursorKind(parent) == CXCursor_UnaryOperator &&
           clang_getCanonicalType(clang_getCursorType(parent)).kind == CXType_Pointer;
}

static enum CXChildVisitResult find_root(CXCursor c, CXCursor parent, CXClientData data)
{
    CXCursor *root = data;
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr ||
        clang_getCursorKind(c) == CXCursor_MemberRefExpr) {
        CXType type = clang_getCanonicalType(clang_getCursorType(c));
        if (!type_is_integer(type) || takes_address(parent)) {
            *root = clang_getCursorReferenced(c);
            return clang_getCursorKind(c) == CXCursor_MemberRefExpr ? CXChildVisit_Recurse
                                                                    : CXChildVisit_Break;
        }
    }
    return CXChildVisit_Recurse;
}

CXCursor cursor_root(CXCursor e)
{
    CXCursor root = clang_getNullCursor();
    if (clang_Cursor_isNull(e))
        return root;
    if (clang_getCursorKind(e) == CXCursor_DeclRefExpr)
        return clang_getCursorReferenced(e);
    find_root(e, e, &root);
    if (clang_getCursorKind(root) != CXCursor_VarDecl &&
        clang_getCursorKind(root) != CXCursor_ParmDecl)
        clang_visitChildren(e, find_root, &root);
    return root;
}

/* The variable and the members with which an expression begins, from the variable on. */
typedef struct path {
    CXCursor root, field[16]; /* the last member first */
    int count;
} path_t;

static enum CXChildVisitResult find_path(CXCursor c, CXCursor parent, CXClientData data)
{
    path_t *p = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool reference = kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr;
    if (kind == CXCursor_CallExpr)
        p->count = 0; /* what it returns may be any part of its object */
    if (!reference || (type_is_integer(clang_getCursorType(c)) && !takes_address(parent)))
        return CXChildVisit_Recurse;
    if (kind == CXCursor_DeclRefExpr)
        return CXChildVisit_Break;
    CXCursor member = clang_getCursorReferenced(c);
    if (clang_getCursorKind(member) != CXCursor_FieldDecl || p->count == 16)
        p->count = 0;
    else
        p->field[p->count++] = clang_getCanonicalCursor(member);
    return CXChildVisit_Recurse;
}

static path_t path_of(CXCursor e)
{
    path_t p = {.root = e};
    if (clang_Cursor_isNull(e) || clang_isDeclaration(clang_getCursorKind(e)))
        return p;
    p.root = cursor_root(e);
    if (find_path(e, e, &p) == CXChildVisit_Recurse)
        clang_visitChildren(e, find_path, &p);
    return p;
}

bool cursor_is_related(CXCursor a, CXCursor b)
{
    path_t x = path_of(a), y = path_of(b);
    if (clang_Cursor_isNull(x.root) || clang_Cursor_isNull(y.root) ||
        !clang_equalCursors(clang_getCanonicalCursor(x.root), clang_getCanonicalCursor(y.root)))
        return false;
    while (x.count && y.count) {
        CXCursor f = x.field[--x.count], g = y.field[--y.count];
        if (!clang_equalCursors(f, g))
            return clang_getCursorKind(clang_getCursorSemanticParent(f)) == CXCursor_UnionDecl ||
                   clang_getCursorKind(clang_getCursorSemanticParent(g)) == CXCursor_UnionDecl;
    }
    return true;
}

bool cursor_is_member(CXCursor e)
{
    return path_of(e).count > 0;
}

static bool is_in_macro(CXSourceLocation place)
{
    CXFile file, spelled;
    unsigned at, spelled_at;
    clang_getExpansionLocation(place, &file, NULL, NULL, &at);
    clang_getSpellingLocation(place, &spelled, NULL, NULL, &spelled_at);
    return at != spelled_at || !file || !spelled || !clang_File_isEqual(file, spelled);
}

bool cursor_is_from_macro(CXCursor c)
{
    return is_in_macro(clang_getRangeStart(clang_getCursorExtent(c)));
}

bool cursor_is_written_out(CXCursor c)
{
    return !cursor_is_from_macro(c) && !is_in_macro(clang_getRangeEnd(clang_getCursorExtent(c)));
}

bool cursor_is_from_body(CXCursor c)
{
    CXFile file, expanded;
    unsigned at, expanded_at;
    CXSourceLocation place = clang_getRangeStart(clang_getCursorExtent(c));
    clang_getFileLocation(place, &file, NULL, NULL, &at);
    clang_getExpansionLocation(place, &expanded, NULL, NULL, &expanded_at);
    return cursor_is_from_macro(c) && at == expanded_at && file && expanded &&
           clang_File_isEqual(file, expanded);
}

const char *cursor_name(CXCursor c)
{
    return clang_text(clang_getCursorSpelling(c));
}

bool cursor_is_template(CXCursor f)
{
    return clang_getCursorKind(f) == CXCursor_FunctionTemplate;
}

bool type_is_integer(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return (kind >= CXType_Bool && kind <= CXType_Int128) || kind == CXType_Enum;
}

bool type_is_dependent(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_Invalid || kind == CXType_Dependent || kind == CXType_Unexposed ||
           kind == CXType_Auto;
}

static enum CXChildVisitResult find_destructor(CXCursor c, CXCursor parent, CXClientData data)
{
    bool *found = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_Destructor)
        *found |= !clang_CXXMethod_isDefaulted(c) || clang_CXXMethod_isVirtual(c);
    else if (kind == CXCursor_FieldDecl || kind == CXCursor_CXXBaseSpecifier)
        *found |= type_has_destructor(clang_getCursorType(c));
    return *found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXVisitorResult find_in_field(CXCursor c, CXClientData data)
{
    bool *found = data;
    *found |= type_has_destructor(clang_getCursorType(c));
    return *found ? CXVisit_Break : CXVisit_Continue;
}

/* The members of a template's instance have its types; its destructor and bases are found in the
 * template. */
bool type_has_destructor(CXType type)
{
    bool found = false;
    type = clang_getCanonicalType(type);
    while (type_is_array(type))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    CXCursor declaration = clang_getCursorDefinition(clang_getTypeDeclaration(type));
    CXCursor template = clang_getSpecializedCursorTemplate(declaration);
    if (type.kind != CXType_Record && clang_Cursor_isNull(declaration))
        return false;
    clang_visitChildren(declaration, find_destructor, &found);
    if (!found && type.kind == CXType_Record)
        clang_Type_visitFields(type, find_in_field, &found);
    if (!found && !clang_Cursor_isNull(template))
        clang_visitChildren(template, find_destructor, &found);
    return found;
}

CXType type_pointee(CXType type)
{
    type = clang_getCanonicalType(type);
    CXType element = clang_getArrayElementType(type);
    if (element.kind != CXType_Invalid)
        return clang_getCanonicalType(element);
    return clang_getCanonicalType(clang_getPointeeType(type));
}

bool type_is_array(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_ConstantArray || kind == CXType_VariableArray ||
           kind == CXType_IncompleteArray || kind == CXType_DependentSizedArray;
}

static enum CXChildVisitResult take_first(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = c;
    return CXChildVisit_Break;
}

CXCursor cursor_first_child(CXCursor c)
{
    CXCursor child = clang_getNullCursor();
    clang_visitChildren(c, take_first, &child);
    return child;
}

static enum CXChildVisitResult take_last(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = c;
    return CXChildVisit_Continue;
}

CXCursor cursor_last_child(CXCursor c)
{
    CXCursor child = clang_getNullCursor();
    clang_visitChildren(c, take_last, &child);
    return child;
}

static enum CXChildVisitResult take_block(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        *(CXCursor *)data = c;
    return CXChildVisit_Continue;
}

CXCursor cursor_body(CXCursor function)
{
    CXCursor body = clang_getNullCursor();
    clang_visitChildren(function, take_block, &body);
    return body;
}

typedef struct member {
    long long bits;
    const char *name;
    CXType type;
} member_t;

static enum CXVisitorResult match_member(CXCursor c, CXClientData data)
{
    member_t *m = data;
    if (clang_Cursor_getOffsetOfField(c) != m->bits)
        return CXVisit_Continue;
    m->name = cursor_name(c);
    m->type = clang_getCanonicalType(clang_getCursorType(c));
    return CXVisit_Break;
}

const char *type_member_at(CXType type, long long byte, CXType *member)
{
    member_t m = {.bits = 8 * byte};
    clang_Type_visitFields(clang_getCanonicalType(type), match_member, &m);
    *member = m.type;
    return m.name;
}

static enum CXVisitorResult find_pointer_field(CXCursor field, CXClientData data)
{
    *(bool *)data |= type_holds_pointers(clang_getCursorType(field));
    return *(bool *)data ? CXVisit_Break : CXVisit_Continue;
}

bool type_holds_pointers(CXType type)
{
    bool found = false;
    type = clang_getCanonicalType(type);
    while (clang_getArrayElementType(type).kind != CXType_Invalid)
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_pointer_field, &found);
    enum CXTypeKind pointee = clang_getCanonicalType(clang_getPointeeType(type)).kind;
    return found || (type.kind == CXType_Pointer && pointee != CXType_FunctionProto &&
                     pointee != CXType_FunctionNoProto);
}
