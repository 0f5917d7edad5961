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

bool cursor_is_static(CXCursor v)
{
    const enum CX_StorageClass storage = clang_Cursor_getStorageClass(v);
    if (clang_getCursorKind(v) != CXCursor_VarDecl)
        return false;
    const CXCursor scope = clang_getCursorSemanticParent(v);
    return storage == CX_SC_Static || storage == CX_SC_Extern || cursor_is_namespace(scope) ||
           clang_getCursorKind(scope) == CXCursor_TranslationUnit;
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
        bool function = type.kind == CXType_FunctionProto || type.kind == CXType_FunctionNoProto;
        if (!type_is_integer(type) || takes_address(parent)) {
            *root = clang_getCursorReferenced(c);
            /* The arguments of a function that is called tell more than its name. */
            return function || clang_getCursorKind(c) == CXCursor_MemberRefExpr
                       ? CXChildVisit_Recurse
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

/* The variable with which an expression begins, and the members, and the indices of pointers and of
 * what holds them, from the variable on. */
typedef struct path {
    CXCursor root, step[16]; /* the last one first: a field, or an index */
    int count;
    bool loads; /* a pointer is loaded behind the steps that are still to come */
} path_t;

static void add_step(path_t *p, CXCursor step)
{
    if (p->count == 16)
        p->count = 0;
    else
        p->step[p->count++] = step;
}

static enum CXChildVisitResult find_path(CXCursor c, CXCursor parent, CXClientData data)
{
    path_t *p = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool reference = kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr;
    if (kind == CXCursor_CallExpr)
        p->count = 0; /* what it returns may be any part of its object */
    bool pointer = clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_Pointer;
    if (kind == CXCursor_ArraySubscriptExpr && (pointer || p->loads) && !takes_address(parent))
        add_step(p, cursor_last_child(c));
    p->loads |= pointer && kind == CXCursor_ArraySubscriptExpr && !takes_address(parent);
    p->loads |= pointer && kind == CXCursor_MemberRefExpr && !takes_address(parent);
    if (!reference || (type_is_integer(clang_getCursorType(c)) && !takes_address(parent)))
        return CXChildVisit_Recurse;
    if (kind == CXCursor_DeclRefExpr)
        return CXChildVisit_Break;
    CXCursor member = clang_getCursorReferenced(c);
    if (clang_getCursorKind(member) != CXCursor_FieldDecl)
        p->count = 0;
    else
        add_step(p, clang_getCanonicalCursor(member));
    return CXChildVisit_Recurse;
}

bool cursor_evaluates_to(CXCursor e, long long *value)
{
    CXEvalResult result = clang_Cursor_Evaluate(e);
    bool is_integer = result && clang_EvalResult_getKind(result) == CXEval_Int;
    if (is_integer)
        *value = clang_EvalResult_getAsLongLong(result);
    if (result)
        clang_EvalResult_dispose(result);
    return is_integer;
}

/* True if two indices are written alike, or are the same constant. */
static bool same_index(CXCursor a, CXCursor b)
{
    long long x, y;
    if (cursor_evaluates_to(a, &x) && cursor_evaluates_to(b, &y))
        return x == y;
    cursors_t m = cursor_children(a), n = cursor_children(b);
    enum CXCursorKind kind = clang_getCursorKind(a);
    if ((kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr) && m.count == 1)
        return same_index(m.at[0], b);
    kind = clang_getCursorKind(b);
    if ((kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr) && n.count == 1)
        return same_index(a, n.at[0]);
    bool same =
        kind == clang_getCursorKind(a) && m.count == n.count &&
        clang_getCursorBinaryOperatorKind(a) == clang_getCursorBinaryOperatorKind(b) &&
        clang_getCursorUnaryOperatorKind(a) == clang_getCursorUnaryOperatorKind(b) &&
        (m.count || clang_equalCursors(clang_getCursorReferenced(a), clang_getCursorReferenced(b)));
    for (int k = 0; k < m.count && same; k++)
        same = same_index(m.at[k], n.at[k]);
    return same;
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
        CXCursor f = x.step[--x.count], g = y.step[--y.count];
        bool member = clang_getCursorKind(f) == CXCursor_FieldDecl;
        if (member != (clang_getCursorKind(g) == CXCursor_FieldDecl))
            return true; /* of the same struct, of which one has an index */
        if (!member && !same_index(f, g))
            return false;
        if (member && !clang_equalCursors(f, g))
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

bool cursor_is_null_pointer(CXCursor c)
{
    long long value;
    cursors_t list = cursor_children(c);
    switch (clang_getCursorKind(c)) {
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr: return true;
    case CXCursor_IntegerLiteral: return cursor_evaluates_to(c, &value) && value == 0;
    case CXCursor_InitListExpr:
        return list.count == 0 || (list.count == 1 && cursor_is_null_pointer(list.at[0]));
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        return list.count && cursor_is_null_pointer(list.at[list.count - 1]);
    default: return false;
    }
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

/* What a default of a member may not have: it runs once more where a value is copied, or, as
 * __builtin_LINE() does, depends on the place. libclang shows that as nothing. */
static enum CXChildVisitResult find_call(CXCursor c, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool changes = kind == CXCursor_CompoundAssignOperator || kind == CXCursor_LambdaExpr ||
                   kind == CXCursor_CallExpr || kind == CXCursor_CXXNewExpr ||
                   (kind == CXCursor_UnexposedExpr && clang_Cursor_isNull(cursor_first_child(c)));
    (void)parent;
    if (kind == CXCursor_BinaryOperator)
        changes = clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign;
    if (kind == CXCursor_UnaryOperator)
        changes = clang_getCursorUnaryOperatorKind(c) <= CXUnaryOperator_PreDec;
    *(bool *)data |= changes;
    return changes ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* What a base holds is copied with the struct; pointers in it would not be seen. */
static bool is_copied_base(CXCursor base)
{
    CXType type = clang_getCursorType(base);
    return !clang_isVirtualBase(base) && type_is_copied(type) && !type_holds_pointers(type);
}

/* A struct whose only function that C's have not is its default constructor, which sets members to
 * defaults: a member that makes it none. */
static enum CXChildVisitResult find_special(CXCursor c, CXCursor parent, CXClientData data)
{
    bool *found = data;
    (void)parent;
    switch (clang_getCursorKind(c)) {
    case CXCursor_FieldDecl: clang_visitChildren(c, find_call, found); break;
    case CXCursor_StructDecl:
    case CXCursor_ClassDecl: *found |= clang_Cursor_isAnonymousRecordDecl(c) != 0; break;
    case CXCursor_CXXMethod:
        *found |= clang_CXXMethod_isVirtual(c) || !strcmp(cursor_name(c), "operator=");
        break;
    case CXCursor_CXXBaseSpecifier: *found |= !is_copied_base(c); break;
    case CXCursor_UnionDecl:
    case CXCursor_Constructor:
    case CXCursor_Destructor:
    case CXCursor_FunctionTemplate: *found = true; break;
    default: break;
    }
    return *found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXVisitorResult find_special_field(CXCursor c, CXClientData data)
{
    *(bool *)data |= clang_isConstQualifiedType(clang_getCursorType(c)) ||
                     !type_is_copied(clang_getCursorType(c));
    return *(bool *)data ? CXVisit_Break : CXVisit_Continue;
}

/* The members of a template's instance have its types; all else is found in the template, or in the
 * specialization that the program writes. */
bool type_is_copied(CXType type)
{
    type = clang_getCanonicalType(type);
    while (type_is_array(type))
        type = type_pointee(type);
    if (clang_isPODType(type))
        return true;
    CXCursor declaration = clang_getCursorDefinition(clang_getTypeDeclaration(type)),
             template = clang_getSpecializedCursorTemplate(declaration);
    const char *name = cursor_name(declaration);
    bool found = type.kind != CXType_Record || *name == 0 || *name == '(' || /* a lambda */
                 clang_Cursor_isNull(declaration);
    if (!found)
        clang_visitChildren(declaration, find_special, &found);
    if (!found && !clang_Cursor_isNull(template))
        clang_visitChildren(template, find_special, &found);
    if (!found)
        clang_Type_visitFields(type, find_special_field, &found);
    return !found;
}

/* A struct without members: whoever gets a reference to a copy cannot tell. */
static bool is_empty_struct(CXType type)
{
    bool found = false;
    clang_Type_visitFields(type, find_special_field, &found);
    return type.kind == CXType_Record && clang_Type_getSizeOf(type) == 1 && !found &&
           !cursor_has_child(clang_getTypeDeclaration(type), CXCursor_FieldDecl) &&
           type_is_copied(type);
}

CXType type_passed(CXType type)
{
    CXType canonical = clang_getCanonicalType(type),
           referred = clang_getCanonicalType(clang_getPointeeType(canonical));
    return canonical.kind == CXType_LValueReference && clang_isConstQualifiedType(referred) &&
                   is_empty_struct(clang_getUnqualifiedType(referred))
               ? clang_getUnqualifiedType(clang_getPointeeType(canonical))
               : type;
}

CXType type_of_parameter(CXCursor function, int number, CXCursor parameter)
{
    CXType type = clang_getCursorType(parameter),
           adjusted = clang_getArgType(clang_getCanonicalType(clang_getCursorType(function)),
                                       (unsigned)number);
    return type_is_array(type) && adjusted.kind != CXType_Invalid ? adjusted : type;
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
    bool is_public;
} member_t;

static enum CXVisitorResult match_member(CXCursor c, CXClientData data)
{
    member_t *m = data;
    if (clang_Cursor_getOffsetOfField(c) != m->bits)
        return CXVisit_Continue;
    m->name = cursor_name(c);
    m->type = clang_getCanonicalType(clang_getCursorType(c));
    enum CX_CXXAccessSpecifier access = clang_getCXXAccessSpecifier(c);
    m->is_public = access == CX_CXXPublic || access == CX_CXXInvalidAccessSpecifier;
    return CXVisit_Break;
}

const char *type_member_at(CXType type, long long byte, CXType *member)
{
    member_t m = {.bits = 8 * byte};
    clang_Type_visitFields(clang_getCanonicalType(type), match_member, &m);
    *member = m.type;
    return m.name;
}

bool type_has_public_pointer_at(CXType type, long long byte)
{
    member_t m = {.bits = 8 * byte};
    clang_Type_visitFields(clang_getCanonicalType(type), match_member, &m);
    return m.name && *m.name && m.is_public && m.type.kind == CXType_Pointer;
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
