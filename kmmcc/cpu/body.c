/* SPDX-License-Identifier: Apache-2.0 */
/* A function's body as a tree with places in the source, its variables, and how each of their uses
 * changes them. */
#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "clang/unit.h"
#include "cpu/split.h"

bool tree_fail(body_tree_t *b, const node_t *n, const char *reason)
{
    if (!b->reason) {
        b->reason = reason;
        b->reason_at = n ? n->begin : 0;
    }
    return false;
}

bool tree_is_loop(const node_t *n)
{
    return n->kind == CXCursor_ForStmt || n->kind == CXCursor_WhileStmt ||
           n->kind == CXCursor_DoStmt;
}

/* ---- Reading ---- */

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

/* A type that a template has as a parameter: mostly a number's. */
static bool is_generic(CXType type)
{
    CXType canonical = clang_getCanonicalType(clang_getUnqualifiedType(type));
    const char *text =
        canonical.kind == CXType_Unexposed ? clang_text(clang_getTypeSpelling(canonical)) : "";
    return !strncmp(text, "type-parameter-", 15) && !strpbrk(text, "*&[(<:. ");
}

static bool is_reference(CXType type)
{
    return type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
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
    variable_t *v = &b->variable[b->variable_count];
    *v = (variable_t){.cursor = c,
                      .name = clang_text(clang_getCursorSpelling(c)),
                      .number = b->variable_count,
                      .is_parameter = clang_getCursorKind(c) == CXCursor_ParmDecl,
                      .is_scalar = is_scalar(type) || is_generic(type),
                      .is_generic = is_generic(type),
                      .is_array = is_array(type),
                      .is_reference = is_reference(type),
                      .storage = STORAGE_THREAD};
    if (is_of_block(c))
        v->storage = STORAGE_SHARED;
    b->variable_count++;
    return v;
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

/* ---- Calls ---- */

const char *call_name(const node_t *call)
{
    if (call->called)
        return call->called;
    const char *name = clang_text(clang_getCursorSpelling(call->cursor));
    for (const node_t *n = call->child; !*name && n; n = n->child)
        if (n->kind == CXCursor_DeclRefExpr || n->kind == CXCursor_MemberRefExpr ||
            n->kind == CXCursor_OverloadedDeclRef) {
            name = clang_text(clang_getCursorSpelling(n->cursor));
            break;
        }
    if (!*name && call->child && call->child->child && call->child->kind == CXCursor_UnexposedExpr)
        name = clang_text(clang_getCursorSpelling(call->child->child->cursor));
    return strcmp(name, "kmm_host_syncthreads") ? name : "__syncthreads";
}

/* clang names no member of what depends on a template's parameters: the last word before the
 * parenthesis. */
static const char *written_name(const body_tree_t *b, const node_t *call)
{
    const char *name = "";
    const source_t *s = b->u->source;
    const node_t *callee = call->child;
    if (!callee || callee->end <= callee->begin)
        return name;
    lexer_t l = lexer_at(s, callee->begin, callee->end);
    int depth = 0;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "<") + token_is(s, t, "(") + token_is(s, t, "[") -
                 token_is(s, t, ">") - token_is(s, t, ")") - token_is(s, t, "]");
        if (depth == 0 && t.kind == TOKEN_NAME)
            name = token_text(s, t);
    }
    return name;
}

static void find_collectives(const body_tree_t *b, node_t *n, collective_of_t collective_of,
                             const void *context)
{
    if (n->kind == CXCursor_CallExpr) {
        const char *name = call_name(n);
        name = *name ? name : written_name(b, n);
        n->called = name;
        n->collective = collective_of(context, name);
        n->collective_name = n->collective != COLLECTIVE_NONE ? name : NULL;
    }
    n->has_collective = n->collective_name != NULL;
    for (node_t *c = n->child; c; c = c->next) {
        find_collectives(b, c, collective_of, context);
        n->has_collective |= c->has_collective;
    }
}

/* ---- Statements ---- */

static token_t token_at(const body_tree_t *b, size_t at, size_t end)
{
    lexer_t l = lexer_at(b->u->source, at, end);
    l.line_start = false;
    return lex(&l);
}

size_t statement_end(const body_tree_t *b, const node_t *n)
{
    if (n->kind == CXCursor_CompoundStmt || n->kind == CXCursor_DeclStmt ||
        n->kind == CXCursor_NullStmt)
        return n->end;
    if (n->kind == CXCursor_IfStmt || n->kind == CXCursor_ForStmt ||
        n->kind == CXCursor_WhileStmt || n->kind == CXCursor_CXXForRangeStmt ||
        n->kind == CXCursor_SwitchStmt) {
        size_t end = n->last ? statement_end(b, n->last) : n->end;
        return end > n->end ? end : n->end;
    }
    token_t t = token_at(b, n->end, b->u->source->length);
    return token_is(b->u->source, t, ";") ? t.end : n->end;
}

/* The parentheses behind the statement's word, and the semicolons between them. */
static bool find_parentheses(body_tree_t *b, const node_t *n, size_t from, parts_t *p)
{
    const source_t *s = b->u->source;
    lexer_t l = lexer_at(s, from, n->end);
    int depth = 0, semicolons = 0;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool opens = token_is(s, t, "(") || token_is(s, t, "{") || token_is(s, t, "[");
        if (opens && depth++ == 0) {
            if (!token_is(s, t, "("))
                break;
            p->open = t.end;
        } else if (depth == 1 && token_is(s, t, ";")) {
            if (semicolons < 2)
                p->semicolon[semicolons] = t.begin;
            semicolons++;
        } else if (token_is(s, t, ")") || token_is(s, t, "}") || token_is(s, t, "]")) {
            if (--depth == 0) {
                p->close = t.begin;
                return semicolons == (n->kind == CXCursor_ForStmt ? 2 : 0);
            }
        }
    }
    return tree_fail(b, n, "a statement's parentheses are not found");
}

static bool is_between(const node_t *n, size_t begin, size_t end)
{
    return n->end > n->begin && n->begin >= begin && n->end <= end;
}

static bool for_parts(body_tree_t *b, const node_t *n, parts_t *p)
{
    for (node_t *c = n->child; c; c = c->next) {
        if (c == n->last)
            p->first = c;
        else if (is_between(c, p->open, p->semicolon[0] + 1))
            p->initial = c;
        else if (is_between(c, p->semicolon[0], p->semicolon[1]) && c->kind != CXCursor_DeclStmt &&
                 c->kind != CXCursor_VarDecl)
            p->condition = c;
        else if (is_between(c, p->semicolon[1], p->close))
            p->increment = c;
        else
            return tree_fail(b, n, "a part of a 'for' comes from a macro or declares a variable");
    }
    return p->first && p->first->begin >= p->close;
}

static bool if_parts(body_tree_t *b, const node_t *n, parts_t *p)
{
    node_t *c = n->child;
    if (!c || !is_between(c, p->open, p->close) || c->kind == CXCursor_DeclStmt ||
        c->kind == CXCursor_VarDecl || !c->next || c->next->begin < p->close)
        return tree_fail(b, n, "a condition comes from a macro or declares a variable");
    p->condition = c;
    p->first = c->next;
    p->second = c->next->next;
    return true;
}

static bool do_parts(body_tree_t *b, const node_t *n, parts_t *p)
{
    p->first = n->child;
    p->condition = n->last;
    if (!p->first || p->first == p->condition || p->first->end <= p->first->begin)
        return tree_fail(b, n, "a part of a 'do' comes from a macro");
    return find_parentheses(b, n, statement_end(b, p->first), p) &&
           is_between(p->condition, p->open, p->close);
}

bool parts_of(body_tree_t *b, const node_t *n, parts_t *p)
{
    memset(p, 0, sizeof(*p));
    if (n->kind == CXCursor_DoStmt)
        return do_parts(b, n, p) || tree_fail(b, n, "a part of a 'do' comes from a macro");
    if (!find_parentheses(b, n, n->begin, p))
        return false;
    if (n->kind == CXCursor_ForStmt)
        return for_parts(b, n, p) || tree_fail(b, n, "a part of a 'for' comes from a macro");
    return if_parts(b, n, p);
}

/* ---- Jumps ---- */

static bool is_word(const body_tree_t *b, const node_t *n, const char *word)
{
    return n->end > n->begin &&
           token_is(b->u->source, token_at(b, n->begin, b->u->source->length), word);
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

/* ---- Uses of variables ---- */

static void add_change(variable_t *v, node_t *n)
{
    v->change = arena_grow(v->change, v->change_count, &v->change_capacity, sizeof(*v->change));
    v->change[v->change_count++] = n;
}

/* The arguments that are written, in order: operators have the function's name between them. */
int call_arguments(const node_t *call, node_t **argument, int room)
{
    const char *name = call_name(call);
    bool is_operator = !strncmp(name, "operator", 8),
         makes_temporary =
             clang_getCursorKind(clang_getCursorReferenced(call->cursor)) == CXCursor_Constructor;
    int found = 0;
    for (node_t *c = is_operator || makes_temporary ? call->child
                     : call->child                  ? call->child->next
                                                    : NULL;
         c; c = c->next) {
        const node_t *inner = c;
        while (inner->kind == CXCursor_UnexposedExpr && inner->child && !inner->child->next)
            inner = inner->child;
        bool is_callee =
            is_operator &&
            (inner->kind == CXCursor_DeclRefExpr || inner->kind == CXCursor_OverloadedDeclRef) &&
            !strcmp(clang_text(clang_getCursorSpelling(inner->cursor)), name);
        if (is_callee || !clang_isExpression(c->kind) || c->end <= c->begin)
            continue;
        if (found < room)
            argument[found] = c;
        found++;
    }
    return found;
}

passing_t call_passing(const node_t *call, const node_t *argument)
{
    enum { ROOM = 64 };
    node_t *list[ROOM];
    CXCursor function = clang_getCursorReferenced(call->cursor);
    int k = 0, count = call_arguments(call, list, ROOM);
    while (k < count && k < ROOM && list[k] != argument)
        k++;
    if (call->collective == COLLECTIVE_BUILTIN)
        return PASSED_BY_VALUE;
    if (clang_Cursor_isNull(function) || k >= count || k >= ROOM)
        return PASSED_UNKNOWN;
    enum CXCursorKind kind = clang_getCursorKind(function);
    if (call->collective == COLLECTIVE_FUNCTION && kind != CXCursor_FunctionDecl &&
        kind != CXCursor_CXXMethod)
        return PASSED_UNKNOWN;
    bool is_member = clang_getCursorKind(function) == CXCursor_CXXMethod &&
                     !strncmp(call_name(call), "operator", 8);
    if (is_member && k == 0)
        return clang_CXXMethod_isConst(function) ? PASSED_BY_CONST : PASSED_BY_REFERENCE;
    CXType type =
        clang_getCursorType(clang_Cursor_getArgument(function, (unsigned)(k - is_member)));
    if (type.kind == CXType_Invalid) /* of `...` */
        return PASSED_BY_VALUE;
    if (!is_reference(type))
        return PASSED_BY_VALUE;
    return clang_isConstQualifiedType(clang_getPointeeType(type)) ? PASSED_BY_CONST
                                                                  : PASSED_BY_REFERENCE;
}

/* What a call does with the variable that is, or is part of, its argument `n`. */
static void find_passed(variable_t *v, const node_t *call, const node_t *n)
{
    passing_t passing = call_passing(call, n);
    v->escapes |= passing == PASSED_UNKNOWN || passing == PASSED_BY_REFERENCE;
    if (call->collective == COLLECTIVE_FUNCTION && passing != PASSED_BY_VALUE && !v->is_reference)
        v->is_pointed_at = v->escapes = true;
}

/* Whether an address may be used when the region in which it is taken has ended: a variable gets
 * it, or a function that meets. */
static bool outlives_region(const node_t *address)
{
    for (const node_t *n = address, *p = n->parent; p; n = p, p = p->parent) {
        enum CXBinaryOperatorKind kind = p->kind == CXCursor_BinaryOperator
                                             ? clang_getCursorBinaryOperatorKind(p->cursor)
                                             : CXBinaryOperator_Invalid;
        if (p->kind == CXCursor_CallExpr && p->collective != COLLECTIVE_FUNCTION &&
            clang_getCanonicalType(clang_getCursorType(p->cursor)).kind != CXType_Pointer)
            return false;
        if (p->kind == CXCursor_CallExpr || p->kind == CXCursor_VarDecl ||
            p->kind == CXCursor_InitListExpr)
            return true;
        if (kind == CXBinaryOperator_Assign)
            return p->child != n;
        bool is_deref = p->kind == CXCursor_UnaryOperator &&
                        clang_getCursorUnaryOperatorKind(p->cursor) == CXUnaryOperator_Deref;
        if (is_deref || p->kind == CXCursor_ArraySubscriptExpr || clang_isStatement(p->kind))
            return false;
    }
    return false;
}

/* What an operator or call does to the operand `n`, which names the variable. */
static void find_change(variable_t *v, node_t *n)
{
    node_t *p = n->parent;
    if (!p)
        return;
    bool first = p->child == n;
    switch ((int)p->kind) {
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr: find_change(v, p); return;
    case CXCursor_MemberRefExpr:
        if (clang_getCursorType(n->cursor).kind == CXType_Pointer)
            return;
        if (clang_getCursorKind(clang_getCursorReferenced(p->cursor)) == CXCursor_CXXMethod)
            v->escapes |= !clang_CXXMethod_isConst(clang_getCursorReferenced(p->cursor));
        else
            find_change(v, p);
        return;
    case CXCursor_ArraySubscriptExpr:
        if (first && v->is_array)
            find_change(v, p);
        return;
    case CXCursor_UnaryOperator: {
        enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(p->cursor);
        if (kind == CXUnaryOperator_PostInc || kind == CXUnaryOperator_PostDec ||
            kind == CXUnaryOperator_PreInc || kind == CXUnaryOperator_PreDec)
            add_change(v, p);
        else
            v->escapes |= kind == CXUnaryOperator_AddrOf && !v->is_array;
        if (kind == CXUnaryOperator_AddrOf)
            v->is_pointed_at |= outlives_region(p);
        return;
    }
    case CXCursor_BinaryOperator:
        if (first && clang_getCursorBinaryOperatorKind(p->cursor) == CXBinaryOperator_Assign)
            add_change(v, p);
        else if (!first && clang_getCursorBinaryOperatorKind(p->cursor) == CXBinaryOperator_Comma)
            find_change(v, p);
        else if (first && clang_getCursorBinaryOperatorKind(p->cursor) == CXBinaryOperator_Shl)
            v->escapes |= v->is_generic; /* a stream's */
        return;
    case CXCursor_CompoundAssignOperator:
        if (first)
            add_change(v, p);
        return;
    case CXCursor_ConditionalOperator:
        if (!first)
            find_change(v, p);
        return;
    case CXCursor_CallExpr: find_passed(v, p, n); return;
    case CXCursor_VarDecl:
        v->escapes |= is_reference(clang_getCursorType(p->cursor)) && !v->is_array;
        return;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        v->escapes |= is_reference(clang_getCursorType(p->cursor));
        return;
    case CXCursor_ReturnStmt:
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CompoundStmt:
    case CXCursor_InitListExpr:
    case CXCursor_UnaryExpr:
    case CXCursor_CaseStmt:
    case CXCursor_CXXForRangeStmt: return;
    default: v->escapes = true;
    }
}

static node_t *scope_of(node_t *declaration)
{
    node_t *n = declaration->parent;
    while (n && n->kind != CXCursor_CompoundStmt && !tree_is_loop(n) && n->kind != CXCursor_IfStmt)
        n = n->parent;
    return n;
}

static bool find_uses(body_tree_t *b, node_t *n)
{
    if (n->kind == CXCursor_DeclRefExpr && n->variable) {
        find_change(n->variable, n);
        n->variable->is_pointed_at |= n->variable->is_array && outlives_region(n);
    }
    if (n->kind == CXCursor_VarDecl && n->variable) {
        CXCursor initial = clang_Cursor_getVarDeclInitializer(n->cursor);
        n->variable->scope = scope_of(n);
        for (node_t *c = n->child; c; c = c->next)
            if (clang_equalCursors(c->cursor, initial))
                n->variable->initializer = c;
    }
    for (node_t *c = n->child; c; c = c->next)
        if (!find_uses(b, c))
            return false;
    return true;
}

static bool is_in_collective(const node_t *n, size_t at)
{
    if (n->collective_name && at >= n->begin && at < n->end)
        return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (c->has_collective && is_in_collective(c, at))
            return true;
    return false;
}

/* Whether each word that may be a call of what meets belongs to one in the tree: libclang hides
 * some expressions. */
static bool are_all_found(body_tree_t *b, collective_of_t collective_of, const void *context)
{
    const source_t *s = b->u->source;
    lexer_t l = lexer_at(s, b->root->begin, b->root->end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_NAME || collective_of(context, token_text(s, t)) == COLLECTIVE_NONE)
            continue;
        token_t behind = token_at(b, t.end, b->root->end);
        if ((token_is(s, behind, "(") || token_is(s, behind, "<")) &&
            !is_in_collective(b->root, t.begin) && !disabled_in_source(b->u, t.begin)) {
            b->reason_at = t.begin;
            b->reason = "a call of what may meet at a barrier is not seen as one";
            return false;
        }
    }
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
    find_collectives(b, b->root, collective_of, context);
    if (!are_all_found(b, collective_of, context))
        return false;
    return find_targets(b, b->root) && find_uses(b, b->root);
}
