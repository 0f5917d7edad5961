/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a kernel, or a function that it calls, does and its chunks cannot do. */
#include "analyze/hazard.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "clang/cursor.h"

enum { MAX_SEEN = 512, MAX_SYMBOLS = 32 };

/* used: variables of the device that are named; stored: those that are changed. */
typedef struct walk {
    hazards_t found;
    CXCursor seen[MAX_SEEN], used[MAX_SYMBOLS], stored[MAX_SYMBOLS];
    int seen_count, used_count, stored_count;
} walk_t;

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void note(CXCursor *where, CXCursor c)
{
    if (clang_Cursor_isNull(*where))
        *where = c;
}

/* ---- Variables of the device ---- */

static bool has_attribute(CXCursor variable, enum CXCursorKind kind)
{
    return clang_getCursorKind(variable) == CXCursor_VarDecl && cursor_has_child(variable, kind);
}

static bool has(const CXCursor *list, int count, CXCursor c)
{
    for (int k = 0; k < count; k++)
        if (clang_equalCursors(clang_getCanonicalCursor(list[k]), clang_getCanonicalCursor(c)))
            return true;
    return false;
}

static void add_symbol(CXCursor *list, int *count, CXCursor variable)
{
    if (*count < MAX_SYMBOLS && !has(list, *count, variable))
        list[(*count)++] = variable;
}

static bool is_symbol(CXCursor variable)
{
    return has_attribute(variable, CXCursor_CUDADeviceAttr) &&
           !has_attribute(variable, CXCursor_CUDASharedAttr) &&
           !has_attribute(variable, CXCursor_CUDAConstantAttr);
}

/* A change of a `__device__` variable; what only points to it is not followed. */
static void note_store(walk_t *w, CXCursor place, CXCursor what)
{
    CXCursor variable = cursor_root(what);
    if (!has_attribute(variable, CXCursor_CUDADeviceAttr) ||
        has_attribute(variable, CXCursor_CUDASharedAttr))
        return;
    enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(variable)).kind;
    if (kind == CXType_Pointer && clang_getCursorKind(what) != CXCursor_DeclRefExpr)
        return; /* what it points to changes */
    add_symbol(w->stored, &w->stored_count, variable);
    note(&w->found.symbol, place);
    if (!w->found.symbol_name)
        w->found.symbol_name = cursor_name(variable);
}

static CXCursor below_wrappers(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        cursors_t list = cursor_children(c);
        if ((kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) || list.count == 0)
            return c;
        c = list.at[0];
    }
}

/* ---- Loops that wait ---- */

static bool is_shared(CXCursor e)
{
    CXCursor root = cursor_root(e);
    return !clang_Cursor_isNull(root) && has_attribute(root, CXCursor_CUDASharedAttr);
}

/* Memory that others change: it is volatile, or an atomic operation works on it. */
static enum CXChildVisitResult find_watch(CXCursor c, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool lvalue = kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_DeclRefExpr ||
                  kind == CXCursor_MemberRefExpr ||
                  (kind == CXCursor_UnaryOperator &&
                   clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref);
    (void)parent;
    if (kind == CXCursor_CallExpr && begins(cursor_name(c), "atomic") &&
        clang_Cursor_getNumArguments(c) > 0)
        *(bool *)data |= !is_shared(clang_Cursor_getArgument(c, 0));
    if (lvalue && clang_isVolatileQualifiedType(clang_getCanonicalType(clang_getCursorType(c))))
        *(bool *)data |= !is_shared(c);
    return CXChildVisit_Recurse;
}

/* A statement that does nothing but pass time. */
static bool is_idle(CXCursor c)
{
    static const char *const pauses[] = {"__nanosleep", "__threadfence", "__threadfence_block",
                                         "__threadfence_system", "__syncwarp"};
    enum CXCursorKind kind = clang_getCursorKind(c);
    cursors_t list = cursor_children(c);
    for (size_t k = 0; kind == CXCursor_CallExpr && k < sizeof(pauses) / sizeof(*pauses); k++)
        if (!strcmp(cursor_name(c), pauses[k]))
            return true;
    if (kind == CXCursor_NullStmt)
        return true;
    for (int k = 0; kind == CXCursor_CompoundStmt && k < list.count; k++)
        if (!is_idle(list.at[k]))
            return false;
    return kind == CXCursor_CompoundStmt && list.count < 8;
}

static void visit_loop(walk_t *w, CXCursor loop)
{
    cursors_t list = cursor_children(loop);
    bool first = clang_getCursorKind(loop) == CXCursor_DoStmt, watches = false;
    int body = first ? 0 : list.count - 1;
    if (list.count < 2 || !is_idle(list.at[body]))
        return;
    for (int k = 0; k < list.count; k++) {
        if (k == body)
            continue;
        find_watch(list.at[k], loop, &watches);
        clang_visitChildren(list.at[k], find_watch, &watches);
    }
    if (watches)
        note(&w->found.wait, loop);
}

/* ---- Loops with the grid's stride ---- */

/* The size of the grid, or a variable that begins with it. */
static enum CXChildVisitResult find_grid_size(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    bool names = clang_getCursorKind(c) == CXCursor_DeclRefExpr;
    CXCursor variable = names ? clang_getCursorReferenced(c) : c;
    if (names && (!strcmp(cursor_name(c), "gridDim") || !strcmp(cursor_name(c), "hipGridDim_x")))
        *(bool *)data = true;
    else if (names && clang_getCursorKind(variable) == CXCursor_VarDecl &&
             clang_Cursor_getStorageClass(variable) == CX_SC_None)
        clang_visitChildren(variable, find_grid_size, data);
    return *(bool *)data ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* `i += gridDim.x * blockDim.x`, or by a variable with that value. */
static void visit_step(walk_t *w, CXCursor c, const cursors_t *operands)
{
    bool found = false;
    if (operands->count != 2 || clang_getCursorBinaryOperatorKind(c) != CXBinaryOperator_AddAssign)
        return;
    find_grid_size(operands->at[1], c, &found);
    if (!found)
        clang_visitChildren(operands->at[1], find_grid_size, &found);
    if (found)
        note(&w->found.stride, c);
}

/* ---- The whole ---- */

static void walk_function(walk_t *w, CXCursor f);

/* True if the function is one of the device whose body another file of the program has. */
static bool is_elsewhere(CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    enum CXCursorKind kind = clang_getCursorKind(f);
    if ((kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod) || cursor_is_kernel(f) ||
        clang_Location_isInSystemHeader(clang_getCursorLocation(f)) ||
        !clang_Cursor_isNull(
            clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template)))
        return false;
    return cursor_has_child(f, CXCursor_CUDADeviceAttr);
}

static void visit_call(walk_t *w, CXCursor c)
{
    const char *name = cursor_name(c);
    CXCursor f = clang_getCursorReferenced(c);
    if (cursor_is_launch(c) || cursor_is_kernel(f))
        note(&w->found.launch, c);
    bool texture = begins(name, "tex1D") || begins(name, "tex2D") || begins(name, "tex3D") ||
                   begins(name, "texCubemap") || begins(name, "surf1D") || begins(name, "surf2D") ||
                   begins(name, "surf3D");
    if (texture) {
        note(&w->found.texture, c);
        w->found.texture_name = name;
    }
    if (begins(name, "atomic") && clang_Cursor_getNumArguments(c) > 0)
        note_store(w, c, below_wrappers(clang_Cursor_getArgument(c, 0)));
    if (is_elsewhere(f)) {
        note(&w->found.elsewhere, c);
        w->found.elsewhere_name = cursor_name(f);
    }
    if (clang_isDeclaration(clang_getCursorKind(f)))
        walk_function(w, f);
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t *w = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    cursors_t list;
    (void)parent;
    bool stores = false;
    switch (kind) {
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_ForStmt: visit_loop(w, c); break;
    case CXCursor_CallExpr: visit_call(w, c); break;
    case CXCursor_DeclRefExpr:
        if (is_symbol(clang_getCursorReferenced(c)))
            add_symbol(w->used, &w->used_count, clang_getCursorReferenced(c));
        break;
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_UnaryOperator:
        list = cursor_children(c);
        stores = kind == CXCursor_CompoundAssignOperator ||
                 (kind == CXCursor_BinaryOperator &&
                  clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign) ||
                 (kind == CXCursor_UnaryOperator &&
                  clang_getCursorUnaryOperatorKind(c) >= CXUnaryOperator_PostInc &&
                  clang_getCursorUnaryOperatorKind(c) <= CXUnaryOperator_PreDec);
        if (kind == CXCursor_CompoundAssignOperator)
            visit_step(w, c, &list);
        if (stores && list.count)
            note_store(w, c, below_wrappers(list.at[0]));
        break;
    default: break;
    }
    return CXChildVisit_Recurse;
}

static void walk_function(walk_t *w, CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f),
             definition = clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template);
    if (clang_Cursor_isNull(definition) ||
        clang_Location_isInSystemHeader(clang_getCursorLocation(definition)) ||
        w->seen_count == MAX_SEEN)
        return;
    for (int k = 0; k < w->seen_count; k++)
        if (clang_equalCursors(w->seen[k], definition))
            return;
    w->seen[w->seen_count++] = definition;
    clang_visitChildren(definition, visit, w);
}

hazards_t hazards_of(CXCursor kernel)
{
    walk_t *w = arena_alloc(sizeof(*w));
    CXCursor none = clang_getNullCursor();
    w->found = (hazards_t){.wait = none,
                           .launch = none,
                           .texture = none,
                           .symbol = none,
                           .stride = none,
                           .elsewhere = none};
    walk_function(w, kernel);
    return w->found;
}

bool hazard_calls_elsewhere(const unit_t *u, const hazards_t *h)
{
    return u->target != TARGET_HOST && !u->main->options->no_index_elsewhere &&
           !clang_Cursor_isNull(h->elsewhere);
}

/* ---- Variables that several kernels use ---- */

static enum CXChildVisitResult visit_kernels(CXCursor c, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    if ((kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate) && cursor_is_kernel(c))
        walk_function(data, c);
    return kind == CXCursor_Namespace || kind == CXCursor_StructDecl ||
                   kind == CXCursor_ClassDecl || kind == CXCursor_LinkageSpec ||
                   kind == CXCursor_UnexposedDecl
               ? CXChildVisit_Recurse
               : CXChildVisit_Continue;
}

static const char *qualified_name(CXCursor c)
{
    const char *name = cursor_name(c);
    for (c = clang_getCursorSemanticParent(c); !clang_Cursor_isNull(c);
         c = clang_getCursorSemanticParent(c)) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind == CXCursor_TranslationUnit)
            return arena_printf("::%s", name);
        if (kind != CXCursor_Namespace && kind != CXCursor_StructDecl && kind != CXCursor_ClassDecl)
            return name;
        if (*cursor_name(c) && !clang_Cursor_isAnonymous(c))
            name = arena_printf("%s::%s", cursor_name(c), name);
    }
    return name;
}

/* True if kernels of other files may change the variable. */
static bool is_changed_elsewhere(const unit_t *u, CXCursor variable)
{
    return u->main->options->relocatable &&
           clang_getCursorLinkage(variable) == CXLinkage_External &&
           !clang_isConstQualifiedType(clang_getCanonicalType(clang_getCursorType(variable)));
}

void hazard_shared_symbols(const unit_t *u, CXCursor kernel, list_t *names)
{
    walk_t *own = arena_alloc(sizeof(*own)), *all = arena_alloc(sizeof(*all));
    walk_function(own, kernel);
    if (own->used_count)
        clang_visitChildren(clang_getTranslationUnitCursor(u->tu), visit_kernels, all);
    for (int k = 0; k < own->used_count; k++)
        if ((has(all->stored, all->stored_count, own->used[k]) ||
             is_changed_elsewhere(u, own->used[k])) &&
            !has(own->stored, own->stored_count, own->used[k]))
            list_add(names, qualified_name(own->used[k]));
}
