/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a function as the block runs it. Statements without barriers are gathered into
 * regions, each a loop over the threads; a region ends at a barrier. Statements around barriers
 * become the block's own: with a condition that is the same for all threads as they are, else by
 * the states of the threads (include/kmm/host/kmm_block.h).
 *
 * It is written three times: what the first two find out makes the last one simpler.
 */
#include "cpu/split.h"

#include <limits.h>
#include <string.h>

#include <kmm/host/kmm_flags.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"

enum { MAX_BOUND = 256, MAX_NUMBER = 250, MAX_UNROLLED = 16, MAX_SHORT = 80, MANY_REGIONS = 40 };

typedef struct emitter {
    const split_t *s;
    body_tree_t b;
    int pass; /* 0: which variables cross regions; 1: whether states are needed; 2: the text */
    text_t out, region; /* region: the statements of the one that is open */
    bool is_open, changes_state;
    text_t generic; /* types that depend on a template's arguments: that holds only where they are
                       numbers */
    bool is_independent; /* no thread of the region that is open uses what another one changes:
                      kmm_launch.h */
    bool is_short;       /* the region that is open does little */
    bool is_counted; /* the region that is open finds memory by an unsigned number that counts along
                        the block */
    bool has_exact; /* kmm_exact says whether the bounds of the region that is open are all there is
                       to its condition */
    bool has_stored, has_strides,
        reads_after_store;     /* of the region that is open: memory has been stored
                           to; is used in steps; is read after a store */
    const variable_t *counter; /* of the loop with a stride that the region is in; NULL: none */
    const char *limits; /* statements that limit kmm_p, the threads that the region that is open
                         concerns; NULL: all */
    variable_t *bound[MAX_BOUND];
    int bound_count;
    int region_number, last_region, loop_depth; /* last_region: as the pass before found it */
    bool is_divergent;              /* inside a branch or loop that some threads do not run */
    const node_t *thread_condition; /* the condition of a branch around that depends on nothing but
                              the thread's place */
    bool is_masked;                 /* some statement changes states */
    bool is_sized;                  /* the text is for blocks of the size s->extent */
    bool gains_by_size;             /* that makes some loops' lengths known */
    bool has_static;                /* a variable of the program's that there is only one of */
    int numbers, collective_count;
    edit_t *edit; /* of the body's text */
    int edit_count, edit_capacity;
} emitter_t;

static bool emitter_fail(emitter_t *e, const node_t *n, const char *reason)
{
    return tree_fail(&e->b, n, reason);
}

/* ---- Text of the source with edits ---- */

static void edits_add(emitter_t *e, size_t begin, size_t end, const char *text)
{
    e->edit = arena_grow(e->edit, e->edit_count, &e->edit_capacity, sizeof(*e->edit));
    e->edit[e->edit_count] = (edit_t){begin, end, text, e->edit_count};
    e->edit_count++;
}

/* The outermost edit that begins first in [begin, end). */
static const edit_t *next_edit(const emitter_t *e, size_t begin, size_t end)
{
    const edit_t *best = NULL;
    for (int k = 0; k < e->edit_count; k++) {
        const edit_t *x = &e->edit[k];
        if (x->begin < begin || x->end > end || (x->begin == end && x->begin != begin))
            continue;
        if (!best || x->begin < best->begin || (x->begin == best->begin && x->end > best->end))
            best = x;
    }
    return best;
}

static const char *edits_copy(const emitter_t *e, size_t begin, size_t end)
{
    text_t out = {0};
    const char *source = e->s->u->source->text;
    text_add(&out, "", 0);
    for (const edit_t *x = next_edit(e, begin, end); x; x = next_edit(e, begin, end)) {
        text_add(&out, source + begin, x->begin - begin);
        text_add(&out, x->text, strlen(x->text));
        begin = x->end > x->begin ? x->end : x->begin + 1;
        if (x->end == x->begin)
            text_add(&out, source + x->begin, 1);
    }
    if (end > begin)
        text_add(&out, source + begin, end - begin);
    return out.data;
}

static const char *edits_copy_node(const emitter_t *e, const node_t *n)
{
    return edits_copy(e, n->begin, n->end);
}

static const char *edits_line(const emitter_t *e, size_t at)
{
    return source_line_marker(e->s->u->source, source_line(e->s->u->source, at));
}

/* Whether preprocessor conditions in the text begin and end in it. */
static bool preprocessor_is_balanced(emitter_t *e, const node_t *n, size_t begin, size_t end)
{
    const source_t *s = e->s->u->source;
    lexer_t l = lexer_at(s, begin, end);
    int depth = 0;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_t inner = lexer_at(s, t.begin, t.end);
        inner.line_start = false;
        lex(&inner);
        token_t word = lex(&inner);
        bool opens =
            token_is(s, word, "if") || token_is(s, word, "ifdef") || token_is(s, word, "ifndef");
        bool turns = token_is(s, word, "else") || token_is(s, word, "elif");
        depth += opens - token_is(s, word, "endif");
        if (depth < 0 || (turns && depth == 0))
            return emitter_fail(e, n, "a preprocessor line divides a statement");
    }
    return depth == 0 || emitter_fail(e, n, "a preprocessor line divides a statement");
}

/* ---- Types ---- */

/* clang spells such types without the namespaces that the place needs. */
static bool is_deduced(CXType type)
{
    return type.kind == CXType_Auto ||
           (type.kind == CXType_Pointer && is_deduced(clang_getPointeeType(type)));
}

static const char *declarator_type(emitter_t *e, const variable_t *v)
{
    const char *text =
        clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(clang_getCursorType(v->cursor))));
    const node_t *n = v->declaration;
    if (strstr(text, "(lambda") || strstr(text, "(unnamed") || strstr(text, "(anonymous")) {
        emitter_fail(e, n, "a variable's type has no name");
        return "int";
    }
    if (is_deduced(clang_getCursorType(v->cursor)) || !strncmp(text, "auto", 4) ||
        !strncmp(text, "decltype", 8)) {
        if (!v->initializer || text[4] == ' ') {
            emitter_fail(e, n, "a variable's type is not known");
            return "int";
        }
        return arena_printf("kmm_host_decay<decltype(%s)>", edits_copy_node(e, v->initializer));
    }
    return text;
}

static bool declarator_is_const(const variable_t *v)
{
    return clang_isConstQualifiedType(clang_getCursorType(v->cursor));
}

static const char *declarator_values(const variable_t *v)
{
    return arena_printf("kmm_v%d", v->number);
}

/* The text behind the name in a declaration. */
static const char *declarator_suffix(emitter_t *e, const variable_t *v)
{
    unsigned offset;
    const source_t *s = e->s->u->source;
    clang_getFileLocation(clang_getCursorLocation(v->cursor), NULL, NULL, NULL, &offset);
    size_t at = unit_offset(e->s->u, offset);
    lexer_t l = lexer_at(s, at, v->declaration->end);
    l.line_start = false;
    token_t t = lex(&l);
    if (!token_is(s, t, v->name)) {
        emitter_fail(e, v->declaration, "a declaration comes from a macro");
        return "";
    }
    bool is_next = true;
    int depth = 0;
    for (t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (depth == 0 && (token_is(s, t, "=") || token_is(s, t, "{")))
            return edits_copy(e, t.begin, v->declaration->end);
        if (is_next && token_is(s, t, "("))
            return edits_copy(e, t.begin, v->declaration->end);
        is_next = false;
        depth +=
            token_is(s, t, "(") + token_is(s, t, "[") - token_is(s, t, ")") - token_is(s, t, "]");
    }
    return "";
}

/* ---- Counting along the block ---- */

static const node_t *tree_stripped(const node_t *n)
{
    while (n && n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr ||
            n->kind == CXCursor_CStyleCastExpr))
        n = n->child;
    return n;
}

/* Without parentheses and what is converted by itself. */
static const node_t *tree_bare(const node_t *n)
{
    while (n && n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr))
        n = n->child;
    return n;
}

static bool is_index_type(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_Int || kind == CXType_UInt || kind == CXType_Long ||
           kind == CXType_ULong || kind == CXType_LongLong || kind == CXType_ULongLong;
}

/* An unsigned number of 32 bits that may have come to 0 again, so that what is made of it as 64
 * bits does not count on: it is a difference, or a number with a sign is part of it. */
static bool is_not_negative(const node_t *n)
{
    CXEvalResult value = clang_Cursor_Evaluate(n->cursor);
    const bool is = value && clang_EvalResult_getKind(value) == CXEval_Int &&
                    clang_EvalResult_getAsLongLong(value) >= 0 &&
                    clang_EvalResult_getAsLongLong(value) <= INT_MAX;
    if (value)
        clang_EvalResult_dispose(value);
    return is;
}
static bool is_launch_index(const node_t *n)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};
    const node_t *base =
        n->kind == CXCursor_MemberRefExpr && n->child ? tree_stripped(n->child) : NULL;
    return base && base->kind == CXCursor_DeclRefExpr && !base->variable &&
           text_is_one_of(clang_text(clang_getCursorSpelling(base->cursor)), names);
}
static bool may_wrap(const node_t *n)
{
    const CXType type = clang_getCanonicalType(clang_getCursorType(n->cursor));
    const enum CXBinaryOperatorKind kind = n->kind == CXCursor_BinaryOperator
                                               ? clang_getCursorBinaryOperatorKind(n->cursor)
                                               : CXBinaryOperator_Invalid;
    if (is_launch_index(n) || is_not_negative(n))
        return false;
    if (kind == CXBinaryOperator_Add)
        return may_wrap(n->child) || may_wrap(n->last);
    if (kind != CXBinaryOperator_Invalid)
        return kind == CXBinaryOperator_Sub; /* products and what is smaller than an operand are
                                                taken for sizes */
    if (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr ||
        n->kind == CXCursor_CStyleCastExpr)
        return n->child && may_wrap(n->child);
    if (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->initializer &&
        !n->variable->change_count && type.kind == CXType_UInt)
        return may_wrap(n->variable->initializer);
    return true;
}

static bool widens(const node_t *n)
{
    const CXType type = clang_getCanonicalType(clang_getCursorType(n->cursor));
    return n->child && clang_Type_getSizeOf(type) == 8 &&
           clang_getCanonicalType(clang_getCursorType(n->child->cursor)).kind == CXType_UInt;
}

/* "x": the expression is threadIdx.x plus what is the same for all threads; "y" likewise; NULL:
 * neither. */
static const char *axis_of(const emitter_t *e, const node_t *n)
{
    for (const node_t *inner = tree_stripped(n); n != inner; n = n->child)
        if ((n->kind == CXCursor_CStyleCastExpr &&
             !is_index_type(clang_getCursorType(n->cursor))) ||
            (widens(n) && may_wrap(n->child)))
            return NULL;
    if (!n || !is_index_type(clang_getCursorType(n->cursor)))
        return NULL;
    if (n->kind == CXCursor_DeclRefExpr && n->variable &&
        n->variable->storage == STORAGE_RECOMPUTED && !n->variable->is_reference)
        return axis_of(e, n->variable->initializer);
    if (n->kind == CXCursor_BinaryOperator) {
        enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
        if ((kind == CXBinaryOperator_Add || kind == CXBinaryOperator_Sub) &&
            uniformity_of(&e->b, n->last) == UNIFORM)
            return axis_of(e, n->child);
        return kind == CXBinaryOperator_Add && uniformity_of(&e->b, n->child) == UNIFORM
                   ? axis_of(e, n->last)
                   : NULL;
    }
    if (n->kind != CXCursor_MemberRefExpr || !n->child)
        return NULL;
    const node_t *base = tree_stripped(n->child);
    const char *member = clang_text(clang_getCursorSpelling(n->cursor));
    bool is_thread = base && base->kind == CXCursor_DeclRefExpr && !base->variable &&
                     !strcmp(clang_text(clang_getCursorSpelling(base->cursor)), "threadIdx");
    return is_thread && !strcmp(member, "x") ? "x" : is_thread && !strcmp(member, "y") ? "y" : NULL;
}

/*
 * The direction along which a variable that is declared again counts. It is then written as its
 * value for the block's first thread plus a signed number, as compilers do not see that CUDA's
 * unsigned sums do not wrap within a block, and would gather what lies side by side.
 */
static const char *axis_known(const emitter_t *e, const variable_t *v)
{
    if (v->storage != STORAGE_RECOMPUTED || v->is_reference || !v->initializer ||
        !is_index_type(clang_getCursorType(v->cursor)))
        return NULL;
    return axis_of(e, v->initializer);
}

static const char *axis_possible(const emitter_t *e, const variable_t *v);

static const char *axis_of_variable(const emitter_t *e, const variable_t *v)
{
    const char *axis = axis_known(e, v);
    return axis                                                   ? axis
           : v->storage == STORAGE_RECOMPUTED && !v->is_reference ? axis_possible(e, v)
                                                                  : NULL;
}

static bool is_plain_unsigned(const variable_t *v)
{
    return clang_getCanonicalType(clang_getCursorType(v->cursor)).kind == CXType_UInt;
}

/* Whether it may come to 0 again within the block: where it is seen not to, kmm_small says so. */
static bool axis_may_wrap(const emitter_t *e, const variable_t *v)
{
    return is_plain_unsigned(v) || !axis_known(e, v);
}

/* ---- Counting that is looked at when the block runs ---- */

/* An integer's type, or one that may be: a template's parameter and what is made of it. With
 * numbers of a byte the first and the last thread do not tell what lies between. */
static bool may_be_number(CXType type)
{
    const enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return is_index_type(type) || kind == CXType_Short || kind == CXType_UShort ||
           kind == CXType_Dependent || kind == CXType_Unexposed;
}

static bool is_known_number(CXType type)
{
    const CXType canonical = clang_getCanonicalType(type);
    return canonical.kind >= CXType_Bool && canonical.kind <= CXType_LongLong;
}

/* The operand of a conversion that is written or not; NULL: the expression is none. Types have
 * nodes of their own. */
static const node_t *converted(const node_t *n)
{
    switch ((int)n->kind) {
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr: return n->child == n->last ? n->child : NULL;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        return n->last && clang_isExpression(n->last->kind) ? n->last : NULL;
    default: return NULL;
    }
}

/* `, decltype(n)` where only an instance of the template tells whether that is an integer. */
static void axis_add_dependent(const emitter_t *e, const node_t *n, text_t *types)
{
    if (!is_known_number(clang_getCursorType(n->cursor)) && n->end > n->begin)
        text_printf(types, ", decltype(%s)", edits_copy_node(e, n));
}

/* Whether the expression is threadIdx.x plus what is the same for all threads but for the types in
 * between, where it may begin at 0 again, or be no number: "x", "y" or NULL. What must be integers
 * is added to `types`. */
static const char *axis_possible_of(const emitter_t *e, const node_t *n, text_t *types)
{
    for (const node_t *inner = converted(n); inner; n = inner, inner = converted(n)) {
        if (!may_be_number(clang_getCursorType(n->cursor)))
            return NULL;
        axis_add_dependent(e, n, types);
    }
    if (!may_be_number(clang_getCursorType(n->cursor)))
        return NULL;
    axis_add_dependent(e, n, types);
    if (n->kind == CXCursor_DeclRefExpr && n->variable &&
        n->variable->storage == STORAGE_RECOMPUTED && !n->variable->is_reference)
        return axis_possible_of(e, n->variable->initializer, types);
    if (n->kind != CXCursor_BinaryOperator)
        return axis_of(e, n);
    enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
    if (kind != CXBinaryOperator_Add && kind != CXBinaryOperator_Sub)
        return NULL;
    const bool is_first = uniformity_of(&e->b, n->last) == UNIFORM;
    const node_t *other = is_first ? n->last : n->child;
    if ((!is_first && kind == CXBinaryOperator_Sub) || uniformity_of(&e->b, other) != UNIFORM ||
        !may_be_number(clang_getCursorType(other->cursor)))
        return NULL;
    axis_add_dependent(e, other, types);
    return axis_possible_of(e, is_first ? n->child : n->last, types);
}

static const char *axis_possible(const emitter_t *e, const variable_t *v)
{
    text_t types = {0};
    return v->initializer && may_be_number(clang_getCursorType(v->cursor))
               ? axis_possible_of(e, v->initializer, &types)
               : NULL;
}

/* The types that must be integers for that, the variable's first. */
static const char *axis_types(emitter_t *e, const variable_t *v)
{
    text_t types = {0};
    text_printf(&types, "kmm_host_as<%s>", declarator_type(e, v));
    axis_possible_of(e, v->initializer, &types);
    return types.data;
}

/* Declarations of what is made of the thread's place in an expression. */
static void add_recomputed(emitter_t *e, const node_t *n, text_t *out)
{
    const variable_t *v = n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
    if (v && v->storage == STORAGE_RECOMPUTED && !v->is_reference) {
        add_recomputed(e, v->initializer, out);
        const char *text = arena_printf("const kmm_host_as<%s> %s __attribute__((unused)) %s; ",
                                        declarator_type(e, v), v->name, declarator_suffix(e, v));
        if (!out->data || !strstr(out->data, text))
            text_add(out, text, strlen(text));
    }
    for (const node_t *c = n->child; c; c = c->next)
        add_recomputed(e, c, out);
}

/* What the variable is for the block's last thread. */
static const char *axis_last_value(emitter_t *e, const variable_t *v)
{
    text_t places = {0};
    add_recomputed(e, v->initializer, &places);
    const char *type = declarator_type(e, v);
    return arena_printf("[&](const uint3 threadIdx __attribute__((unused))) -> kmm_host_as<%s> { "
                        "%skmm_host_as<%s> kmm_value %s; return kmm_value; }"
                        "(kmm_host_last_place(kmm_e))",
                        type, places.data ? places.data : "", type, declarator_suffix(e, v));
}

/* Whether memory may be found by the expression. */
static bool may_index_memory(const node_t *n)
{
    for (const node_t *p = n->parent; p && !clang_isStatement(p->kind); n = p, p = p->parent)
        if ((p->kind == CXCursor_ArraySubscriptExpr && p->last == n) ||
            p->kind == CXCursor_CallExpr || p->kind == CXCursor_VarDecl ||
            (p->kind == CXCursor_BinaryOperator &&
             clang_getCanonicalType(clang_getCursorType(p->cursor)).kind == CXType_Pointer))
            return true;
    return false;
}

/* ---- Variables in regions ---- */

static void name_in_block(node_t *n)
{
    if (n->variable) {
        n->variable->is_named_by_block = true;
        if (n->variable->storage == STORAGE_RECOMPUTED && n->kind == CXCursor_DeclRefExpr)
            name_in_block(n->variable->initializer);
    }
    for (node_t *c = n->child; c; c = c->next)
        name_in_block(c);
}

static void region_bind(emitter_t *e, variable_t *v)
{
    for (int k = 0; k < e->bound_count; k++)
        if (e->bound[k] == v)
            return;
    for (int k = 0; k < e->bound_count; k++)
        if (!strcmp(e->bound[k]->name, v->name)) {
            emitter_fail(e, v->declaration, "two variables of one name are used together");
            return;
        }
    if (e->bound_count == MAX_BOUND)
        emitter_fail(e, v->declaration, "it has too many variables");
    else
        e->bound[e->bound_count++] = v;
}

/* Whether the expression that names the variable is what an assignment or step changes. */
static bool is_changed_by(const variable_t *v, const node_t *name)
{
    const node_t *p = name->parent;
    while (p && (p->kind == CXCursor_UnexposedExpr || p->kind == CXCursor_ParenExpr))
        p = p->parent;
    for (int k = 0; k < v->change_count; k++)
        if (v->change[k] == p)
            return true;
    return false;
}

static void region_note_uses(emitter_t *e, const node_t *n)
{
    variable_t *v = n->variable;
    if (v && n->kind == CXCursor_DeclRefExpr && v->is_block_level) {
        if (v->storage == STORAGE_RECOMPUTED) {
            e->is_counted |= axis_of_variable(e, v) && axis_may_wrap(e, v) && may_index_memory(n);
            region_bind(e, v);
            region_note_uses(e, v->initializer);
        } else if (v->storage == STORAGE_THREAD && v->region != e->region_number) {
            v->crosses_regions = true;
            region_bind(e, v);
            if (is_changed_by(v, n))
                v->changed_in = e->region_number;
        }
    }
    for (const node_t *c = n->child; c; c = c->next)
        region_note_uses(e, c);
}

/* A number that nothing points to. */
static bool is_at_home(const variable_t *v)
{
    const enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(v->cursor)).kind;
    return kind >= CXType_Char_U && kind <= CXType_LongDouble && !v->escapes && !v->is_pointed_at;
}

static void add_binding(emitter_t *e, const variable_t *v)
{
    const char *axis = v->storage == STORAGE_RECOMPUTED ? axis_of_variable(e, v) : NULL;
    const bool is_sure = axis && axis_known(e, v);
    if (axis && !is_sure && e->is_counted)
        text_printf(&e->out,
                    "const kmm_host_as<%s> %s __attribute__((unused)) = "
                    "kmm_host_counted_or(kmm_small, kmm_i%d, (int)threadIdx.%s, [&]() "
                    "__attribute__((always_inline)) -> kmm_host_as<%s> { kmm_host_as<%s> kmm_value "
                    "%s; return kmm_value; }); ",
                    declarator_type(e, v), v->name, v->number, axis, declarator_type(e, v),
                    declarator_type(e, v), declarator_suffix(e, v));
    else if (is_sure && axis_may_wrap(e, v) && e->is_counted)
        text_printf(&e->out,
                    "const kmm_host_as<%s> %s __attribute__((unused)) = "
                    "kmm_host_counted(kmm_small, kmm_i%d, (int)threadIdx.%s); ",
                    declarator_type(e, v), v->name, v->number, axis);
    else if (is_sure && !axis_may_wrap(e, v))
        text_printf(
            &e->out,
            "const kmm_host_as<%s> %s __attribute__((unused)) = kmm_i%d + (int)threadIdx.%s; ",
            declarator_type(e, v), v->name, v->number, axis);
    else if (v->storage == STORAGE_RECOMPUTED)
        text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s; ",
                    declarator_is_const(v) ? "const " : "", declarator_type(e, v), v->name,
                    declarator_suffix(e, v));
    else if (v->changed_in == e->region_number && is_at_home(v))
        text_printf(&e->out,
                    "kmm_host_home<%s> kmm_h%d(%s[kmm_t]); kmm_host_as<%s> &%s "
                    "__attribute__((unused)) = kmm_h%d.value; ",
                    declarator_type(e, v), v->number, declarator_values(v), declarator_type(e, v),
                    v->name, v->number);
    else
        text_printf(&e->out, "%skmm_host_as<%s> &%s __attribute__((unused)) = %s[kmm_t]; ",
                    declarator_is_const(v) ? "const " : "", declarator_type(e, v), v->name,
                    declarator_values(v));
}

/* ---- Regions ---- */

static void region_open(emitter_t *e)
{
    if (e->is_open)
        return;
    e->is_open = true;
    e->region_number++;
    e->region = e->generic = (text_t){0};
    e->bound_count = 0;
    e->changes_state = false;
    e->is_independent = !e->s->flags;
    e->is_short = e->is_counted = e->has_exact = false;
    e->has_stored = e->has_strides = e->reads_after_store = false;
    e->limits = NULL;
    e->counter = NULL;
}

/* Whether all unsigned numbers that count along the block in the region are small, as an argument.
 */
static const char *small_text(const emitter_t *e)
{
    text_t out = {0};
    text_printf(&out, ", %s", e->has_exact ? "kmm_exact" : "true");
    if (e->counter)
        text_printf(&out, " && kmm_host_is_small(kmm_i%d, kmm_e.x)", e->counter->number);
    for (int k = 0; k < e->bound_count; k++) {
        const char *axis = axis_may_wrap(e, e->bound[k]) ? axis_of_variable(e, e->bound[k]) : NULL;
        if (axis && !axis_known(e, e->bound[k]))
            text_printf(&out, " && kmm_counts%d", e->bound[k]->number);
        if (axis)
            text_printf(&out, " && kmm_host_is_small(kmm_i%d, kmm_e.%s)", e->bound[k]->number,
                        axis);
    }
    text_printf(&out, ", KMM_HOST_EACH_COUNTED");
    return out.data;
}

/* What the headers must know of the open region, as KMM_HOST_... */
static int region_flags(const emitter_t *e)
{
    int flags = e->s->flags;
    if (e->is_independent)
        flags |= KMM_HOST_APART;
    else if (e->is_short)
        flags |= KMM_HOST_SHORT;
    if (e->is_independent && e->reads_after_store && e->has_strides)
        flags |= KMM_HOST_CROSSED;
    return flags;
}

/* The call that is the loop over the threads, up to the lambda's `{`. */
static void open_loop(emitter_t *e)
{
    const char *const loop = e->is_masked
                                 ? e->is_counted ? "kmm_b.each_counted" : "kmm_b.each_active"
                             : e->is_counted ? "kmm_host_each_counted"
                                             : "kmm_host_each",
                      *const far = e->last_region > MANY_REGIONS ? "_far" : "",
                      *const threads = e->limits ? "kmm_p" : "kmm_host_whole(kmm_e)",
                      *const lambda = e->is_counted ? small_text(e) : ", KMM_HOST_EACH";
    const char *flags = arena_printf("%d", region_flags(e));
    if (e->generic.length && e->is_independent)
        flags = arena_printf("kmm_host_apart_if<%s>(%s)", e->generic.data, flags);
    text_printf(&e->out, "\n%s%s<%s>(kmm_e, %s%s { ", loop, far, flags, threads, lambda);
}

/* In the order of their declarations, as one may use another. */
static void add_bindings(emitter_t *e)
{
    for (int number = 0; number < e->b.variable_count; number++)
        for (int k = 0; k < e->bound_count; k++)
            if (e->bound[k]->number == number)
                add_binding(e, e->bound[k]);
}

static void region_close(emitter_t *e)
{
    if (!e->is_open)
        return;
    e->is_open = false;
    if (e->limits)
        text_printf(&e->out, "\n{ kmm_host_part kmm_p = kmm_host_whole(kmm_e); %s", e->limits);
    open_loop(e);
    if (e->has_exact)
        text_printf(&e->out, "const bool kmm_sure = %skmm_exact; ",
                    e->is_counted ? "kmm_small || " : "");
    add_bindings(e);
    text_add(&e->out, e->region.data ? e->region.data : "", e->region.length);
    text_printf(&e->out, " });%s\n", e->limits ? " }" : "");
    if (e->changes_state)
        text_printf(&e->out, "kmm_b.update();\n");
}

static void region_change_state(emitter_t *e)
{
    e->changes_state = e->is_masked = true;
}

/* ---- Jumps of single threads ---- */

static const char *jump_result(const emitter_t *e, const node_t *jump)
{
    if (!jump->child)
        return "";
    const node_t *value = tree_stripped(jump->child);
    bool is_list = value->kind == CXCursor_BinaryOperator &&
                   clang_getCursorBinaryOperatorKind(value->cursor) == CXBinaryOperator_Comma;
    if (clang_getCanonicalType(clang_getCursorResultType(e->s->function)).kind == CXType_Void)
        return arena_printf("%s; ", edits_copy_node(e, jump->child));
    return arena_printf(is_list ? "kmm_result.give(kmm_t, (%s)); " : "kmm_result.give(kmm_t, %s); ",
                        edits_copy_node(e, jump->child));
}

static bool jump_leaves_region(const node_t *jump)
{
    return jump->kind == CXCursor_ReturnStmt ||
           (jump->target && jump->target->has_collective &&
            (tree_is_loop(jump->target) || jump->target->kind == CXCursor_SwitchStmt));
}

static int jump_state(const emitter_t *e, const node_t *jump)
{
    if (jump->kind == CXCursor_ReturnStmt)
        return e->s->is_kernel ? KMM_HOST_GONE : KMM_HOST_RETURNED;
    return jump->target->number + (jump->kind == CXCursor_ContinueStmt);
}

/* A jump in a region ends it for the thread; one that leads out of it also changes the thread's
 * state. */
static void jump_edit_all(emitter_t *e, const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr)
        return;
    for (const node_t *c = n->child; c; c = c->next)
        jump_edit_all(e, c);
    bool jumps = n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
                 n->kind == CXCursor_ContinueStmt;
    if (!jumps || !jump_leaves_region(n))
        return;
    bool ends = n->kind == CXCursor_ReturnStmt && e->pass > 0 &&
                e->region_number == e->last_region && e->loop_depth == 0;
    const char *state = ends ? "" : arena_printf("kmm_b.state[kmm_t] = %d; ", jump_state(e, n));
    if (!ends)
        region_change_state(e);
    edits_add(e, n->begin, statement_end(&e->b, n),
              arena_printf("{ %s%sreturn; }", jump_result(e, n), state));
}

/* ---- Statements of single threads ---- */

/* The lines with these words in a part of the source where no statement is. */
static const char *lines_between(emitter_t *e, size_t begin, size_t end, const char *const *words)
{
    const source_t *s = e->s->u->source;
    lexer_t l = lexer_at(s, begin, end > begin ? end : begin);
    text_t out = {0};
    text_add(&out, "", 0);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_t inner = lexer_at(s, t.begin, t.end);
        inner.line_start = false;
        lex(&inner);
        if (text_is_one_of(token_text(s, lex(&inner)), words))
            text_printf(&out, "\n%s\n", token_text(s, t));
    }
    return out.data;
}

static const char *const definitions[] = {"define", "undef", NULL};

static size_t end_before(const emitter_t *e, const node_t *n)
{
    const node_t *before = NULL;
    for (const node_t *c = n->parent->child; c && c != n; c = c->next)
        before = c;
    return before ? statement_end(&e->b, before) : n->parent->begin + 1;
}

static void preprocessor_add_definitions(emitter_t *e, size_t begin, size_t end)
{
    const char *lines = lines_between(e, begin, end, definitions);
    if (*lines)
        text_printf(e->is_open ? &e->region : &e->out, "%s", lines);
}

static void preprocessor_add_pragmas(emitter_t *e, const node_t *n)
{
    static const char *const pragmas[] = {"pragma", NULL};
    if (n->parent && n->parent->kind == CXCursor_CompoundStmt)
        text_printf(&e->region, "%s", lines_between(e, end_before(e, n), n->begin, pragmas));
}

static void region_add(emitter_t *e, const node_t *n, const char *text)
{
    text_printf(&e->region, "\n%s\n%s", edits_line(e, n->begin), text);
}

static bool can_copy_statement(emitter_t *e, const node_t *n)
{
    if (n->end <= n->begin)
        return emitter_fail(e, n->parent, "a statement comes from a macro");
    const node_t *p = n->parent;
    for (const node_t *c = p ? p->child : NULL; c && c->next; c = c->next)
        if (p->kind == CXCursor_CompoundStmt && c->next == n && n->begin < c->end)
            return emitter_fail(e, n, "a macro has several statements");
    return preprocessor_is_balanced(e, n, n->begin, statement_end(&e->b, n));
}

/* ---- Atomics of shared memory ---- */

/* The variable whose memory the address is in; NULL if that is not seen. */
static const variable_t *memory_variable(const node_t *n)
{
    n = tree_stripped(n);
    while (n && n->child) {
        enum CXBinaryOperatorKind kind = n->kind == CXCursor_BinaryOperator
                                             ? clang_getCursorBinaryOperatorKind(n->cursor)
                                             : CXBinaryOperator_Invalid;
        bool goes_on = n->kind == CXCursor_ArraySubscriptExpr || kind == CXBinaryOperator_Add ||
                       kind == CXBinaryOperator_Sub ||
                       (n->kind == CXCursor_UnaryOperator &&
                        clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_AddrOf) ||
                       (n->kind == CXCursor_MemberRefExpr &&
                        clang_getCursorType(n->child->cursor).kind != CXType_Pointer);
        if (!goes_on)
            return NULL;
        n = tree_stripped(n->child);
    }
    return n && n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
}

static bool memory_is_shared_atomic(const node_t *n)
{
    static const char *const names[] = {"atomicAdd", "atomicSub",  "atomicMin",
                                        "atomicMax", "atomicAnd",  "atomicOr",
                                        "atomicXor", "atomicExch", NULL};
    node_t *argument[2];
    if (n->kind != CXCursor_CallExpr || !text_is_one_of(call_name(n), names) ||
        call_arguments(n, argument, 2) != 2)
        return false;
    const variable_t *v = memory_variable(argument[0]);
    return v && v->storage == STORAGE_SHARED && v->is_array;
}

/* A block's shared memory is used by one thread of the CPU: there nothing needs to be atomic. */
static void memory_edit_atomics(emitter_t *e, const node_t *n)
{
    for (node_t *c = n->child; c; c = c->next)
        memory_edit_atomics(e, c);
    const char *name = memory_is_shared_atomic(n) ? call_name(n) : NULL;
    if (name && !strncmp(e->s->u->source->text + n->begin, name, strlen(name)))
        edits_add(e, n->begin, n->begin + strlen(name), arena_printf("kmm_host_alone::%s", name));
}

typedef struct bounds {
    text_t limits, exact;
    bool is_complete;
} bounds_t;

static void name_in_block(node_t *n);

/* The variable that the expression is, if only the block that runs tells whether it counts. */
static const variable_t *axis_checked_at_run(const emitter_t *e, const node_t *n)
{
    n = tree_bare(n);
    const variable_t *v = n && n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
    return v && v->storage == STORAGE_RECOMPUTED && !v->is_reference && v->is_block_level &&
                   !axis_known(e, v) && axis_possible(e, v)
               ? v
               : NULL;
}

static void add_limit(emitter_t *e, bounds_t *b, node_t *thread, node_t *other, const char *axis,
                      enum CXBinaryOperatorKind kind)
{
    const char *pair =
        arena_printf("%s, %s", edits_copy_node(e, thread), edits_copy_node(e, other));
    const variable_t *looked_at = axis_checked_at_run(e, thread);
    name_in_block(thread);
    if (looked_at) {
        text_printf(&b->limits, "if (kmm_counts%d) { ", looked_at->number);
        text_printf(&b->exact, " && kmm_counts%d", looked_at->number);
    }
    if (kind == CXBinaryOperator_GT || kind == CXBinaryOperator_GE || kind == CXBinaryOperator_EQ)
        text_printf(&b->limits, "kmm_p.from_%s(kmm_host_from%s(%s, kmm_e.%s)); ", axis,
                    kind == CXBinaryOperator_GT ? "_behind" : "", pair, axis);
    if (kind != CXBinaryOperator_GT && kind != CXBinaryOperator_GE)
        text_printf(&b->limits, "kmm_p.to_%s(kmm_host_below%s(%s, kmm_e.%s)); ", axis,
                    kind == CXBinaryOperator_LT ? "" : "_or_at", pair, axis);
    text_printf(&b->limits, looked_at ? "} " : "");
    text_printf(&b->exact, " && kmm_host_exact(%s, kmm_e.%s)", pair, axis);
}

static const char *bounded_axis(const emitter_t *e, const node_t *n)
{
    const variable_t *v = axis_checked_at_run(e, n);
    return v ? axis_of_variable(e, v) : axis_of(e, n);
}

static enum CXBinaryOperatorKind negated(enum CXBinaryOperatorKind kind)
{
    switch ((int)kind) {
    case CXBinaryOperator_LT: return CXBinaryOperator_GE;
    case CXBinaryOperator_GE: return CXBinaryOperator_LT;
    case CXBinaryOperator_GT: return CXBinaryOperator_LE;
    case CXBinaryOperator_LE: return CXBinaryOperator_GT;
    case CXBinaryOperator_NE: return CXBinaryOperator_EQ;
    default: return CXBinaryOperator_Invalid;
    }
}

static enum CXBinaryOperatorKind mirrored(enum CXBinaryOperatorKind kind)
{
    switch ((int)kind) {
    case CXBinaryOperator_LT: return CXBinaryOperator_GT;
    case CXBinaryOperator_GE: return CXBinaryOperator_LE;
    case CXBinaryOperator_GT: return CXBinaryOperator_LT;
    case CXBinaryOperator_LE: return CXBinaryOperator_GE;
    default: return kind;
    }
}

/* To which threads a condition, or its contrary, limits what follows. It is complete if it says no
 * more than that. */
static void find_bounds(emitter_t *e, const node_t *condition, bool contrary, bounds_t *b)
{
    const node_t *n = tree_stripped(condition);
    enum CXBinaryOperatorKind kind = n && n->kind == CXCursor_BinaryOperator
                                         ? clang_getCursorBinaryOperatorKind(n->cursor)
                                         : CXBinaryOperator_Invalid;
    if (kind == (contrary ? CXBinaryOperator_LOr : CXBinaryOperator_LAnd)) {
        find_bounds(e, n->child, contrary, b);
        find_bounds(e, n->last, contrary, b);
        return;
    }
    if (n && n->kind == CXCursor_UnaryOperator &&
        clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_LNot) {
        find_bounds(e, n->child, !contrary, b);
        return;
    }
    kind = contrary ? negated(kind) : kind;
    if (kind >= CXBinaryOperator_LT && kind <= CXBinaryOperator_EQ) {
        const char *left = bounded_axis(e, n->child), *right = bounded_axis(e, n->last);
        if (left && uniformity_of(&e->b, n->last) == UNIFORM && n->last->end > n->last->begin) {
            add_limit(e, b, n->child, n->last, left, kind);
            return;
        }
        if (right && uniformity_of(&e->b, n->child) == UNIFORM && n->child->end > n->child->begin) {
            add_limit(e, b, n->last, n->child, right, mirrored(kind));
            return;
        }
    }
    b->is_complete = false;
}

static bool bounds_read(emitter_t *e, const node_t *condition, bool contrary, bounds_t *b)
{
    *b = (bounds_t){.is_complete = true};
    find_bounds(e, condition, contrary, b);
    if (!b->limits.length)
        return false;
    if (b->is_complete)
        text_printf(&b->limits, "const bool kmm_exact __attribute__((unused)) = true%s;",
                    b->exact.data);
    return true;
}

/* Whether the compiler may take the threads for independent: nothing lies in memory that they use
 * in turn. */
static bool is_independent(const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr || n->kind == CXCursor_CXXForRangeStmt ||
        n->kind == CXCursor_GCCAsmStmt || n->kind == CXCursor_CXXNewExpr)
        return false;
    if (n->kind == CXCursor_VarDecl && n->variable &&
        (!n->variable->is_scalar || n->variable->escapes) && n->variable->storage != STORAGE_SHARED)
        return false;
    if (n->kind == CXCursor_CallExpr) {
        CXCursor f = clang_getCursorReferenced(n->cursor);
        if (clang_Cursor_isNull(f) ||
            !clang_Location_isInSystemHeader(clang_getCursorLocation(f)) ||
            memory_is_shared_atomic(n))
            return false;
    }
    for (const node_t *c = n->child; c; c = c->next)
        if (!is_independent(c))
            return false;
    return true;
}

/* The types in the region of which only an instance of the template tells what they are. */
static void note_dependent_types(emitter_t *e, const node_t *n)
{
    CXType type = clang_getCursorType(n->cursor);
    if ((clang_isExpression(n->kind) || n->kind == CXCursor_VarDecl) &&
        clang_getCanonicalType(type).kind == CXType_Unexposed) {
        const char *name = clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
        const bool is_name = !strncmp(name, "typename ", 9) || !strpbrk(name, " <(*&[.");
        const char *known = arena_printf(", %s,", e->generic.data ? e->generic.data : "");
        if (is_name && !strstr(known, arena_printf(", %s,", name)))
            text_printf(&e->generic, "%s%s", e->generic.length ? ", " : "", name);
    }
    for (const node_t *c = n->child; c; c = c->next)
        note_dependent_types(e, c);
}

static bool has_pack(const node_t *n)
{
    if (n->kind == CXCursor_DeclRefExpr && n->variable &&
        strstr(clang_text(clang_getTypeSpelling(clang_getCursorType(n->variable->cursor))), "..."))
        return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (has_pack(c))
            return true;
    return false;
}

/* Whether the region that is open may still be taken for one of independent threads, with a
 * statement more. */
static void independence_note(emitter_t *e, const node_t *n)
{
    e->is_independent &= is_independent(n) && !has_pack(n);
    if (e->is_independent)
        note_dependent_types(e, n);
}

/* ---- What one thread stores and reads again ---- */

/* Memory that lies beyond the block and may be another pointer's, too. */
static bool memory_may_alias(const node_t *n)
{
    bool is_access = n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_MemberRefExpr ||
                     (n->kind == CXCursor_UnaryOperator &&
                      clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_Deref) ||
                     (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->is_reference);
    if (!is_access || (n->kind == CXCursor_MemberRefExpr && n->child &&
                       tree_stripped(n->child)->kind == CXCursor_DeclRefExpr &&
                       !tree_stripped(n->child)->variable))
        return false;
    const variable_t *v = memory_variable(n);
    return !v || (v->storage != STORAGE_SHARED &&
                  (v->is_reference ||
                   clang_getCanonicalType(clang_getCursorType(v->cursor)).kind == CXType_Pointer));
}

/* Threads side by side use what lies side by side, each one number. */
static bool is_side_by_side(const emitter_t *e, const node_t *n)
{
    return n->kind == CXCursor_ArraySubscriptExpr &&
           clang_getCanonicalType(clang_getCursorType(n->cursor)).kind != CXType_Record &&
           (axis_of(e, n->last) || uniformity_of(&e->b, n->last) == UNIFORM);
}

static void note_access(emitter_t *e, const node_t *n, bool reads, bool stores)
{
    e->has_strides |= !is_side_by_side(e, n);
    e->reads_after_store |= reads && e->has_stored;
    e->has_stored |= stores;
}

/* In the order in which a thread does it; what is in a loop comes after itself, too. */
static void independence_note_order(emitter_t *e, const node_t *n)
{
    const enum CXBinaryOperatorKind kind =
        n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_CompoundAssignOperator
            ? clang_getCursorBinaryOperatorKind(n->cursor)
            : CXBinaryOperator_Invalid;
    const bool is_step = n->kind == CXCursor_UnaryOperator &&
                         clang_getCursorUnaryOperatorKind(n->cursor) <= CXUnaryOperator_PreDec;
    const bool is_plain = n->kind == CXCursor_BinaryOperator && kind == CXBinaryOperator_Assign;
    const node_t *target = is_plain || n->kind == CXCursor_CompoundAssignOperator || is_step
                               ? tree_stripped(n->child)
                               : NULL;
    const int rounds = tree_is_loop(n) ? 2 : 1;
    for (int k = 0; k < rounds; k++)
        for (const node_t *c = n->child; c; c = c->next)
            if (!target || tree_stripped(c) != target)
                independence_note_order(e, c);
    for (const node_t *c = target ? target->child : NULL; c; c = c->next)
        independence_note_order(e, c);
    if (target && memory_may_alias(target))
        note_access(e, target, !is_plain, true);
    else if (!target && memory_may_alias(n))
        note_access(e, n, true,
                    n->parent && n->parent->kind == CXCursor_CallExpr &&
                        clang_getCanonicalType(clang_getCursorType(n->cursor)).kind ==
                            CXType_Record);
}

static bool is_last(const emitter_t *e, const node_t *n)
{
    return n == e->b.root->last;
}

/* A branch alone in its region is run only by the threads that its condition may choose. Without
 * barriers there is but one region. */
static bool emit_bounded(emitter_t *e, const node_t *n)
{
    parts_t p;
    bounds_t bounds;
    if (n->kind != CXCursor_IfStmt || e->is_open || !parts_of(&e->b, n, &p) || p.second ||
        (!e->b.root->has_collective && !is_last(e, n)) || p.first->end <= p.first->begin ||
        !bounds_read(e, p.condition, false, &bounds))
        return false;
    region_open(e);
    e->gains_by_size |= e->b.root->has_collective;
    e->limits = bounds.limits.data;
    e->has_exact = bounds.is_complete;
    independence_note(e, n);
    independence_note_order(e, n);
    jump_edit_all(e, n);
    region_note_uses(e, n);
    if (bounds.is_complete)
        region_add(e, n,
                   arena_printf("if (kmm_sure || (%s))\n%s\n%s", edits_copy_node(e, p.condition),
                                edits_line(e, p.first->begin),
                                edits_copy(e, p.first->begin, statement_end(&e->b, n))));
    else
        region_add(e, n, edits_copy(e, n->begin, statement_end(&e->b, n)));
    region_close(e);
    return true;
}

/* `if (i >= n) return;` before anything else, where there are no barriers. */
static bool emit_bounded_return(emitter_t *e, const node_t *n)
{
    parts_t p;
    bounds_t bounds;
    bool rest_is_one_region = e->pass > 0 && e->region_number + 1 == e->last_region;
    if (n->kind != CXCursor_IfStmt || e->is_open || !rest_is_one_region ||
        e->b.root->has_collective || n->parent != e->b.root || !parts_of(&e->b, n, &p) || p.second)
        return false;
    const node_t *inner = p.first->kind == CXCursor_CompoundStmt && p.first->child == p.first->last
                              ? p.first->child
                              : p.first;
    if (!inner || inner->kind != CXCursor_ReturnStmt || inner->child ||
        !bounds_read(e, p.condition, true, &bounds))
        return false;
    region_open(e);
    e->limits = bounds.limits.data;
    e->has_exact = bounds.is_complete;
    region_note_uses(e, p.condition);
    region_add(e, n,
               arena_printf("if (%s(%s)) return;", bounds.is_complete ? "!kmm_sure && " : "",
                            edits_copy_node(e, p.condition)));
    return true;
}

/* What a block begins with lies in memory where the processor does not look for it while it is busy
 * with the rest of the block before: so that one asks for it. `x[i]`, with an index that only the
 * block's own makes another in the next one. */
static void prefetch_next_block(emitter_t *e, const node_t *n)
{
    const node_t *base = n->kind == CXCursor_ArraySubscriptExpr ? tree_stripped(n->child) : NULL,
                 *index = base ? tree_stripped(n->last) : NULL;
    bool is_array =
        base && base->kind == CXCursor_DeclRefExpr && base->variable &&
        base->variable->storage == STORAGE_UNIFORM &&
        clang_getCanonicalType(clang_getCursorType(base->cursor)).kind == CXType_Pointer;
    const variable_t *v = is_array && index->kind == CXCursor_DeclRefExpr ? index->variable : NULL;
    const char *axis = v && v->is_block_level ? axis_known(e, v) : NULL;
    if (axis && *axis == 'x') {
        const char *text =
            arena_printf("{ const uint3 blockIdx __attribute__((unused)) = "
                         "kmm_b.after(); const kmm_host_as<%s> kmm_next %s; "
                         "kmm_host_soon(%s, (size_t)kmm_next, kmm_e.x); }\n",
                         declarator_type(e, v), declarator_suffix(e, v), base->variable->name);
        name_in_block(v->initializer);
        if (!e->out.data || !strstr(e->out.data, text))
            text_printf(&e->out, "%s", text);
    }
    for (const node_t *c = n->child; c; c = c->next)
        prefetch_next_block(e, c);
}

static void per_thread_emit(emitter_t *e, const node_t *n)
{
    if (e->b.root->has_collective && e->loop_depth == 0 && e->s->is_kernel && !e->is_masked)
        prefetch_next_block(e, n);
    memory_edit_atomics(e, n);
    if (!can_copy_statement(e, n) || emit_bounded(e, n) || emit_bounded_return(e, n))
        return;
    region_open(e);
    independence_note(e, n);
    independence_note_order(e, n);
    jump_edit_all(e, n);
    region_note_uses(e, n);
    preprocessor_add_pragmas(e, n);
    region_add(e, n, edits_copy(e, n->begin, statement_end(&e->b, n)));
    if (!n->parent || n->parent->kind != CXCursor_CompoundStmt)
        text_printf(&e->region, ";");
}

/* ---- Operations ---- */

static int emitter_new_states(emitter_t *e, const node_t *n)
{
    int number = e->numbers + 1;
    e->numbers += 2;
    if (e->numbers > MAX_NUMBER)
        emitter_fail(e, n, "it has too many branches");
    return number;
}

static const char *argument_list(const emitter_t *e, node_t **argument, int count)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (int k = 0; k < count; k++)
        text_printf(&out, ", %s", edits_copy_node(e, argument[k]));
    return out.data;
}

/* The threads bring their operands; the call becomes what they get. */
static bool hoist_exchange(emitter_t *e, node_t *call, const char *type)
{
    node_t *argument[8];
    int count = call_arguments(call, argument, 8), number = e->collective_count++;
    const char *name = call->collective_name;
    while (*name == '_')
        name++;
    if (count > 8 || (!type && count < 2))
        return emitter_fail(e, call, "an operation has other arguments than it should");
    region_open(e);
    for (int k = 0; k < count; k++) {
        region_note_uses(e, argument[k]);
        name_in_block(argument[k]);
    }
    const char *element =
        type ? type : arena_printf("kmm_host_decay<decltype(%s)>", edits_copy_node(e, argument[1]));
    bool is_vote = !strcmp(element, "vote");
    if (is_vote)
        text_printf(&e->out, "kmm_host_predicates kmm_c%d;\n", number);
    else
        text_printf(&e->out, "kmm_host_exchange<%s> kmm_c%d;\n", element, number);
    region_add(e, call,
               arena_printf("kmm_c%d.put(kmm_t%s);", number,
                            count ? argument_list(e, argument, count) : ", 0u, 0"));
    region_close(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    edits_add(e, call->begin, call->end,
              arena_printf("kmm_c%d.%s(%s)", number, name, is_vote ? "" : "kmm_t"));
    return true;
}

/* Votes of warps. The mask is looked at by each thread when it gets its answer. */
static bool hoist_ballot(emitter_t *e, node_t *call)
{
    node_t *argument[2];
    int count = call_arguments(call, argument, 2), number = e->collective_count++;
    const char *name = call->collective_name;
    bool has_predicate = strcmp(name, "__activemask") != 0;
    if (count != (has_predicate ? 2 : 0))
        return emitter_fail(e, call, "an operation has other arguments than it should");
    region_open(e);
    region_note_uses(e, call);
    text_printf(&e->out, "kmm_host_ballots kmm_c%d;\n", number);
    region_add(e, call,
               has_predicate ? arena_printf("kmm_c%d.put(kmm_t, (%s) != 0);", number,
                                            edits_copy_node(e, argument[1]))
                             : arena_printf("kmm_c%d.put(kmm_t, 1);", number));
    region_close(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    edits_add(e, call->begin, call->end,
              has_predicate ? arena_printf("kmm_c%d.%s(kmm_t, %s)", number, name + 2,
                                           edits_copy_node(e, argument[0]))
                            : arena_printf("kmm_c%d.%s(kmm_t)", number, name + 2));
    return true;
}

/* A shuffle whose distance and width are the same for all threads. */
static bool is_even_shuffle(const emitter_t *e, const node_t *call)
{
    node_t *argument[4];
    int count = call_arguments(call, argument, 4);
    if (strncmp(call->collective_name, "__shfl", 6) || count < 3 || count > 4)
        return false;
    for (int k = 0; k < count; k++)
        if (k != 1 && uniformity_of(&e->b, argument[k]) != UNIFORM)
            return false;
    return true;
}

static bool hoist_even_shuffle(emitter_t *e, node_t *call)
{
    node_t *argument[4];
    int count = call_arguments(call, argument, 4), number = e->collective_count++;
    region_open(e);
    region_note_uses(e, argument[1]);
    name_in_block(call);
    text_printf(&e->out, "kmm_host_shuffles<kmm_host_decay<decltype(%s)>> kmm_c%d;\n",
                edits_copy_node(e, argument[1]), number);
    region_add(e, call,
               arena_printf("kmm_c%d.put(kmm_t, %s);", number, edits_copy_node(e, argument[1])));
    region_close(e);
    text_printf(&e->out, "kmm_c%d.%s(kmm_b%s);\n", number, call->collective_name + 2,
                argument_list(e, argument + 2, count - 2));
    edits_add(e, call->begin, call->end, arena_printf("kmm_c%d.get(kmm_t)", number));
    return true;
}

/* `__match_all_sync(mask, value, &same)`: the last operand is where a part of the answer goes. */
static bool hoist_match_all(emitter_t *e, node_t *call)
{
    node_t *argument[3];
    int number = e->collective_count++;
    if (call_arguments(call, argument, 3) != 3)
        return emitter_fail(e, call, "an operation has other arguments than it should");
    region_open(e);
    region_note_uses(e, call);
    name_in_block(argument[1]);
    text_printf(&e->out, "kmm_host_exchange<kmm_host_decay<decltype(%s)>> kmm_c%d;\n",
                edits_copy_node(e, argument[1]), number);
    region_add(e, call,
               arena_printf("kmm_c%d.put(kmm_t%s);", number, argument_list(e, argument, 2)));
    region_close(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    edits_add(
        e, call->begin, call->end,
        arena_printf("kmm_c%d.match_all_sync(kmm_t, %s)", number, edits_copy_node(e, argument[2])));
    return true;
}

/* ---- Calls of functions that meet ---- */

/* Whether the argument is an object that is there anyway, and not one made for the call. */
static bool is_object(const node_t *argument)
{
    const node_t *n = argument;
    while (n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr))
        n = n->child;
    return n->kind == CXCursor_DeclRefExpr || n->kind == CXCursor_MemberRefExpr ||
           n->kind == CXCursor_ArraySubscriptExpr ||
           (n->kind == CXCursor_UnaryOperator &&
            clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_Deref);
}

static CXType plain_type(CXType type)
{
    return clang_getUnqualifiedType(clang_getCanonicalType(clang_getNonReferenceType(type)));
}

/* Whether a parameter refers to a value that is made of the argument, and ends with the loop that
 * brings it. */
static bool makes_temporary(const node_t *call, const node_t *argument, int k)
{
    passing_t passing = call_passing(call, argument);
    if (passing == PASSED_BY_VALUE || passing == PASSED_BY_REFERENCE)
        return false;
    if (passing == PASSED_UNKNOWN)
        return !is_object(argument);
    CXType wanted = clang_getCursorType(
        clang_Cursor_getArgument(clang_getCursorReferenced(call->cursor), (unsigned)k));
    const node_t *n = tree_stripped(argument);
    return !is_object(argument) ||
           !clang_equalTypes(plain_type(wanted), plain_type(clang_getCursorType(n->cursor)));
}

/* Values that are made for a call are kept beside it. */
static bool store_temporaries(emitter_t *e, node_t *call, int number)
{
    enum { ROOM = 64 };
    node_t *argument[ROOM];
    int count = call_arguments(call, argument, ROOM);
    for (int k = 0; k < count && k < ROOM; k++) {
        if (!makes_temporary(call, argument[k], k))
            continue;
        passing_t passing = call_passing(call, argument[k]);
        CXType wanted = clang_getCursorType(
            clang_Cursor_getArgument(clang_getCursorReferenced(call->cursor), (unsigned)k));
        name_in_block(argument[k]);
        const char *type =
            passing == PASSED_BY_CONST
                ? clang_text(clang_getTypeSpelling(clang_getNonReferenceType(wanted)))
                : arena_printf("decltype(%s)", edits_copy_node(e, argument[k]));
        if (strchr(type, '[') || strstr(type, "(lambda"))
            return emitter_fail(e, argument[k], "an argument's type has no name");
        text_printf(&e->out, "kmm_host_values<kmm_host_decay<%s>> kmm_a%d_%d;\n", type, number, k);
        region_add(
            e, call,
            arena_printf("::new (static_cast<void *>(&kmm_a%d_%d[kmm_t])) kmm_host_decay<%s>(%s);",
                         number, k, type, edits_copy_node(e, argument[k])));
        edits_add(e, argument[k]->begin, argument[k]->end,
                  arena_printf("kmm_a%d_%d[kmm_t]", number, k));
    }
    return true;
}

/* The threads bring their arguments; the function runs once for all; the call becomes its result.
 */
static bool has_lambda(const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr)
        return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (has_lambda(c))
            return true;
    return false;
}

/* The type of a call as C++: what the compiler makes of its text, unless there is a lambda in it,
 * of which each has a type of its own. */
static const char *call_type(emitter_t *e, const node_t *call, const char *text)
{
    if (!has_lambda(call))
        return arena_printf("decltype(%s)", text);
    CXType type =
        clang_getCanonicalType(clang_getCursorResultType(clang_getCursorReferenced(call->cursor)));
    if (type.kind != CXType_Void && clang_Type_getSizeOf(type) < 0) {
        emitter_fail(
            e, call,
            "a lambda is an argument of what meets at a barrier, and the result's type depends on "
            "a template");
        return NULL;
    }
    return arena_printf("kmm_host_as<%s>", clang_text(clang_getTypeSpelling(type)));
}

static bool hoist_call(emitter_t *e, node_t *call)
{
    int number = e->collective_count++;
    if (strchr(arena_copy(e->s->u->source->text + call->begin, call->end - call->begin), '#'))
        return emitter_fail(e, call, "a preprocessor line divides a call");
    region_open(e);
    e->is_independent = false;
    region_note_uses(e, call);
    name_in_block(call);
    if (call->collective == COLLECTIVE_FUNCTION && !store_temporaries(e, call, number))
        return false;
    const char *text = edits_copy_node(e, call), *type = call_type(e, call, text);
    if (!type)
        return false;
    text_printf(&e->out, "kmm_host_call<%s> kmm_c%d;\n", type, number);
    region_add(
        e, call,
        arena_printf("kmm_c%d.call(kmm_t, [&]() -> %s { return %s; });", number, type, text));
    region_close(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    edits_add(e, call->begin, call->end, arena_printf("kmm_c%d.get(kmm_t)", number));
    return true;
}

/* ---- Any of them ---- */

static bool call_is_barrier(const node_t *call)
{
    return call->collective_name && (!strcmp(call->collective_name, "__syncthreads") ||
                                     !strcmp(call->collective_name, "__syncwarp"));
}

static bool hoist_collective(emitter_t *e, node_t *call, const node_t *whole)
{
    static const char *const votes[] = {"__syncthreads_count", "__syncthreads_and",
                                        "__syncthreads_or", NULL};
    static const char *const predicates[] = {"__ballot_sync", "__any_sync", "__all_sync",
                                             "__activemask", NULL};
    static const char *const values[] = {
        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
        "__match_any_sync",  "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
        "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", NULL};
    const char *name = call->collective_name;
    if (call->end <= call->begin)
        return emitter_fail(e, whole, "an operation of several threads comes from a macro");
    if (call->collective == COLLECTIVE_FIBERS)
        return emitter_fail(e, call, arena_printf("it calls '%s', which meets at a barrier", name));
    if (e->pass == 2 && !e->is_sized && e->thread_condition && !strncmp(name, "__syncthreads", 13))
        diag_at(SEVERITY_WARNING, e->s->u->source, call->begin, call->begin + strlen(name),
                "only some threads of a block come to this barrier: '%s' depends on nothing but "
                "threadIdx [-Wkmm-barrier]",
                edits_copy_node(e, e->thread_condition));
    if (call_is_barrier(call)) {
        if (tree_stripped(whole) != call)
            return emitter_fail(e, call, "a barrier is no statement of its own");
        region_close(e);
        text_printf(&e->out, "%s\n",
                    !strcmp(name, "__syncwarp") ? ""
                    : e->is_masked              ? "kmm_b.barrier();"
                                                : "");
        return true;
    }
    lexer_t l = lexer_at(e->s->u->source, call->begin, call->end);
    bool is_written = false;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END && !is_written; t = lex(&l))
        is_written = token_is(e->s->u->source, t, name);
    if (!is_written)
        return emitter_fail(e, call, "an operation of several threads comes from a macro");
    if (call->collective != COLLECTIVE_BUILTIN)
        return hoist_call(e, call);
    if (text_is_one_of(name, votes))
        return hoist_exchange(e, call, "vote");
    if (text_is_one_of(name, predicates))
        return hoist_ballot(e, call);
    if (is_even_shuffle(e, call))
        return hoist_even_shuffle(e, call);
    if (text_is_one_of(name, values))
        return hoist_exchange(e, call, NULL);
    if (!strcmp(name, "__match_all_sync"))
        return hoist_match_all(e, call);
    return emitter_fail(e, call, arena_printf("it calls '%s', which meets at a barrier", name));
}

static bool hoist(emitter_t *e, node_t *n, const node_t *whole);

/* `a && b`, `a || b`, `a ? b : c` with operations of several threads behind the first operand:
 * those threads take part for which it says so. */
static bool hoist_choice(emitter_t *e, node_t *n, const node_t *whole)
{
    bool is_or = n->kind == CXCursor_BinaryOperator &&
                 clang_getCursorBinaryOperatorKind(n->cursor) == CXBinaryOperator_LOr;
    node_t *first = n->child, *second = first->next,
           *third = n->kind == CXCursor_ConditionalOperator ? second->next : NULL;
    if (n->end <= n->begin || first->end <= first->begin || second->end <= second->begin ||
        (third && third->end <= third->begin))
        return emitter_fail(e, whole, "an operation of several threads comes from a macro");
    if (third && clang_getCanonicalType(clang_getCursorType(n->cursor)).kind == CXType_Void)
        return emitter_fail(
            e, n, "an operation of several threads depends on a condition in its expression");
    int number = emitter_new_states(e, n), value = e->collective_count++;
    if (third)
        name_in_block(n);
    const char *type =
        third ? arena_printf("kmm_host_decay<decltype(%s)>", edits_copy_node(e, n)) : "bool";
    text_t head = {0};
    if (!hoist(e, first, whole))
        return false;
    region_open(e);
    region_note_uses(e, first);
    text_printf(&head, "kmm_host_values<%s> kmm_c%d;\n", type, value);
    text_printf(&e->out, "%s", head.data);
    if (third)
        region_add(
            e, n,
            arena_printf("if (!(%s)) kmm_b.state[kmm_t] = %d;", edits_copy_node(e, first), number));
    else
        region_add(e, n,
                   arena_printf("kmm_c%d[kmm_t] = static_cast<bool>(%s); if (%skmm_c%d[kmm_t]) "
                                "kmm_b.state[kmm_t] = %d;",
                                value, edits_copy_node(e, first), is_or ? "" : "!", value, number));
    region_change_state(e);
    region_close(e);
    for (node_t *operand = second; operand; operand = operand == second ? third : NULL) {
        if (operand == third)
            text_printf(&e->out, "kmm_b.turn(%d, %d);\n", number, number + 1);
        text_printf(&e->out, "if (kmm_b.active) {\n");
        if (!hoist(e, operand, whole))
            return false;
        region_open(e);
        region_note_uses(e, operand);
        region_add(e, operand,
                   third ? arena_printf("::new (static_cast<void *>(&kmm_c%d[kmm_t])) %s(%s);",
                                        value, type, edits_copy_node(e, operand))
                         : arena_printf("kmm_c%d[kmm_t] = static_cast<bool>(%s);", value,
                                        edits_copy_node(e, operand)));
        region_close(e);
        text_printf(&e->out, "}\n");
    }
    text_printf(&e->out, "kmm_b.resume(%d);\n", third ? number + 1 : number);
    edits_add(e, n->begin, n->end, arena_printf("kmm_c%d[kmm_t]", value));
    return true;
}

static bool is_choice(const node_t *n)
{
    enum CXBinaryOperatorKind kind = n->kind == CXCursor_BinaryOperator
                                         ? clang_getCursorBinaryOperatorKind(n->cursor)
                                         : CXBinaryOperator_Invalid;
    if (n->kind != CXCursor_ConditionalOperator && kind != CXBinaryOperator_LAnd &&
        kind != CXBinaryOperator_LOr)
        return false;
    return n->child && n->child->next &&
           (n->child->next->has_collective ||
            (n->child->next->next && n->child->next->next->has_collective));
}

static bool hoist(emitter_t *e, node_t *n, const node_t *whole)
{
    if (!n->has_collective)
        return true;
    if (is_choice(n))
        return hoist_choice(e, n, whole);
    for (node_t *c = n->child; c; c = c->next)
        if (!hoist(e, c, whole))
            return false;
    return !n->collective_name || hoist_collective(e, n, whole);
}

/* ---- Declarations ---- */

static const char *initial_value(emitter_t *e, const variable_t *v)
{
    const char *text = declarator_suffix(e, v);
    if (*text != '=')
        return text;
    for (text++; *text == ' ' || *text == '\n' || *text == '\t' || *text == '\r'; text++) {
    }
    return *text == '{' ? text : arena_printf("(%s)", text);
}

static void declare_each(emitter_t *e, variable_t *v, const node_t *statement)
{
    const char *type = declarator_type(e, v), *qualifier = declarator_is_const(v) ? "const " : "";
    if (strstr(type, "decltype"))
        name_in_block(v->initializer);
    if (v->is_reference) {
        emitter_fail(e, statement, "a reference is used across a barrier");
        return;
    }
    text_printf(&e->out,
                "kmm_host_values<%s> %s; %skmm_host_as<%s> &%s __attribute__((unused)) = %s[0];\n",
                type, declarator_values(v), qualifier, type, v->name, declarator_values(v));
    region_open(e);
    v->region = e->region_number;
    if (v->is_array) {
        const char *value = declarator_suffix(e, v);
        region_add(
            e, statement,
            arena_printf("kmm_host_as<%s> &%s = %s[kmm_t];", type, v->name, declarator_values(v)));
        if (*value)
            text_printf(&e->region,
                        " { kmm_host_as<%s> kmm_initial %s; memcpy(&%s, &kmm_initial, "
                        "sizeof(kmm_initial)); }",
                        type, value, v->name);
        return;
    }
    region_add(e, statement,
               arena_printf("%skmm_host_as<%s> &%s __attribute__((unused)) = *::new "
                            "(static_cast<void *>(&%s[kmm_t])) kmm_host_as<%s>%s;",
                            qualifier, type, v->name, declarator_values(v), type,
                            initial_value(e, v)));
}

static void declare_variable(emitter_t *e, variable_t *v, const node_t *statement)
{
    v->is_block_level = true;
    if (v->storage == STORAGE_UNIFORM) {
        text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s;\n",
                    declarator_is_const(v) ? "const " : "", declarator_type(e, v), v->name,
                    declarator_suffix(e, v));
        return;
    }
    if (v->storage == STORAGE_RECOMPUTED) {
        if (axis_of_variable(e, v)) {
            name_in_block(v->initializer);
            text_printf(&e->out, "const kmm_host_as<%s> kmm_i%d __attribute__((unused)) %s;\n",
                        declarator_type(e, v), v->number, declarator_suffix(e, v));
            if (!axis_known(e, v))
                text_printf(&e->out,
                            "const bool kmm_counts%d __attribute__((unused)) = "
                            "kmm_host_counts<%s>::along(kmm_i%d, %s, kmm_e.%s);\n",
                            v->number, axis_types(e, v), v->number, axis_last_value(e, v),
                            axis_of_variable(e, v));
        }
        if (v->is_named_by_block) /* only its type */
            text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s;\n",
                        declarator_is_const(v) ? "const " : "", declarator_type(e, v), v->name,
                        declarator_suffix(e, v));
        return;
    }
    region_open(e);
    region_note_uses(e, v->declaration);
    if (v->storage == STORAGE_THREAD) {
        declare_each(e, v, statement);
        return;
    }
    region_add(e, statement,
               arena_printf("%skmm_host_as<%s> %s %s;", declarator_is_const(v) ? "const " : "",
                            declarator_type(e, v), v->name, declarator_suffix(e, v)));
}

static bool declaration_is_stored(const node_t *declaration, storage_t storage)
{
    for (const node_t *c = declaration->child; c; c = c->next)
        if (c->kind != CXCursor_VarDecl || !c->variable || c->variable->storage != storage)
            return false;
    return true;
}

static void declaration_emit(emitter_t *e, node_t *n)
{
    bool has_variables = false;
    for (node_t *c = n->child; c; c = c->next) {
        has_variables |= c->kind == CXCursor_VarDecl;
        if (c->kind == CXCursor_VarDecl && c->variable)
            c->variable->is_block_level = true;
    }
    if (!can_copy_statement(e, n) || !hoist(e, n, n))
        return;
    if (!has_variables || declaration_is_stored(n, STORAGE_SHARED) ||
        declaration_is_stored(n, STORAGE_UNIFORM)) {
        const char *text = edits_copy_node(e, n), *shared = declaration_is_stored(n, STORAGE_SHARED)
                                                                ? strstr(text, "__shared__")
                                                                : NULL;
        text_printf(&e->out, "\n%s\n", edits_line(e, n->begin));
        e->has_static |= !shared && strstr(text, "static ");
        if (shared)
            text_printf(&e->out, "%s",
                        arena_printf("%sKMM_HOST_SHARED%s\n",
                                     arena_copy(text, (size_t)(shared - text)),
                                     shared + strlen("__shared__")));
        else
            text_printf(&e->out, "%s\n", text);
        return;
    }
    if (declaration_is_stored(n, STORAGE_REGION)) {
        per_thread_emit(e, n);
        return;
    }
    for (node_t *c = n->child; c; c = c->next) {
        if (c->kind == CXCursor_VarDecl && c->variable)
            declare_variable(e, c->variable, n);
        else if (c->kind == CXCursor_VarDecl || clang_isDeclaration(c->kind))
            emitter_fail(e, n, "a declaration is of several kinds");
    }
}

/* ---- Statements of the block ---- */

static void statement_emit(emitter_t *e, node_t *n);

static void statement_emit_children(emitter_t *e, node_t *n)
{
    for (node_t *c = n->child; c; c = c->next) {
        preprocessor_add_definitions(e, end_before(e, c), c->begin);
        statement_emit(e, c);
    }
    region_close(e);
    preprocessor_add_definitions(e, n->last ? statement_end(&e->b, n->last) : n->begin + 1,
                                 n->end - 1);
}

static void statement_emit_inner(emitter_t *e, node_t *n)
{
    region_close(e);
    text_printf(&e->out, "{\n");
    if (n->kind == CXCursor_CompoundStmt)
        statement_emit_children(e, n);
    else
        statement_emit(e, n);
    region_close(e);
    text_printf(&e->out, "}\n");
}

/* Threads for which the condition does not hold get the state. */
static void statement_emit_condition(emitter_t *e, node_t *condition, int state)
{
    region_open(e);
    region_note_uses(e, condition);
    region_add(
        e, condition,
        arena_printf("if (!(%s)) kmm_b.state[kmm_t] = %d;", edits_copy_node(e, condition), state));
    region_change_state(e);
    region_close(e);
}

/* Whether the expression is made of threadIdx and numbers alone. */
static bool is_of_thread(const node_t *n)
{
    n = tree_stripped(n);
    if (!n || n->kind == CXCursor_IntegerLiteral)
        return n != NULL;
    if (n->kind == CXCursor_DeclRefExpr && n->variable)
        return n->variable->storage == STORAGE_RECOMPUTED && !n->variable->is_reference &&
               is_of_thread(n->variable->initializer);
    if (n->kind == CXCursor_MemberRefExpr && n->child)
        return !strcmp(clang_text(clang_getCursorSpelling(tree_stripped(n->child)->cursor)),
                       "threadIdx");
    return n->kind == CXCursor_BinaryOperator && is_of_thread(n->child) && is_of_thread(n->last);
}

static void emit_divergent_if(emitter_t *e, const parts_t *p, const node_t *n)
{
    int number = emitter_new_states(e, n);
    bool outer = e->is_divergent;
    const node_t *thread_condition = e->thread_condition;
    if (is_of_thread(p->condition))
        e->thread_condition = p->condition;
    statement_emit_condition(e, p->condition, number);
    e->is_divergent = true;
    text_printf(&e->out, "if (kmm_b.active)\n");
    statement_emit_inner(e, p->first);
    if (p->second) {
        text_printf(&e->out, "kmm_b.turn(%d, %d);\nif (kmm_b.active)\n", number, number + 1);
        statement_emit_inner(e, p->second);
    }
    text_printf(&e->out, "kmm_b.resume(%d);\n", p->second ? number + 1 : number);
    e->is_divergent = outer;
    e->thread_condition = thread_condition;
}

static void emit_if(emitter_t *e, node_t *n)
{
    parts_t p;
    if (!can_copy_statement(e, n) || !parts_of(&e->b, n, &p) || !hoist(e, p.condition, p.condition))
        return;
    if (uniformity_of(&e->b, p.condition) != UNIFORM) {
        emit_divergent_if(e, &p, n);
        return;
    }
    region_close(e);
    text_printf(&e->out, "%s\n%s\n", edits_line(e, n->begin), edits_copy(e, n->begin, p.close + 1));
    statement_emit_inner(e, p.first);
    if (p.second) {
        text_printf(&e->out, "else\n");
        statement_emit_inner(e, p.second);
    }
}

/* ---- switch ---- */

/* The statement behind labels; *labels: their text. */
static node_t *behind_labels(emitter_t *e, node_t *n, const char **labels)
{
    node_t *inner = n;
    while (inner && (inner->kind == CXCursor_CaseStmt || inner->kind == CXCursor_DefaultStmt))
        inner = inner->last;
    if (!inner || inner->end <= inner->begin) {
        emitter_fail(e, n, "a statement comes from a macro");
        return NULL;
    }
    *labels = inner == n ? NULL : edits_copy(e, n->begin, inner->begin);
    return inner;
}

static bool has_default(const char *labels)
{
    return strstr(labels, "default") != NULL;
}

/* Which group of statements is chosen: `switch (x) { case 1: chosen = 0; break; ... }` */
static const char *chosen_text(emitter_t *e, const node_t *n, const parts_t *p, const char *chosen,
                               int *groups)
{
    text_t out = {0};
    bool any_default = false;
    text_printf(&out, "switch (%s) {\n", edits_copy_node(e, p->condition));
    *groups = 0;
    for (node_t *c = p->first->child; c; c = c->next) {
        const char *labels;
        if (c->kind == CXCursor_DeclStmt) {
            emitter_fail(e, n, "a declaration stands beside the labels of a 'switch'");
            return "";
        }
        if (!behind_labels(e, c, &labels))
            return "";
        if (labels) {
            any_default |= has_default(labels);
            text_printf(&out, "%s %s = %d; break;\n", labels, chosen, (*groups)++);
        }
    }
    text_printf(&out, "%s}\n", any_default ? "" : "default: break;\n");
    return out.data;
}

static void emit_group(emitter_t *e, node_t **c)
{
    const char *labels;
    node_t *first = *c;
    do {
        node_t *inner = behind_labels(e, *c, &labels);
        if (!inner || (labels && *c != first))
            break;
        if (inner->kind == CXCursor_DeclStmt)
            emitter_fail(e, inner, "a declaration stands beside the labels of a 'switch'");
        statement_emit(e, inner);
        *c = (*c)->next;
    } while (*c);
    region_close(e);
}

static void switch_emit(emitter_t *e, node_t *n)
{
    parts_t p;
    bool outer = e->is_divergent;
    int groups;
    if (!can_copy_statement(e, n) || !parts_of(&e->b, n, &p) || !hoist(e, p.condition, p.condition))
        return;
    if (p.first->kind != CXCursor_CompoundStmt || p.second) {
        emitter_fail(e, n, "a 'switch' has no braces");
        return;
    }
    bool is_divergent = uniformity_of(&e->b, p.condition) != UNIFORM;
    const int number = n->number = emitter_new_states(e, n);
    const char *name = arena_printf("kmm_s%d", number),
               *chosen = is_divergent ? arena_printf("%s[kmm_t]", name) : name;
    const char *text = chosen_text(e, n, &p, chosen, &groups);
    region_close(e);
    if (is_divergent) {
        text_printf(&e->out, "{ kmm_host_values<int> %s;\n", name);
        region_open(e);
        region_note_uses(e, p.condition);
        region_add(
            e, n,
            arena_printf("%s = %d; %skmm_b.state[kmm_t] = %d;", chosen, groups, text, number + 1));
        region_change_state(e);
        region_close(e);
    } else {
        text_printf(&e->out, "{ int %s = %d;\n%s\n%s", name, groups, edits_line(e, n->begin), text);
    }
    e->is_divergent |= is_divergent || n->is_left_early;
    int group = 0;
    for (node_t *c = p.first->child; c && !e->b.reason; group++) {
        if (is_divergent)
            text_printf(&e->out, "kmm_b.choose(%d, %s, %d);\nif (kmm_b.active) {\n", number + 1,
                        name, group);
        else
            text_printf(&e->out, "if (%s <= %d%s) {\n", name, group,
                        n->is_left_early || outer ? " && kmm_b.active" : "");
        emit_group(e, &c);
        text_printf(&e->out, "}\n");
    }
    text_printf(&e->out, "}\nkmm_end%d: __attribute__((unused));\n", number);
    if (is_divergent)
        text_printf(&e->out, "kmm_b.resume(%d);\n", number + 1);
    if (is_divergent || n->is_left_early ||
        outer) { /* threads that left it by a jump have its state */
        text_printf(&e->out, "kmm_b.resume(%d);\n", number);
        e->is_masked = true;
    }
    e->is_divergent = outer;
}

/* Whether the expression changes only variables of the block, and changes one. */
static bool changes_block(const emitter_t *e, const node_t *n)
{
    bool found = false;
    for (int k = 0; k < e->b.variable_count; k++) {
        const variable_t *v = &e->b.variable[k];
        for (int i = 0; i < v->change_count && v->storage == STORAGE_UNIFORM; i++)
            for (const node_t *p = v->change[i]; p; p = p->parent)
                found |= p == n;
    }
    return found;
}

static bool is_of_block(const emitter_t *e, const node_t *n)
{
    if (!n)
        return true;
    if (n->kind == CXCursor_DeclStmt)
        return declaration_is_stored(n, STORAGE_UNIFORM) && !n->has_collective;
    const node_t *x = tree_stripped(n);
    if (x->kind == CXCursor_BinaryOperator &&
        clang_getCursorBinaryOperatorKind(x->cursor) == CXBinaryOperator_Comma)
        return is_of_block(e, x->child) && is_of_block(e, x->last);
    return changes_block(e, n);
}

static void emit_loop_body(emitter_t *e, node_t *loop, node_t *body)
{
    e->loop_depth++;
    e->is_divergent |= loop->is_left_early;
    statement_emit_inner(e, body);
    if (loop->is_left_early)
        text_printf(&e->out, "kmm_b.resume(%d);\n", loop->number + 1);
}

static void emit_plain_loop(emitter_t *e, node_t *n, const parts_t *p)
{
    text_printf(&e->out, "%s\n", edits_line(e, n->begin));
    for (node_t *c = p->initial ? p->initial->child : NULL; c; c = c->next)
        if (c->variable && c->kind == CXCursor_VarDecl)
            c->variable->is_block_level = true;
    e->gains_by_size = true;
    if (e->is_sized && extent_rounds(n, p, e->s->extent, MAX_UNROLLED))
        text_printf(&e->out, "KMM_HOST_UNROLL ");
    text_printf(&e->out, "%s {\n",
                n->kind == CXCursor_DoStmt ? "do" : edits_copy(e, n->begin, p->close + 1));
    emit_loop_body(e, n, p->first);
    if (e->is_masked)
        text_printf(&e->out, "if (!kmm_b.active) break;\n");
    text_printf(&e->out, "}");
    if (n->kind == CXCursor_DoStmt)
        text_printf(&e->out, " while (%s);", edits_copy_node(e, p->condition));
    text_printf(&e->out, "\n");
}

/* `if (!condition) break;` */
static void emit_test(emitter_t *e, const node_t *n, node_t *condition)
{
    if (!condition || !hoist(e, condition, condition))
        return;
    if (uniformity_of(&e->b, condition) != UNIFORM) {
        statement_emit_condition(e, condition, n->number);
        text_printf(&e->out, "if (!kmm_b.active) break;\n");
        return;
    }
    region_close(e);
    text_printf(&e->out, "if (!(%s)) break;\n", edits_copy_node(e, condition));
}

static void statement_emit_expression(emitter_t *e, node_t *n);

static void emit_divergent_loop(emitter_t *e, node_t *n, const parts_t *p)
{
    n->is_left_early = true;
    text_printf(&e->out, "{\n");
    if (p->initial)
        statement_emit(e, p->initial);
    region_close(e);
    text_printf(&e->out, "for (;;) {\n");
    e->is_divergent |= p->condition && uniformity_of(&e->b, p->condition) != UNIFORM;
    if (n->kind != CXCursor_DoStmt)
        emit_test(e, n, p->condition);
    emit_loop_body(e, n, p->first);
    if (p->increment)
        statement_emit_expression(e, p->increment);
    region_close(e);
    if (n->kind == CXCursor_DoStmt)
        emit_test(e, n, p->condition);
    if (e->is_masked)
        text_printf(&e->out, "if (!kmm_b.active) break;\n");
    text_printf(&e->out, "}\n}\n");
}

static void loop_emit(emitter_t *e, node_t *n)
{
    parts_t p;
    bool outer = e->is_divergent;
    int depth = e->loop_depth;
    if (!can_copy_statement(e, n) || !parts_of(&e->b, n, &p))
        return;
    region_close(e);
    n->number = emitter_new_states(e, n);
    bool plain = is_of_block(e, p.initial) && is_of_block(e, p.increment) &&
                 (!p.condition ||
                  (!p.condition->has_collective && uniformity_of(&e->b, p.condition) == UNIFORM));
    if (plain)
        emit_plain_loop(e, n, &p);
    else
        emit_divergent_loop(e, n, &p);
    if (n->is_left_early)
        text_printf(&e->out, "kmm_b.resume(%d);\n", n->number);
    e->is_divergent = outer;
    e->loop_depth = depth;
}

/* All threads that are here jump. */
static void jump_emit(emitter_t *e, node_t *n)
{
    bool returns = n->kind == CXCursor_ReturnStmt;
    if (returns && n->child) {
        if (!hoist(e, n->child, n->child))
            return;
        region_open(e);
        region_note_uses(e, n->child);
        region_add(e, n, jump_result(e, n));
    }
    region_close(e);
    bool leaves_switch = !returns && n->target->kind == CXCursor_SwitchStmt;
    if (!e->is_divergent && (returns || !n->target->is_left_early)) {
        text_printf(&e->out, "%s\n",
                    returns         ? "return;"
                    : leaves_switch ? arena_printf("goto kmm_end%d;", n->target->number)
                                    : edits_copy(e, n->begin, statement_end(&e->b, n)));
        return;
    }
    e->is_masked = true;
    text_printf(&e->out, "kmm_b.leave(%d);\n", jump_state(e, n));
}

static void statement_emit_expression(emitter_t *e, node_t *n)
{
    node_t *x = n;
    while (x->child && !x->child->next &&
           (x->kind == CXCursor_UnexposedExpr || x->kind == CXCursor_ParenExpr))
        x = x->child;
    if (x->kind == CXCursor_BinaryOperator &&
        clang_getCursorBinaryOperatorKind(x->cursor) == CXBinaryOperator_Comma) {
        statement_emit_expression(e, x->child);
        statement_emit_expression(e, x->last);
        return;
    }
    if (n->has_collective && !hoist(e, n, n))
        return;
    const node_t *call = tree_stripped(n);
    if (call_is_barrier(call) || call->collective == COLLECTIVE_LIBRARY ||
        call->collective == COLLECTIVE_FUNCTION)
        return;
    if (changes_block(e, n)) {
        region_close(e);
        text_printf(&e->out, "%s\n%s;\n", edits_line(e, n->begin), edits_copy_node(e, n));
        return;
    }
    per_thread_emit(e, n);
}

/* ---- Loops of threads with a stride ---- */

static bool has_jump(const node_t *n, const node_t *loop)
{
    if ((n->kind == CXCursor_BreakStmt || n->kind == CXCursor_ContinueStmt) && n->target == loop)
        return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (has_jump(c, loop))
            return true;
    return n->kind == CXCursor_ReturnStmt;
}

static bool has_loop(const node_t *n)
{
    if (tree_is_loop(n) || n->kind == CXCursor_CXXForRangeStmt || n->kind == CXCursor_LambdaExpr)
        return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (has_loop(c))
            return true;
    return false;
}

/* `for (int i = first + threadIdx.x; i < n; i += stride)` without barriers: its variable; NULL: it
 * has another form. *is_sure: whether the variable counts along the block; if not, that is looked
 * at when the block runs. */
static variable_t *strided_variable(emitter_t *e, const node_t *n, const parts_t *p, bool *is_sure)
{
    const node_t *declaration =
        p->initial && p->initial->kind == CXCursor_DeclStmt ? p->initial->child : NULL;
    const node_t *condition = p->condition ? tree_bare(p->condition) : NULL,
                 *increment = p->increment ? tree_bare(p->increment) : NULL;
    text_t types = {0};
    if (!declaration || declaration != p->initial->last || !declaration->variable || !condition ||
        !increment || declaration->kind != CXCursor_VarDecl)
        return NULL;
    variable_t *v = declaration->variable;
    if (v->escapes || v->is_reference || v->change_count != 1 || v->change[0] != increment ||
        !v->initializer || !may_be_number(clang_getCursorType(v->cursor)))
        return NULL;
    const char *axis =
        is_index_type(clang_getCursorType(v->cursor)) ? axis_of(e, v->initializer) : NULL;
    *is_sure = axis != NULL;
    axis = axis ? axis : axis_possible_of(e, v->initializer, &types);
    bool counts =
        increment->kind == CXCursor_CompoundAssignOperator &&
        clang_getCursorBinaryOperatorKind(increment->cursor) == CXBinaryOperator_AddAssign &&
        uniformity_of(&e->b, increment->last) == UNIFORM;
    bool ends = condition->kind == CXCursor_BinaryOperator &&
                clang_getCursorBinaryOperatorKind(condition->cursor) == CXBinaryOperator_LT &&
                tree_bare(condition->child)->variable == v &&
                uniformity_of(&e->b, condition->last) == UNIFORM;
    return axis && !strcmp(axis, "x") && counts && ends && !has_jump(p->first, n) ? v : NULL;
}

/* The arrays that the loop indexes by its variable `v`: what it needs of them next lies far from
 * where it is now. */
static void prefetch_next_round(emitter_t *e, const node_t *n, const variable_t *v,
                                const char *stride, text_t *out)
{
    const node_t *base = n->kind == CXCursor_ArraySubscriptExpr ? tree_stripped(n->child) : NULL;
    if (base && base->kind == CXCursor_DeclRefExpr && base->variable &&
        base->variable->storage == STORAGE_UNIFORM && tree_stripped(n->last)->variable == v &&
        clang_getCanonicalType(clang_getCursorType(base->cursor)).kind == CXType_Pointer) {
        const char *text =
            arena_printf("kmm_host_ahead(%s, (size_t)kmm_i%d, (size_t)(%s), kmm_e.x);\n",
                         base->variable->name, v->number, stride);
        if (!out->data || !strstr(out->data, text))
            text_printf(out, "%s", text);
    }
    for (const node_t *c = n->child; c; c = c->next)
        prefetch_next_round(e, c, v, stride, out);
}

typedef struct strided {
    variable_t *v;
    const char *type, *limit, *stride;
} strided_t;

/* A round of the loop is a region. */
static void emit_round(emitter_t *e, const parts_t *p, const strided_t *l, const char *limits,
                       const char *condition)
{
    text_t ahead = {0};
    prefetch_next_round(e, p->first, l->v, l->stride, &ahead);
    if (ahead.data)
        text_add(&e->out, ahead.data, ahead.length);
    region_open(e);
    e->limits = limits;
    independence_note(e, p->first);
    independence_note_order(e, p->first);
    e->is_short = p->first->end - p->first->begin < MAX_SHORT && !has_loop(p->first);
    e->has_exact = *condition;
    e->counter = l->v;
    e->is_counted = is_plain_unsigned(l->v) || !is_index_type(clang_getCursorType(l->v->cursor));
    memory_edit_atomics(e, p->first);
    region_note_uses(e, p->first);
    region_note_uses(e, p->condition);
    region_add(
        e, p->first,
        arena_printf("kmm_host_as<%s> %s = kmm_host_counted(%s, kmm_i%d, (int)threadIdx.x); %s%s",
                     l->type, l->v->name, e->is_counted ? "kmm_small" : "false", l->v->number,
                     condition, edits_copy(e, p->first->begin, statement_end(&e->b, p->first))));
    region_close(e);
}

/* The block goes through the loop, its threads side by side: so memory is used in order, and the
 * compiler can make vectors of threads. */
static void emit_in_step(emitter_t *e, const node_t *n, const parts_t *p, const strided_t *l)
{
    const int number = l->v->number;
    text_printf(&e->out,
                "\n%s\n{ kmm_host_as<%s> kmm_i%d %s; kmm_host_strides kmm_strides%d(kmm_i%d, %s, "
                "%s, kmm_e);\n"
                "for (; kmm_strides%d.goes_on(kmm_i%d < (%s)); kmm_i%d += (%s)) {\n",
                edits_line(e, n->begin), l->type, number, declarator_suffix(e, l->v), number,
                number, l->limit, l->stride, number, number, l->limit, number, l->stride);
    emit_round(e, p, l,
               arena_printf("const bool kmm_exact = kmm_strides%d.is_exact; if (kmm_exact) "
                            "kmm_p.to_x(kmm_host_below(kmm_i%d, %s, kmm_e.x));",
                            number, number, l->limit),
               arena_printf("if (kmm_sure || kmm_strides%d.runs(kmm_t, %s)) ", number,
                            edits_copy_node(e, p->condition)));
    text_printf(&e->out, "} }\n");
}

/* The same where only the block that runs tells whether its threads may go in step; else each
 * thread runs for itself. */
static void emit_maybe_in_step(emitter_t *e, node_t *n, const parts_t *p, const strided_t *l)
{
    const int number = l->v->number;
    text_t generic = {0};
    axis_possible_of(e, l->v->initializer, &generic);
    axis_add_dependent(e, tree_bare(p->condition)->last, &generic);
    axis_add_dependent(e, tree_bare(p->increment)->last, &generic);
    const bool is_generic = generic.length || l->v->is_generic;
    const char *types = arena_printf("kmm_host_counts<kmm_host_as<%s>%s>", l->type,
                                     generic.data ? generic.data : "");
    text_printf(
        &e->out,
        "\n{ bool kmm_done%d = false;\n%sif %s(%s::may) {\n%s\nkmm_host_as<%s> kmm_i%d %s;\n"
        "if (%s::along(kmm_i%d, %s, kmm_e.x) && kmm_host_strides::is_even(kmm_i%d, %s, %s, kmm_e)) "
        "{\nkmm_done%d = true;\n"
        "for (; kmm_i%d < (%s); kmm_i%d += (%s)) {\n",
        number, is_generic ? "#if defined(__cpp_if_constexpr)\n" : "",
        is_generic ? "constexpr " : "", types, edits_line(e, n->begin), l->type, number,
        declarator_suffix(e, l->v), types, number, axis_last_value(e, l->v), number, l->limit,
        l->stride, number, number, l->limit, number, l->stride);
    emit_round(e, p, l,
               arena_printf("kmm_p.to_x(kmm_host_below(kmm_i%d, %s, kmm_e.x));", number, l->limit),
               "");
    text_printf(&e->out, "}\n}\n}\n%sif (!kmm_done%d) {\n", is_generic ? "#endif\n" : "", number);
    per_thread_emit(e, n);
    region_close(e);
    text_printf(&e->out, "} }\n");
}

static bool strided_emit(emitter_t *e, node_t *n)
{
    parts_t p;
    bool is_sure;
    if (n->kind != CXCursor_ForStmt || !can_copy_statement(e, n) || !parts_of(&e->b, n, &p))
        return false;
    variable_t *v = strided_variable(e, n, &p, &is_sure);
    if (!v)
        return false;
    const strided_t l = {v, declarator_type(e, v), edits_copy_node(e, tree_bare(p.condition)->last),
                         edits_copy_node(e, tree_bare(p.increment)->last)};
    region_close(e);
    name_in_block(v->initializer);
    if (is_sure)
        emit_in_step(e, n, &p, &l);
    else
        emit_maybe_in_step(e, n, &p, &l);
    return true;
}

static void statement_emit(emitter_t *e, node_t *n)
{
    if (e->b.reason || n->kind == CXCursor_NullStmt)
        return;
    if (n->kind == CXCursor_DeclStmt)
        declaration_emit(e, n);
    else if (clang_isExpression(n->kind))
        statement_emit_expression(e, n);
    else if (!n->is_divided) {
        if (!strided_emit(e, n))
            per_thread_emit(e, n);
    } else if (n->kind == CXCursor_CompoundStmt)
        statement_emit_inner(e, n);
    else if (n->kind == CXCursor_IfStmt)
        emit_if(e, n);
    else if (n->kind == CXCursor_SwitchStmt)
        switch_emit(e, n);
    else if (tree_is_loop(n))
        loop_emit(e, n);
    else if (n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
             n->kind == CXCursor_ContinueStmt)
        jump_emit(e, n);
    else
        emitter_fail(e, n, "a barrier stands in a statement that cannot be split");
}

/* ---- The body ---- */

static void emit_parameters(emitter_t *e)
{
    for (int k = 0; k < e->b.variable_count; k++) {
        variable_t *v = &e->b.variable[k];
        if (!v->is_parameter || !*v->name)
            continue;
        v->is_block_level = true;
        if (v->storage != STORAGE_THREAD)
            continue;
        const char *type = declarator_type(e, v);
        if (strstr(type, "...")) {
            emitter_fail(e, e->b.root, "it takes any number of arguments");
            return;
        }
        if (!e->s->is_kernel) {
            text_printf(&e->out, "%skmm_host_as<%s> &%s __attribute__((unused)) = %s[0];\n",
                        declarator_is_const(v) ? "const " : "", type, v->name,
                        declarator_values(v));
            continue;
        }
        text_printf(&e->out, "kmm_host_values<%s> %s;\n", type, declarator_values(v));
        region_open(e);
        text_printf(&e->region, " ::new (static_cast<void *>(&%s[kmm_t])) kmm_host_as<%s>(%s);",
                    declarator_values(v), type, v->name);
        region_close(e);
    }
}

static void emit_body(emitter_t *e)
{
    e->out = (text_t){0};
    e->region_number = e->loop_depth = e->numbers = e->collective_count = 0;
    e->is_divergent = e->is_open = false;
    e->is_masked |= !e->s->is_kernel; /* not all threads may have called it */
    if (e->is_sized)
        text_printf(&e->out, "{ KMM_HOST_SIZED_VALUES(%u, %u, %u)\n", e->s->extent[0],
                    e->s->extent[1], e->s->extent[2]);
    else
        text_printf(&e->out, "{ KMM_HOST_BLOCK_VALUES\n");
    emit_parameters(e);
    statement_emit_children(e, e->b.root);
    text_printf(&e->out, "}\n%s\n", edits_line(e, e->b.root->end - 1));
}

/* The unit's edits of the body become ours. */
static void edits_take(emitter_t *e)
{
    unit_t *u = e->s->u;
    for (int k = 0; k < u->edit_count; k++)
        if (u->edits[k].begin >= e->b.root->begin && u->edits[k].end <= e->b.root->end)
            edits_add(e, u->edits[k].begin, u->edits[k].end, u->edits[k].text);
}

static void edits_release(const emitter_t *e)
{
    unit_t *u = e->s->u;
    int kept = 0;
    for (int k = 0; k < u->edit_count; k++)
        if (u->edits[k].begin < e->b.root->begin || u->edits[k].end > e->b.root->end)
            u->edits[kept++] = u->edits[k];
    u->edit_count = kept;
}

/* What no other region uses is declared as it was. */
static void forget_local(emitter_t *e)
{
    for (int k = 0; k < e->b.variable_count; k++) {
        variable_t *v = &e->b.variable[k];
        bool is_pointed_at = v->is_pointed_at && e->b.root->has_collective;
        if (v->storage == STORAGE_THREAD && v->is_block_level && !v->is_parameter &&
            !v->crosses_regions && !v->is_named_by_block && !is_pointed_at)
            v->storage = STORAGE_REGION;
    }
}

/* ---- Blocks side by side ---- */

/* "threadIdx.x", "blockIdx.y" ...; "": another expression. Conversions between integers are left
 * out. */
static const char *index_name(const node_t *n)
{
    const node_t *inner = tree_stripped(n);
    for (; n != inner; n = n->child)
        if (!is_index_type(clang_getCursorType(n->cursor)))
            return "";
    if (!n || n->kind != CXCursor_MemberRefExpr || !n->child ||
        tree_stripped(n->child)->kind != CXCursor_DeclRefExpr)
        return "";
    return arena_printf("%s.%s",
                        clang_text(clang_getCursorSpelling(tree_stripped(n->child)->cursor)),
                        clang_text(clang_getCursorSpelling(n->cursor)));
}

static bool is_sum(const node_t *n)
{
    return n->kind == CXCursor_BinaryOperator &&
           clang_getCursorBinaryOperatorKind(n->cursor) == CXBinaryOperator_Add &&
           is_index_type(clang_getCursorType(n->cursor));
}

/* The terms of a sum: `threadIdx.x`, `blockIdx.x * blockDim.x` and others, which are looked at with
 * `look`. */
typedef struct terms {
    int threads, blocks;
} terms_t;
static bool wide_is_possible(const node_t *n);

static bool count_terms(const node_t *n, terms_t *found, bool look)
{
    const node_t *inner = tree_stripped(n);
    if (is_sum(inner) && is_index_type(clang_getCursorType(n->cursor)))
        return count_terms(inner->child, found, look) && count_terms(inner->last, found, look);
    bool is_product = inner->kind == CXCursor_BinaryOperator &&
                      clang_getCursorBinaryOperatorKind(inner->cursor) == CXBinaryOperator_Mul;
    const char *left = is_product ? index_name(inner->child) : "",
               *right = is_product ? index_name(inner->last) : "";
    bool is_block = (!strcmp(left, "blockIdx.x") && !strcmp(right, "blockDim.x")) ||
                    (!strcmp(left, "blockDim.x") && !strcmp(right, "blockIdx.x"));
    bool is_thread = !strcmp(index_name(n), "threadIdx.x");
    found->threads += is_thread;
    found->blocks += is_block;
    return is_block || is_thread || !look || wide_is_possible(n);
}

/* Whether the code asks for the thread's place along x only as blockIdx.x * blockDim.x +
 * threadIdx.x: then blocks that lie side by side are as good as a wide one. */
static bool wide_is_possible(const node_t *n)
{
    terms_t found = {0, 0};
    if (n->kind == CXCursor_LambdaExpr)
        return false;
    if (is_sum(n) && count_terms(n, &found, false) && found.threads == 1 && found.blocks == 1)
        return count_terms(n, &found, true);
    const char *name = n->kind == CXCursor_MemberRefExpr ? index_name(n) : "";
    if (!strcmp(name, "threadIdx.x") || !strcmp(name, "blockIdx.x"))
        return false;
    if (*name)
        return true;
    name = n->kind == CXCursor_DeclRefExpr && !n->variable
               ? clang_text(clang_getCursorSpelling(n->cursor))
               : "";
    if (!strcmp(name, "threadIdx") || !strcmp(name, "blockIdx"))
        return false;
    for (const node_t *c = n->child; c; c = c->next)
        if (!wide_is_possible(c))
            return false;
    return true;
}

static bool has_each(const emitter_t *e)
{
    for (int k = 0; k < e->b.variable_count; k++) {
        const variable_t *v = &e->b.variable[k];
        if (v->storage == STORAGE_SHARED || (v->storage == STORAGE_THREAD && v->is_block_level))
            return true;
    }
    return false;
}

/* Flags of kmm_launch.h. */
static int found_flags(const emitter_t *e)
{
    bool needs_states = e->is_masked || e->collective_count > 0;
    bool is_alone = !needs_states && !e->b.root->has_collective && !e->s->flags && !has_each(e) &&
                    wide_is_possible(e->b.root);
    return (needs_states ? KMM_HOST_STATES : 0) | (is_alone ? KMM_HOST_WIDE : 0);
}

/* The same text for blocks of a known size. */
static void write_sized(emitter_t *e, int edits)
{
    e->pass = 2;
    e->is_sized = true;
    e->edit_count = edits;
    emit_body(e);
    if (!e->b.reason)
        *e->s->sized = e->out.data;
}

const char *split_body(const split_t *s, int *flags, const char **reason, size_t *reason_at)
{
    emitter_t e = {.s = s};
    int edits = 0;
    if (tree_read(&e.b, s->u, s->function, s->collective_of, s->context)) {
        e.b.is_kernel = s->is_kernel;
        uniformity_find(&e.b);
        edits_take(&e);
        edits = e.edit_count;
        for (e.pass = 0; e.pass < 3 && !e.b.reason; e.pass++) {
            e.edit_count = edits;
            e.is_masked = e.pass == 2 && e.is_masked;
            emit_body(&e);
            e.last_region = e.region_number;
            forget_local(&e);
        }
    }
    *reason = e.b.reason;
    *reason_at = e.b.reason_at;
    if (e.b.reason)
        return NULL;
    *flags = found_flags(&e);
    const char *text = e.out.data;
    if (s->extent && e.gains_by_size && !e.has_static && !e.is_masked && e.b.root->has_collective)
        write_sized(&e, edits);
    if (!s->keeps_edits)
        edits_release(&e);
    return text;
}
