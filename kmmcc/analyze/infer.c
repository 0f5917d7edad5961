/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers a kernel's accesses from its code and writes them as a declaration. It covers elements of
 * parameters whose indices are affine in the thread's number.
 */
#include "analyze/infer.h"

#include <stddef.h>
#include <string.h>

#include "analyze/flow.h"
#include "analyze/guard.h"
#include "analyze/index.h"
#include "analyze/region.h"
#include "analyze/uses.h"
#include "analyze/wrap_text.h"
#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/instance.h"
#include "ir/load.h"
#include "pragma/directive.h"
#include "pragma/parse.h"
#include "pragma/pragma.h"

/* ---- Uses of a pointer ---- */

typedef struct use {
    struct use *next;
    const char *index;
    bool reads, stores, always; /* always: every thread of the range stores the whole element */
} use_t;

typedef struct search {
    infer_t *f;
    CXCursor parameter;
    const statements_t *straight;
    use_t *uses;
    bool reads; /* the kernel does not store through the parameter */
    bool whole; /* some assignment stores a whole element */
    bool fails;
    int inner_dims; /* of an element that is an array */
} search_t;

static bool names(const search_t *x, CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
           clang_equalCursors(clang_getCursorReferenced(c), x->parameter);
}

/* Finds the index of `p[e]`, `*(p + e)` or `*p`; false if the cursor is none of these. */
static bool element_of(const search_t *x, CXCursor c, index_t *index)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    cursors_t list = cursor_children(c);
    if (kind == CXCursor_ArraySubscriptExpr && list.count == 2 &&
        names(x, index_operand(list.at[0])))
        return *index = index_value(x->f, list.at[1]), true;
    if (kind != CXCursor_UnaryOperator ||
        clang_getCursorUnaryOperatorKind(c) != CXUnaryOperator_Deref || list.count != 1)
        return false;
    CXCursor inner = index_operand(list.at[0]);
    if (names(x, inner))
        return *index = index_constant("0"), true;
    list = cursor_children(inner);
    bool sum = clang_getCursorKind(inner) == CXCursor_BinaryOperator &&
               clang_getCursorBinaryOperatorKind(inner) == CXBinaryOperator_Add;
    if (sum && list.count == 2 && names(x, index_operand(list.at[0])))
        return *index = index_value(x->f, list.at[1]), true;
    return false;
}

/* A statement's choices, and whether it holds an element. */
typedef struct choices {
    CXCursor element;
    bool holds, choice;
} choices_t;

static enum CXChildVisitResult find_choice(CXCursor c, CXCursor parent, CXClientData data)
{
    choices_t *s = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    bool logical = kind == CXCursor_BinaryOperator &&
                   (clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_LAnd ||
                    clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_LOr);
    s->holds |= index_is_same(c, s->element);
    s->choice |= logical || kind == CXCursor_ConditionalOperator || kind == CXCursor_IfStmt ||
                 kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt ||
                 kind == CXCursor_SwitchStmt || kind == CXCursor_DoStmt ||
                 kind == CXCursor_LabelStmt;
    return CXChildVisit_Recurse;
}

/* True if every thread accesses the element, so that the element exists: the access is in
 * straight-line code without conditions. */
static bool is_certain(const search_t *x, CXCursor element)
{
    for (int k = 0; k < x->straight->count; k++) {
        choices_t s = {.element = element};
        find_choice(x->straight->at[k], element, &s);
        clang_visitChildren(x->straight->at[k], find_choice, &s);
        if (s.holds)
            return !s.choice;
    }
    return false;
}

/* True if the index stays in the range given by the kernel's comparisons. */
static bool is_bounded(const infer_t *f, const index_t *v)
{
    for (int d = 0; d < 3; d++)
        if ((v->sum.thread[d] || v->sum.block[d]) && !f->range[d])
            return false;
    return true;
}

/* How the expression around an element uses the element. */
typedef enum element_role { ROLE_UNKNOWN, ROLE_READ, ROLE_CHANGED, ROLE_ASSIGNED } element_role_t;

static element_role_t role_in_operator(CXCursor parent, bool first)
{
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(parent);
    if (op == CXBinaryOperator_Assign)
        return first ? ROLE_ASSIGNED : ROLE_READ;
    return op >= CXBinaryOperator_Mul && op <= CXBinaryOperator_Sub  ? ROLE_READ
           : op >= CXBinaryOperator_LT && op <= CXBinaryOperator_LOr ? ROLE_READ
                                                                     : ROLE_UNKNOWN;
}

static element_role_t role_of(CXCursor element, CXCursor parent)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(element)),
           above = clang_getCanonicalType(clang_getCursorType(parent));
    CXCursor child = cursor_first_child(parent);
    bool first = !clang_Cursor_isNull(child) && index_is_same(child, element);
    bool scalar = type.kind != CXType_ConstantArray && type.kind != CXType_Pointer;
    enum CXUnaryOperatorKind op;
    switch (clang_getCursorKind(parent)) {
    case CXCursor_BinaryOperator: return role_in_operator(parent, first);
    case CXCursor_CompoundAssignOperator: return first ? ROLE_CHANGED : ROLE_READ;
    case CXCursor_UnaryOperator:
        op = clang_getCursorUnaryOperatorKind(parent);
        return op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec ? ROLE_CHANGED
                                                                             : ROLE_UNKNOWN;
    case CXCursor_UnexposedExpr: /* the conversion of an lvalue to a value */
        return scalar && type.kind != CXType_Record && !clang_isConstQualifiedType(above) &&
                       !clang_isVolatileQualifiedType(above)
                   ? ROLE_READ
                   : ROLE_UNKNOWN;
    case CXCursor_VarDecl: return scalar && !flow_is_reference(above) ? ROLE_READ : ROLE_UNKNOWN;
    case CXCursor_CallExpr:
        return first && !strcmp(cursor_name(parent), "operator=") ? ROLE_ASSIGNED : ROLE_UNKNOWN;
    default: return ROLE_UNKNOWN;
    }
}

static void add_use(search_t *x, CXCursor element, CXCursor parent)
{
    index_t index = index_unknown;
    element_role_t role = role_of(element, parent);
    if (x->reads)
        role = ROLE_READ;
    else if (role == ROLE_UNKNOWN) /* uses_find has followed it */
        role = ROLE_CHANGED;
    element_of(x, element, &index);
    use_t *use = arena_alloc(sizeof(*use));
    *use = (use_t){.next = x->uses,
                   .index = index_text(x->f, &index),
                   .reads = role != ROLE_ASSIGNED,
                   .stores = role != ROLE_READ};
    for (int k = 0; role == ROLE_ASSIGNED && x->whole && k < x->straight->count; k++)
        use->always |= index_is_same(x->straight->at[k], parent);
    x->fails |= !use->index || !(is_bounded(x->f, &index) || is_certain(x, element));
    x->uses = use;
}

static enum CXChildVisitResult find_uses(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *x = data;
    index_t index;
    if (names(x, c)) {
        x->fails = true; /* the pointer is used other than to access an element */
    } else if (element_of(x, c, &index)) {
        add_use(x, c, parent);
        cursors_t list =
            cursor_children(c); /* the index's expression; the pointer itself has been handled */
        CXCursor inner = list.count ? list.at[list.count - 1] : c;
        if (list.count == 2)
            clang_visitChildren(inner, find_uses, x);
        else if (list.count == 1) {
            cursors_t sum = cursor_children(index_operand(inner));
            if (sum.count == 2)
                clang_visitChildren(sum.at[1], find_uses, x);
        }
        return CXChildVisit_Continue;
    }
    return x->fails ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* ---- The declaration ---- */

/* An element that is an array is accessed as a whole. */
static void add_clause(const search_t *x, text_t *out, const char *word, const char *name,
                       const char *index)
{
    text_printf(out, " %s(%s[%s]", word, name, index);
    for (int k = 0; k < x->inner_dims; k++)
        text_printf(out, "[:]");
    text_printf(out, ")");
}

/* Writes one clause for each index. The clause is `write` if all stores to the element are
 * certain, or if one is and there is no other access. */
static void write_clauses(const search_t *x, const char *name, bool certain, text_t *out)
{
    for (const use_t *use = x->uses; use; use = use->next) {
        bool stores = false, always = false, reads = false, done = false;
        for (const use_t *k = x->uses; k != use; k = k->next)
            done |= !strcmp(k->index, use->index);
        for (const use_t *k = x->uses; k; k = k->next) {
            if (strcmp(k->index, use->index) != 0)
                continue;
            stores |= k->stores;
            always |= k->always;
            reads |= k->reads;
        }
        if (!done)
            add_clause(x, out,
                       !stores                       ? "read"
                       : always && !reads && certain ? "write"
                                                     : "update",
                       name, use->index);
    }
}

/* True if clauses were added. */
static bool infer_parameter(infer_t *f, int number, const statements_t *straight, text_t *out)
{
    uses_t found;
    search_t x = {.f = f, .parameter = f->n->parameter[number], .straight = straight};
    CXType type = type_of_parameter(f->instance, number, x.parameter);
    if (clang_getCanonicalType(type).kind != CXType_Pointer)
        return false;
    bool used[3] = {f->used[0], f->used[1], f->used[2]};
    if (!uses_find(f->instance, number, &found) || !clang_Cursor_isNull(found.escaped) ||
        !clang_Cursor_isNull(found.strayed))
        return false;
    x.reads = uses_only_reads(&found);
    CXType element = type_pointee(clang_getCursorType(uses_parameter(f->instance, number)));
    x.whole = clang_Cursor_isNull(found.assigned) && !type_is_dependent(element);
    for (; type_is_array(element); element = type_pointee(element))
        x.inner_dims++;
    clang_visitChildren(f->body, find_uses, &x);
    if (x.fails || !x.uses) {
        memcpy(f->used, used, sizeof(used));
        return false;
    }
    write_clauses(&x, f->n->name[number], f->certain, out);
    return true;
}

/* Adds what the kernel's graph shows of the parameters that are left, and takes those from `left`.
 * Sets the reason of those that stay there. */
static void infer_from_graph(infer_t *f, footprint_t *x, bool *left, text_t *out,
                             const char **reason)
{
    const infer_t before = *f;
    bool agrees = region_ranges(f, x),
         mixed = !agrees || (f->strides && (before.used[0] || before.used[1] || before.used[2]));
    if (mixed)
        *f = before; /* what is inferred already holds for a launch that is bounded */
    for (int k = 0; k < f->n->count; k++) {
        if (left[k])
            reason[k] = mixed ? "a loop with the grid's stride, beside accesses without one"
                              : region_add(f, x, k, out);
        left[k] = left[k] && reason[k];
    }
}

/* True if the `reduce` clause of the parameter was added. What an atomic operation returns is not
 * even stored to a variable: the check of the clause refuses that. */
static bool infer_reduction(infer_t *f, footprint_t *x, int number, text_t *out)
{
    uses_t found;
    return x && uses_find(f->instance, number, &found) && clang_Cursor_isNull(found.result) &&
           region_reduce(f, x, number, out);
}

/* The graph of what the kernel accesses; NULL: there is none. */
static footprint_t *footprint_of(const infer_t *f, unit_t *main, const int64_t block[3])
{
    const ir_function_t *graph = ir_function_of(main, f->instance);
    return graph && graph->param_count == f->n->count ? affine_of(graph, block) : NULL;
}

static bool has_directive(const unit_t *u, CXCursor body)
{
    size_t begin, end;
    if (!unit_range(u, body, &begin, &end))
        return true;
    lexer_t l = lexer_at(u->source, begin, end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE &&
            strncmp(u->source->text + t.begin, "#pragma unroll", 14) != 0)
            return true;
    return false;
}

static bool is_taken(const declaration_t *n, const char *name)
{
    bool taken = false;
    for (int k = 0; k < n->count; k++)
        taken |= !strcmp(n->name[k], name);
    for (int k = 0; k < n->template_count; k++)
        taken |= !strcmp(n->template_name[k], name);
    return taken;
}

/* Chooses names for the axes that the kernel does not use for anything else. */
static void name_axes(infer_t *f)
{
    static const char *const names[] = {"x", "y", "z"};
    for (int d = 0; d < 3; d++)
        for (f->axis[d] = names[d]; is_taken(f->n, f->axis[d]);)
            f->axis[d] = arena_printf("%s_", f->axis[d]);
    static const char *const blocks[] = {"block_x", "block_y", "block_z"};
    for (int d = 0; d < 3; d++)
        for (f->block_axis[d] = blocks[d]; is_taken(f->n, f->block_axis[d]);)
            f->block_axis[d] = arena_printf("%s_", f->block_axis[d]);
}

/* Parses `declare kernel(axes) clauses`. */
static directive_t *parse_inferred(const infer_t *f, const char *clauses, const char *fits,
                                   const source_t **source)
{
    static const char *const sources[] = {"global.x", "global.y", "global.z"};
    text_t out = {0};
    text_printf(&out, "declare kernel(");
    bool first = true,
         bounded = f->certain && !f->strides && (f->range[0] || f->range[1] || f->range[2]);
    for (int d = 0; d < 3; d++) {
        if (!f->used[d])
            continue;
        text_printf(&out, "%s%s: %s", first ? "" : ", ", f->axis[d], sources[d]);
        if (f->range[d])
            text_printf(&out, " = 0:%s", f->range[d]);
        first = false;
    }
    for (int d = 0; d < 3; d++) {
        if (f->uses_block[d])
            text_printf(&out, "%s%s: block.%c", first ? "" : ", ", f->block_axis[d], "xyz"[d]);
        first &= !f->uses_block[d];
    }
    text_printf(&out, ")%s%s%s", clauses, bounded ? " bounded" : "", fits);
    source_t *s = source_from("what is inferred", out.data, out.length);
    *source = s;
    return parse_directive(
        s, (pragma_t){.begin = 0, .end = s->length, .content = 0, .content_end = s->length});
}

/* Says why of the wanted parameters of which nothing else is said. */
static declaration_t *infer_nothing(const bool *wanted, const char *why, const char **reason)
{
    for (int k = 0; k < MAX_PARAMETERS; k++)
        if (wanted[k] && !reason[k])
            reason[k] = why;
    return NULL;
}

declaration_t *infer_kernel(unit_t *main, CXCursor instance, const bool *wanted, range_t range,
                            const int64_t block[3], const char **reason)
{
    CXCursor definition = instance_code(instance);
    unit_t *u = unit_holding(main, definition);
    CXCursor body = cursor_body(definition);
    text_t clauses = {0}, reduced = {0}, fits = {0};
    text_add(&fits, "", 0);
    bool left[MAX_PARAMETERS], any_left = false;
    if (!u || clang_Cursor_isNull(body))
        return infer_nothing(wanted, "the kernel's code is in a file that is not looked at",
                             reason);
    if (has_directive(u, body))
        return infer_nothing(wanted, "the kernel's code has preprocessor directives", reason);
    infer_t f = {.u = u,
                 .n = declaration_of_kernel(u, NULL, definition),
                 .body = body,
                 .instance = instance,
                 .certain = range == RANGE_INFERRED};
    statements_t *straight = arena_alloc(sizeof(*straight));
    name_axes(&f);
    guard_straight(&f, body, straight, 0);
    footprint_t *x = footprint_of(&f, main, block);
    for (int k = 0; k < f.n->count; k++) {
        left[k] = wanted[k] && !infer_reduction(&f, x, k, &reduced) &&
                  !infer_parameter(&f, k, straight, &clauses);
        any_left |= left[k];
    }
    if (any_left && x)
        infer_from_graph(&f, x, left, &clauses, reason);
    text_add(&clauses, reduced.length ? reduced.data : "", reduced.length);
    for (int k = 0; k < f.n->count; k++)
        left[k] = wanted[k] && !left[k];
    if (!clauses.length)
        return infer_nothing(wanted, "the kernel's code does not show its elements", reason);
    const char *why = x ? wrap_text(&f, x, left, &fits) : NULL;
    if (why)
        return infer_nothing(wanted, why, reason);
    const source_t *s;
    directive_t *d = parse_inferred(&f, clauses.data, fits.data, &s);
    if (!d)
        return infer_nothing(wanted, "clauses cannot express what it accesses", reason);
    declaration_t *n = declaration_of_kernel(u, d, definition);
    n->s = s;
    return n;
}
