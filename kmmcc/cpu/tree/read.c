/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a function's body as a tree: its nodes, variables, collective calls, targets of jumps, and
 * changes of variables.
 */
#include "cpu/tree/read.h"

#include <string.h>

#include "base/arena.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "cpu/tree/call.h"
#include "cpu/tree/changes.h"
#include "cpu/tree/parts.h"

static variable_t *find_variable(body_tree_t *b, CXCursor c)
{
    for (int k = 0; k < b->variable_count; k++)
        if (clang_equalCursors(b->variable[k].cursor, c))
            return &b->variable[k];
    return NULL;
}

static bool is_scalar(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return (kind >= CXType_Bool && kind <= CXType_LongDouble) || kind == CXType_Pointer ||
           kind == CXType_Enum || kind == CXType_Half || kind == CXType_NullPtr;
}

/* True for a template's type parameter, which is assumed to be a scalar. */
static bool is_generic(CXType type)
{
    CXType canonical = clang_getCanonicalType(clang_getUnqualifiedType(type));
    const char *text =
        canonical.kind == CXType_Unexposed ? clang_text(clang_getTypeSpelling(canonical)) : "";
    return !strncmp(text, "type-parameter-", 15) && !strpbrk(text, "*&[(<:. ");
}

static bool is_array(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
           kind == CXType_VariableArray || kind == CXType_DependentSizedArray;
}

static bool is_of_block(CXCursor variable)
{
    return cursor_has_child(variable, CXCursor_CUDASharedAttr) ||
           clang_Cursor_getStorageClass(variable) == CX_SC_Static ||
           clang_Cursor_getStorageClass(variable) == CX_SC_Extern;
}

static variable_t *add_variable(body_tree_t *b, CXCursor c)
{
    if (b->variable_count == b->variable_capacity) {
        b->reason = "it has too many variables";
        return NULL;
    }
    CXType type = clang_getCursorType(c);
    bool is_parameter = clang_getCursorKind(c) == CXCursor_ParmDecl;
    bool decays = is_parameter && is_array(type); /* `float x[]` is a pointer */
    variable_t *v = &b->variable[b->variable_count];
    *v = (variable_t){.cursor = c,
                      .name = clang_text(clang_getCursorSpelling(c)),
                      .number = b->variable_count,
                      .is_parameter = is_parameter,
                      .is_scalar = decays || is_scalar(type) || is_generic(type),
                      .is_generic = is_generic(type),
                      .is_array = !decays && is_array(type),
                      .is_reference = is_reference_type(type),
                      .storage = STORAGE_THREAD};
    if (is_of_block(c))
        v->storage = STORAGE_SHARED;
    b->variable_count++;
    return v;
}

/* True for `auto &[a, b] = x`, for which libclang has no kind of cursor. */
static bool is_structured(const node_t *n)
{
    return n->kind == CXCursor_UnexposedDecl &&
           *clang_text(clang_getCursorSpelling(n->cursor)) == '[';
}

static void add_bindings(body_tree_t *b, node_t *n)
{
    cursors_t list = cursor_children(n->cursor);
    for (int k = 0; k < list.count; k++) {
        variable_t *v = clang_getCursorKind(list.at[k]) == CXCursor_UnexposedDecl
                            ? add_variable(b, list.at[k])
                            : NULL;
        if (!v)
            continue;
        v->is_binding = true;
        v->is_scalar = v->is_generic = v->is_array = v->is_reference = false;
        v->declaration = n;
    }
}

typedef struct reader {
    body_tree_t *b;
    node_t *parent;
} reader_t;

static enum CXChildVisitResult add_node(CXCursor c, CXCursor parent, CXClientData data)
{
    reader_t *r = data;
    (void)parent;
    if (clang_getCursorKind(c) ==
        CXCursor_UnexposedStmt) { /* has attributes, as of #pragma unroll */
        clang_visitChildren(c, add_node, r);
        return CXChildVisit_Continue;
    }
    node_t *n = arena_alloc(sizeof(*n));
    n->cursor = c;
    n->kind = clang_getCursorKind(c);
    n->parent = r->parent;
    if (!unit_range(r->b->u, c, &n->begin, &n->end))
        n->begin = n->end = 0;
    if (r->parent && r->parent->last)
        r->parent->last->next = n;
    else if (r->parent)
        r->parent->child = n;
    if (r->parent)
        r->parent->last = n;
    else
        r->b->root = n;
    if (n->kind == CXCursor_VarDecl && (n->variable = add_variable(r->b, c)))
        n->variable->declaration = n;
    if (is_structured(n))
        add_bindings(r->b, n);
    if (n->kind == CXCursor_DeclRefExpr)
        n->variable = find_variable(r->b, clang_getCursorReferenced(c));
    if (clang_isAttribute(n->kind))
        return CXChildVisit_Continue;
    reader_t inner = {r->b, n};
    clang_visitChildren(c, add_node, &inner);
    return CXChildVisit_Continue;
}

typedef struct finder {
    body_tree_t *b;
    CXCursor body;
} finder_t;

static enum CXChildVisitResult find_body(CXCursor c, CXCursor parent, CXClientData data)
{
    finder_t *f = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl)
        add_variable(f->b, c);
    else if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        f->body = c;
    return CXChildVisit_Continue;
}

static bool is_word(const body_tree_t *b, const node_t *n, const char *word)
{
    return n->end > n->begin &&
           token_is(b->u->source, parts_token(b, n->begin, b->u->source->length), word);
}

static bool leads_into(const node_t *n, const node_t *jump)
{
    if (tree_is_loop(n) || n->kind == CXCursor_CXXForRangeStmt)
        return true;
    return n->kind == CXCursor_SwitchStmt && jump->kind == CXCursor_BreakStmt;
}

static bool find_targets(body_tree_t *b, node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr)
        return n->has_collective ? tree_fail(b, n, "a lambda meets at a barrier") : true;
    if (n->kind == CXCursor_GotoStmt || n->kind == CXCursor_LabelStmt ||
        n->kind == CXCursor_IndirectGotoStmt)
        return tree_fail(b, n, "it has a 'goto' or a label");
    if (n->kind == CXCursor_BreakStmt || n->kind == CXCursor_ContinueStmt) {
        n->target = n->parent;
        while (n->target && !leads_into(n->target, n))
            n->target = n->target->parent;
        if (n->target && n->target->has_collective &&
            !is_word(b, n, n->kind == CXCursor_BreakStmt ? "break" : "continue"))
            return tree_fail(b, n, "a jump comes from a macro");
    }
    if (n->kind == CXCursor_ReturnStmt && !is_word(b, n, "return"))
        return tree_fail(b, n, "a 'return' comes from a macro");
    for (node_t *c = n->child; c; c = c->next)
        if (!find_targets(b, c))
            return false;
    return true;
}

enum { MAX_VARIABLES = 1000 };

bool tree_read(body_tree_t *b, unit_t *u, CXCursor function, collective_of_t collective_of,
               const void *context)
{
    *b = (body_tree_t){.u = u,
                       .variable = arena_alloc(MAX_VARIABLES * sizeof(variable_t)),
                       .variable_capacity = MAX_VARIABLES};
    finder_t f = {b, clang_getNullCursor()};
    clang_visitChildren(function, find_body, &f);
    if (clang_Cursor_isNull(f.body))
        return tree_fail(b, NULL, "its body is not found");
    reader_t r = {b, NULL};
    add_node(f.body, function, &r);
    if (b->reason || b->root->end <= b->root->begin)
        return tree_fail(b, NULL, "its body comes from a macro");
    for (int k = 0; k < b->variable_count; k++)
        if (b->variable[k].is_parameter)
            b->variable[k].scope = b->root;
    call_find_collectives(b, b->root, collective_of, context);
    if (!call_are_all_found(b, collective_of, context))
        return false;
    return find_targets(b, b->root) && changes_find(b, b->root);
}
