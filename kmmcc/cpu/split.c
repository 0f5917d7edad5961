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
    text_t generic;  /* types that depend on a template's arguments: that holds only where they are
                        numbers */
    bool is_apart;   /* no thread of the region that is open uses what another one changes:
                        kmm_launch.h */
    bool is_short;   /* the region that is open does little */
    bool is_counted; /* the region that is open finds memory by an unsigned number that counts along
                        the block */
    bool has_exact; /* kmm_exact says whether the bounds of the region that is open are all there is
                       to its condition */
    bool has_stored, has_strides, is_crossed; /* of the region that is open: memory has been stored
                                                 to; is used in steps; is read after a store */
    const variable_t *counter; /* of the loop with a stride that the region is in; NULL: none */
    const char *part; /* statements that limit kmm_p, the threads that the region that is open
                         concerns; NULL: all */
    variable_t *bound[MAX_BOUND];
    int bound_count;
    int region_number, last_region, loop_depth; /* last_region: as the pass before found it */
    bool varies;           /* inside a branch or loop that some threads do not run */
    const node_t *parting; /* the condition of a branch around that depends on nothing but the
                              thread's place */
    bool is_masked;        /* some statement changes states */
    bool is_sized;         /* the text is for blocks of the size s->extent */
    bool gains;            /* that makes some loops' lengths known */
    bool has_static;       /* a variable of the program's that there is only one of */
    int numbers, operations;
    edit_t *edit; /* of the body's text */
    int edit_count, edit_capacity;
} emitter_t;

static bool fail(emitter_t *e, const node_t *n, const char *reason)
{
    return body_fail(&e->b, n, reason);
}

static bool is_name(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list))
            return true;
    return false;
}

/* ---- Text of the source with edits ---- */

static void add_edit(emitter_t *e, size_t begin, size_t end, const char *text)
{
    if (e->edit_count == e->edit_capacity) {
        e->edit_capacity = 2 * e->edit_capacity + 64;
        edit_t *edit = arena_alloc((size_t)e->edit_capacity * sizeof(*edit));
        if (e->edit_count)
            memcpy(edit, e->edit, (size_t)e->edit_count * sizeof(*edit));
        e->edit = edit;
    }
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

static const char *copy(const emitter_t *e, size_t begin, size_t end)
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

static const char *copy_node(const emitter_t *e, const node_t *n)
{
    return copy(e, n->begin, n->end);
}

static const char *line_of(const emitter_t *e, size_t at)
{
    return source_line_marker(e->s->u->source, source_line(e->s->u->source, at));
}

/* Whether preprocessor conditions in the text begin and end in it. */
static bool is_balanced(emitter_t *e, const node_t *n, size_t begin, size_t end)
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
            return fail(e, n, "a preprocessor line divides a statement");
    }
    return depth == 0 || fail(e, n, "a preprocessor line divides a statement");
}

/* ---- Types ---- */

/* clang spells such types without the namespaces that the place needs. */
static bool is_deduced(CXType type)
{
    return type.kind == CXType_Auto ||
           (type.kind == CXType_Pointer && is_deduced(clang_getPointeeType(type)));
}

static const char *type_text(emitter_t *e, const variable_t *v)
{
    const char *text =
        clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(clang_getCursorType(v->cursor))));
    const node_t *n = v->declaration;
    if (strstr(text, "(lambda") || strstr(text, "(unnamed") || strstr(text, "(anonymous")) {
        fail(e, n, "a variable's type has no name");
        return "int";
    }
    if (is_deduced(clang_getCursorType(v->cursor)) || !strncmp(text, "auto", 4) ||
        !strncmp(text, "decltype", 8)) {
        if (!v->initializer || text[4] == ' ') {
            fail(e, n, "a variable's type is not known");
            return "int";
        }
        return arena_printf("kmm_host_decay<decltype(%s)>", copy_node(e, v->initializer));
    }
    return text;
}

static bool is_const(const variable_t *v)
{
    return clang_isConstQualifiedType(clang_getCursorType(v->cursor));
}

static const char *storage(const variable_t *v)
{
    return arena_printf("kmm_v%d", v->number);
}

/* The text behind the name in a declaration. */
static const char *suffix(emitter_t *e, const variable_t *v)
{
    unsigned offset;
    const source_t *s = e->s->u->source;
    clang_getFileLocation(clang_getCursorLocation(v->cursor), NULL, NULL, NULL, &offset);
    size_t at = unit_offset(e->s->u, offset);
    lexer_t l = lexer_at(s, at, v->declaration->end);
    l.line_start = false;
    token_t t = lex(&l);
    if (!token_is(s, t, v->name)) {
        fail(e, v->declaration, "a declaration comes from a macro");
        return "";
    }
    bool is_next = true;
    int depth = 0;
    for (t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (depth == 0 && (token_is(s, t, "=") || token_is(s, t, "{")))
            return copy(e, t.begin, v->declaration->end);
        if (is_next && token_is(s, t, "("))
            return copy(e, t.begin, v->declaration->end);
        is_next = false;
        depth +=
            token_is(s, t, "(") + token_is(s, t, "[") - token_is(s, t, ")") - token_is(s, t, "]");
    }
    return "";
}

/* ---- Counting along the block ---- */

static const node_t *stripped(const node_t *n)
{
    while (n && n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr ||
            n->kind == CXCursor_CStyleCastExpr))
        n = n->child;
    return n;
}

/* Without parentheses and what is converted by itself. */
static const node_t *bare(const node_t *n)
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
static bool is_place_of_thread(const node_t *n)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};
    const node_t *base = n->kind == CXCursor_MemberRefExpr && n->child ? stripped(n->child) : NULL;
    return base && base->kind == CXCursor_DeclRefExpr && !base->variable &&
           is_name(clang_text(clang_getCursorSpelling(base->cursor)), names);
}
static bool may_wrap(const node_t *n)
{
    const CXType type = clang_getCanonicalType(clang_getCursorType(n->cursor));
    const enum CXBinaryOperatorKind kind = n->kind == CXCursor_BinaryOperator
                                               ? clang_getCursorBinaryOperatorKind(n->cursor)
                                               : CXBinaryOperator_Invalid;
    if (is_place_of_thread(n) || is_not_negative(n))
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
static const char *direction_of(const emitter_t *e, const node_t *n)
{
    for (const node_t *inner = stripped(n); n != inner; n = n->child)
        if ((n->kind == CXCursor_CStyleCastExpr &&
             !is_index_type(clang_getCursorType(n->cursor))) ||
            (widens(n) && may_wrap(n->child)))
            return NULL;
    if (!n || !is_index_type(clang_getCursorType(n->cursor)))
        return NULL;
    if (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->keep == KEEP_AGAIN &&
        !n->variable->is_reference)
        return direction_of(e, n->variable->initializer);
    if (n->kind == CXCursor_BinaryOperator) {
        enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
        if ((kind == CXBinaryOperator_Add || kind == CXBinaryOperator_Sub) &&
            vary_of(&e->b, n->last) == VARY_NOT)
            return direction_of(e, n->child);
        return kind == CXBinaryOperator_Add && vary_of(&e->b, n->child) == VARY_NOT
                   ? direction_of(e, n->last)
                   : NULL;
    }
    if (n->kind != CXCursor_MemberRefExpr || !n->child)
        return NULL;
    const node_t *base = stripped(n->child);
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
static const char *counts_surely(const emitter_t *e, const variable_t *v)
{
    if (v->keep != KEEP_AGAIN || v->is_reference || !v->initializer ||
        !is_index_type(clang_getCursorType(v->cursor)))
        return NULL;
    return direction_of(e, v->initializer);
}

static const char *may_count_along(const emitter_t *e, const variable_t *v);

static const char *counts_along(const emitter_t *e, const variable_t *v)
{
    const char *direction = counts_surely(e, v);
    return direction                                   ? direction
           : v->keep == KEEP_AGAIN && !v->is_reference ? may_count_along(e, v)
                                                       : NULL;
}

static bool is_plain_unsigned(const variable_t *v)
{
    return clang_getCanonicalType(clang_getCursorType(v->cursor)).kind == CXType_UInt;
}

/* Whether it may come to 0 again within the block: where it is seen not to, kmm_small says so. */
static bool may_begin_again(const emitter_t *e, const variable_t *v)
{
    return is_plain_unsigned(v) || !counts_surely(e, v);
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
static void add_generic(const emitter_t *e, const node_t *n, text_t *types)
{
    if (!is_known_number(clang_getCursorType(n->cursor)) && n->end > n->begin)
        text_printf(types, ", decltype(%s)", copy_node(e, n));
}

/* Whether the expression is threadIdx.x plus what is the same for all threads but for the types in
 * between, where it may begin at 0 again, or be no number: "x", "y" or NULL. What must be integers
 * is added to `types`. */
static const char *may_be_direction(const emitter_t *e, const node_t *n, text_t *types)
{
    for (const node_t *inner = converted(n); inner; n = inner, inner = converted(n)) {
        if (!may_be_number(clang_getCursorType(n->cursor)))
            return NULL;
        add_generic(e, n, types);
    }
    if (!may_be_number(clang_getCursorType(n->cursor)))
        return NULL;
    add_generic(e, n, types);
    if (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->keep == KEEP_AGAIN &&
        !n->variable->is_reference)
        return may_be_direction(e, n->variable->initializer, types);
    if (n->kind != CXCursor_BinaryOperator)
        return direction_of(e, n);
    enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
    if (kind != CXBinaryOperator_Add && kind != CXBinaryOperator_Sub)
        return NULL;
    const bool is_first = vary_of(&e->b, n->last) == VARY_NOT;
    const node_t *other = is_first ? n->last : n->child;
    if ((!is_first && kind == CXBinaryOperator_Sub) || vary_of(&e->b, other) != VARY_NOT ||
        !may_be_number(clang_getCursorType(other->cursor)))
        return NULL;
    add_generic(e, other, types);
    return may_be_direction(e, is_first ? n->child : n->last, types);
}

static const char *may_count_along(const emitter_t *e, const variable_t *v)
{
    text_t types = {0};
    return v->initializer && may_be_number(clang_getCursorType(v->cursor))
               ? may_be_direction(e, v->initializer, &types)
               : NULL;
}

/* The types that must be integers for that, the variable's first. */
static const char *counting_types(emitter_t *e, const variable_t *v)
{
    text_t types = {0};
    text_printf(&types, "kmm_host_as<%s>", type_text(e, v));
    may_be_direction(e, v->initializer, &types);
    return types.data;
}

/* Declarations of what is made of the thread's place in an expression. */
static void add_places(emitter_t *e, const node_t *n, text_t *out)
{
    const variable_t *v = n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
    if (v && v->keep == KEEP_AGAIN && !v->is_reference) {
        add_places(e, v->initializer, out);
        const char *text = arena_printf("const kmm_host_as<%s> %s __attribute__((unused)) %s; ",
                                        type_text(e, v), v->name, suffix(e, v));
        if (!out->data || !strstr(out->data, text))
            text_add(out, text, strlen(text));
    }
    for (const node_t *c = n->child; c; c = c->next)
        add_places(e, c, out);
}

/* What the variable is for the block's last thread. */
static const char *last_value(emitter_t *e, const variable_t *v)
{
    text_t places = {0};
    add_places(e, v->initializer, &places);
    const char *type = type_text(e, v);
    return arena_printf("[&](const uint3 threadIdx __attribute__((unused))) -> kmm_host_as<%s> { "
                        "%skmm_host_as<%s> kmm_value %s; return kmm_value; }"
                        "(kmm_host_last_place(kmm_e))",
                        type, places.data ? places.data : "", type, suffix(e, v));
}

/* Whether memory may be found by the expression. */
static bool is_in_subscript(const node_t *n)
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

static void use_early(node_t *n)
{
    if (n->variable) {
        n->variable->is_used_early = true;
        if (n->variable->keep == KEEP_AGAIN && n->kind == CXCursor_DeclRefExpr)
            use_early(n->variable->initializer);
    }
    for (node_t *c = n->child; c; c = c->next)
        use_early(c);
}

static void bind(emitter_t *e, variable_t *v)
{
    for (int k = 0; k < e->bound_count; k++)
        if (e->bound[k] == v)
            return;
    for (int k = 0; k < e->bound_count; k++)
        if (!strcmp(e->bound[k]->name, v->name)) {
            fail(e, v->declaration, "two variables of one name are used together");
            return;
        }
    if (e->bound_count == MAX_BOUND)
        fail(e, v->declaration, "it has too many variables");
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

static void note_uses(emitter_t *e, const node_t *n)
{
    variable_t *v = n->variable;
    if (v && n->kind == CXCursor_DeclRefExpr && v->is_top) {
        if (v->keep == KEEP_AGAIN) {
            e->is_counted |= counts_along(e, v) && may_begin_again(e, v) && is_in_subscript(n);
            bind(e, v);
            note_uses(e, v->initializer);
        } else if (v->keep == KEEP_EACH && v->region != e->region_number) {
            v->crosses = true;
            bind(e, v);
            if (is_changed_by(v, n))
                v->changed_in = e->region_number;
        }
    }
    for (const node_t *c = n->child; c; c = c->next)
        note_uses(e, c);
}

/* A number that nothing points to. */
static bool is_at_home(const variable_t *v)
{
    const enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(v->cursor)).kind;
    return kind >= CXType_Char_U && kind <= CXType_LongDouble && !v->escapes && !v->is_kept;
}

static void add_binding(emitter_t *e, const variable_t *v)
{
    const char *direction = v->keep == KEEP_AGAIN ? counts_along(e, v) : NULL;
    const bool is_sure = direction && counts_surely(e, v);
    if (direction && !is_sure && e->is_counted)
        text_printf(&e->out,
                    "const kmm_host_as<%s> %s __attribute__((unused)) = "
                    "kmm_host_counted_or(kmm_small, kmm_i%d, (int)threadIdx.%s, [&]() "
                    "__attribute__((always_inline)) -> kmm_host_as<%s> { kmm_host_as<%s> kmm_value "
                    "%s; return kmm_value; }); ",
                    type_text(e, v), v->name, v->number, direction, type_text(e, v),
                    type_text(e, v), suffix(e, v));
    else if (is_sure && may_begin_again(e, v) && e->is_counted)
        text_printf(&e->out,
                    "const kmm_host_as<%s> %s __attribute__((unused)) = "
                    "kmm_host_counted(kmm_small, kmm_i%d, (int)threadIdx.%s); ",
                    type_text(e, v), v->name, v->number, direction);
    else if (is_sure && !may_begin_again(e, v))
        text_printf(
            &e->out,
            "const kmm_host_as<%s> %s __attribute__((unused)) = kmm_i%d + (int)threadIdx.%s; ",
            type_text(e, v), v->name, v->number, direction);
    else if (v->keep == KEEP_AGAIN)
        text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s; ",
                    is_const(v) ? "const " : "", type_text(e, v), v->name, suffix(e, v));
    else if (v->changed_in == e->region_number && is_at_home(v))
        text_printf(&e->out,
                    "kmm_host_home<%s> kmm_h%d(%s[kmm_t]); kmm_host_as<%s> &%s "
                    "__attribute__((unused)) = kmm_h%d.value; ",
                    type_text(e, v), v->number, storage(v), type_text(e, v), v->name, v->number);
    else
        text_printf(&e->out, "%skmm_host_as<%s> &%s __attribute__((unused)) = %s[kmm_t]; ",
                    is_const(v) ? "const " : "", type_text(e, v), v->name, storage(v));
}

/* ---- Regions ---- */

static void open_region(emitter_t *e)
{
    if (e->is_open)
        return;
    e->is_open = true;
    e->region_number++;
    e->region = e->generic = (text_t){0};
    e->bound_count = 0;
    e->changes_state = false;
    e->is_apart = !e->s->flags;
    e->is_short = e->is_counted = e->has_exact = false;
    e->has_stored = e->has_strides = e->is_crossed = false;
    e->part = NULL;
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
        const char *direction =
            may_begin_again(e, e->bound[k]) ? counts_along(e, e->bound[k]) : NULL;
        if (direction && !counts_surely(e, e->bound[k]))
            text_printf(&out, " && kmm_counts%d", e->bound[k]->number);
        if (direction)
            text_printf(&out, " && kmm_host_is_small(kmm_i%d, kmm_e.%s)", e->bound[k]->number,
                        direction);
    }
    text_printf(&out, ", KMM_HOST_EACH_COUNTED");
    return out.data;
}

static void close_region(emitter_t *e)
{
    if (!e->is_open)
        return;
    e->is_open = false;
    if (e->part)
        text_printf(&e->out, "\n{ kmm_host_part kmm_p = kmm_host_whole(kmm_e); %s", e->part);
    const char *head = e->generic.length && e->is_apart
                           ? arena_printf("kmm_host_apart_if<%s>(", e->generic.data)
                           : "";
    text_printf(&e->out, "\n%s%s<%s%d%s>(kmm_e, %s%s { ",
                e->is_masked    ? e->is_counted ? "kmm_b.each_counted" : "kmm_b.each_active"
                : e->is_counted ? "kmm_host_each_counted"
                                : "kmm_host_each",
                e->last_region > MANY_REGIONS ? "_far" : "", head,
                e->s->flags | (e->is_apart   ? e->is_crossed && e->has_strides ? 16 | 2048 : 16
                               : e->is_short ? 256
                                             : 0),
                *head ? ")" : "", e->part ? "kmm_p" : "kmm_host_whole(kmm_e)",
                e->is_counted ? small_text(e) : ", KMM_HOST_EACH");
    if (e->has_exact)
        text_printf(&e->out, "const bool kmm_sure = %skmm_exact; ",
                    e->is_counted ? "kmm_small || " : "");
    for (int number = 0; number < e->b.variable_count; number++)
        for (int k = 0; k < e->bound_count; k++)
            if (e->bound[k]->number == number)
                add_binding(e, e->bound[k]);
    text_add(&e->out, e->region.data ? e->region.data : "", e->region.length);
    text_printf(&e->out, " });%s\n", e->part ? " }" : "");
    if (e->changes_state)
        text_printf(&e->out, "kmm_b.update();\n");
}

static void change_state(emitter_t *e)
{
    e->changes_state = e->is_masked = true;
}

/* ---- Jumps of single threads ---- */

static const char *result_text(const emitter_t *e, const node_t *jump)
{
    if (!jump->child)
        return "";
    const node_t *value = stripped(jump->child);
    bool is_list = value->kind == CXCursor_BinaryOperator &&
                   clang_getCursorBinaryOperatorKind(value->cursor) == CXBinaryOperator_Comma;
    if (clang_getCanonicalType(clang_getCursorResultType(e->s->function)).kind == CXType_Void)
        return arena_printf("%s; ", copy_node(e, jump->child));
    return arena_printf(is_list ? "kmm_result.give(kmm_t, (%s)); " : "kmm_result.give(kmm_t, %s); ",
                        copy_node(e, jump->child));
}

static bool is_target_of_block(const node_t *jump)
{
    return jump->kind == CXCursor_ReturnStmt ||
           (jump->target && jump->target->syncs &&
            (body_is_loop(jump->target) || jump->target->kind == CXCursor_SwitchStmt));
}

static int jump_state(const emitter_t *e, const node_t *jump)
{
    if (jump->kind == CXCursor_ReturnStmt)
        return e->s->is_kernel ? 255 : 254;
    return jump->target->number + (jump->kind == CXCursor_ContinueStmt);
}

/* A jump in a region ends it for the thread; one that leads out of it also changes the thread's
 * state. */
static void edit_jumps(emitter_t *e, const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr)
        return;
    for (const node_t *c = n->child; c; c = c->next)
        edit_jumps(e, c);
    bool jumps = n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
                 n->kind == CXCursor_ContinueStmt;
    if (!jumps || !is_target_of_block(n))
        return;
    bool ends = n->kind == CXCursor_ReturnStmt && e->pass > 0 &&
                e->region_number == e->last_region && e->loop_depth == 0;
    const char *state = ends ? "" : arena_printf("kmm_b.state[kmm_t] = %d; ", jump_state(e, n));
    if (!ends)
        change_state(e);
    add_edit(e, n->begin, body_end(&e->b, n),
             arena_printf("{ %s%sreturn; }", result_text(e, n), state));
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
        if (is_name(token_text(s, lex(&inner)), words))
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
    return before ? body_end(&e->b, before) : n->parent->begin + 1;
}

static void add_definitions(emitter_t *e, size_t begin, size_t end)
{
    const char *lines = lines_between(e, begin, end, definitions);
    if (*lines)
        text_printf(e->is_open ? &e->region : &e->out, "%s", lines);
}

static void add_pragmas(emitter_t *e, const node_t *n)
{
    static const char *const pragmas[] = {"pragma", NULL};
    if (n->parent && n->parent->kind == CXCursor_CompoundStmt)
        text_printf(&e->region, "%s", lines_between(e, end_before(e, n), n->begin, pragmas));
}

static void add_text(emitter_t *e, const node_t *n, const char *text)
{
    text_printf(&e->region, "\n%s\n%s", line_of(e, n->begin), text);
}

static bool is_place(emitter_t *e, const node_t *n)
{
    if (n->end <= n->begin)
        return fail(e, n->parent, "a statement comes from a macro");
    const node_t *p = n->parent;
    for (const node_t *c = p ? p->child : NULL; c && c->next; c = c->next)
        if (p->kind == CXCursor_CompoundStmt && c->next == n && n->begin < c->end)
            return fail(e, n, "a macro has several statements");
    return is_balanced(e, n, n->begin, body_end(&e->b, n));
}

/* ---- Atomics of shared memory ---- */

/* The variable whose memory the address is in; NULL if that is not seen. */
static const variable_t *memory_of(const node_t *n)
{
    n = stripped(n);
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
        n = stripped(n->child);
    }
    return n && n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
}

static bool is_atomic_of_block(const node_t *n)
{
    static const char *const names[] = {"atomicAdd", "atomicSub",  "atomicMin",
                                        "atomicMax", "atomicAnd",  "atomicOr",
                                        "atomicXor", "atomicExch", NULL};
    node_t *argument[2];
    if (n->kind != CXCursor_CallExpr || !is_name(body_call_name(n), names) ||
        body_arguments(n, argument, 2) != 2)
        return false;
    const variable_t *v = memory_of(argument[0]);
    return v && v->keep == KEEP_SHARED && v->is_array;
}

/* A block's shared memory is used by one thread of the CPU: there nothing needs to be atomic. */
static void edit_atomics(emitter_t *e, const node_t *n)
{
    for (node_t *c = n->child; c; c = c->next)
        edit_atomics(e, c);
    const char *name = is_atomic_of_block(n) ? body_call_name(n) : NULL;
    if (name && !strncmp(e->s->u->source->text + n->begin, name, strlen(name)))
        add_edit(e, n->begin, n->begin + strlen(name), arena_printf("kmm_host_alone::%s", name));
}

typedef struct bounds {
    text_t part, exact;
    bool is_complete;
} bounds_t;

static void use_early(node_t *n);

/* The variable that the expression is, if only the block that runs tells whether it counts. */
static const variable_t *looked_at_when_run(const emitter_t *e, const node_t *n)
{
    n = bare(n);
    const variable_t *v = n && n->kind == CXCursor_DeclRefExpr ? n->variable : NULL;
    return v && v->keep == KEEP_AGAIN && !v->is_reference && v->is_top && !counts_surely(e, v) &&
                   may_count_along(e, v)
               ? v
               : NULL;
}

static void add_bound(emitter_t *e, bounds_t *b, node_t *thread, node_t *other,
                      const char *direction, enum CXBinaryOperatorKind kind)
{
    const char *pair = arena_printf("%s, %s", copy_node(e, thread), copy_node(e, other));
    const variable_t *looked_at = looked_at_when_run(e, thread);
    use_early(thread);
    if (looked_at) {
        text_printf(&b->part, "if (kmm_counts%d) { ", looked_at->number);
        text_printf(&b->exact, " && kmm_counts%d", looked_at->number);
    }
    if (kind == CXBinaryOperator_GT || kind == CXBinaryOperator_GE || kind == CXBinaryOperator_EQ)
        text_printf(&b->part, "kmm_p.from_%s(kmm_host_from%s(%s, kmm_e.%s)); ", direction,
                    kind == CXBinaryOperator_GT ? "_behind" : "", pair, direction);
    if (kind != CXBinaryOperator_GT && kind != CXBinaryOperator_GE)
        text_printf(&b->part, "kmm_p.to_%s(kmm_host_below%s(%s, kmm_e.%s)); ", direction,
                    kind == CXBinaryOperator_LT ? "" : "_or_at", pair, direction);
    text_printf(&b->part, looked_at ? "} " : "");
    text_printf(&b->exact, " && kmm_host_exact(%s, kmm_e.%s)", pair, direction);
}

static const char *bound_direction(const emitter_t *e, const node_t *n)
{
    const variable_t *v = looked_at_when_run(e, n);
    return v ? counts_along(e, v) : direction_of(e, n);
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

static enum CXBinaryOperatorKind turned(enum CXBinaryOperatorKind kind)
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
    const node_t *n = stripped(condition);
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
        const char *left = bound_direction(e, n->child), *right = bound_direction(e, n->last);
        if (left && vary_of(&e->b, n->last) == VARY_NOT && n->last->end > n->last->begin) {
            add_bound(e, b, n->child, n->last, left, kind);
            return;
        }
        if (right && vary_of(&e->b, n->child) == VARY_NOT && n->child->end > n->child->begin) {
            add_bound(e, b, n->last, n->child, right, turned(kind));
            return;
        }
    }
    b->is_complete = false;
}

static bool bounds_of(emitter_t *e, const node_t *condition, bool contrary, bounds_t *b)
{
    *b = (bounds_t){.is_complete = true};
    find_bounds(e, condition, contrary, b);
    if (!b->part.length)
        return false;
    if (b->is_complete)
        text_printf(&b->part, "const bool kmm_exact __attribute__((unused)) = true%s;",
                    b->exact.data);
    return true;
}

/* Whether the compiler may take the threads for independent: nothing lies in memory that they use
 * in turn. */
static bool is_apart(const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr || n->kind == CXCursor_CXXForRangeStmt ||
        n->kind == CXCursor_GCCAsmStmt || n->kind == CXCursor_CXXNewExpr)
        return false;
    if (n->kind == CXCursor_VarDecl && n->variable &&
        (!n->variable->is_scalar || n->variable->escapes) && n->variable->keep != KEEP_SHARED)
        return false;
    if (n->kind == CXCursor_CallExpr) {
        CXCursor f = clang_getCursorReferenced(n->cursor);
        if (clang_Cursor_isNull(f) ||
            !clang_Location_isInSystemHeader(clang_getCursorLocation(f)) || is_atomic_of_block(n))
            return false;
    }
    for (const node_t *c = n->child; c; c = c->next)
        if (!is_apart(c))
            return false;
    return true;
}

/* The types in the region of which only an instance of the template tells what they are. */
static void note_generic(emitter_t *e, const node_t *n)
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
        note_generic(e, c);
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
static void note_apart(emitter_t *e, const node_t *n)
{
    e->is_apart &= is_apart(n) && !has_pack(n);
    if (e->is_apart)
        note_generic(e, n);
}

/* ---- What one thread stores and reads again ---- */

/* Memory that lies beyond the block and may be another pointer's, too. */
static bool is_memory(const node_t *n)
{
    bool is_access = n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_MemberRefExpr ||
                     (n->kind == CXCursor_UnaryOperator &&
                      clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_Deref) ||
                     (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->is_reference);
    if (!is_access ||
        (n->kind == CXCursor_MemberRefExpr && n->child &&
         stripped(n->child)->kind == CXCursor_DeclRefExpr && !stripped(n->child)->variable))
        return false;
    const variable_t *v = memory_of(n);
    return !v || (v->keep != KEEP_SHARED &&
                  (v->is_reference ||
                   clang_getCanonicalType(clang_getCursorType(v->cursor)).kind == CXType_Pointer));
}

/* Threads side by side use what lies side by side, each one number. */
static bool is_side_by_side(const emitter_t *e, const node_t *n)
{
    return n->kind == CXCursor_ArraySubscriptExpr &&
           clang_getCanonicalType(clang_getCursorType(n->cursor)).kind != CXType_Record &&
           (direction_of(e, n->last) || vary_of(&e->b, n->last) == VARY_NOT);
}

static void note_access(emitter_t *e, const node_t *n, bool reads, bool stores)
{
    e->has_strides |= !is_side_by_side(e, n);
    e->is_crossed |= reads && e->has_stored;
    e->has_stored |= stores;
}

/* In the order in which a thread does it; what is in a loop comes after itself, too. */
static void note_order(emitter_t *e, const node_t *n)
{
    const enum CXBinaryOperatorKind kind =
        n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_CompoundAssignOperator
            ? clang_getCursorBinaryOperatorKind(n->cursor)
            : CXBinaryOperator_Invalid;
    const bool is_step = n->kind == CXCursor_UnaryOperator &&
                         clang_getCursorUnaryOperatorKind(n->cursor) <= CXUnaryOperator_PreDec;
    const bool is_plain = n->kind == CXCursor_BinaryOperator && kind == CXBinaryOperator_Assign;
    const node_t *target = is_plain || n->kind == CXCursor_CompoundAssignOperator || is_step
                               ? stripped(n->child)
                               : NULL;
    const int rounds = body_is_loop(n) ? 2 : 1;
    for (int k = 0; k < rounds; k++)
        for (const node_t *c = n->child; c; c = c->next)
            if (!target || stripped(c) != target)
                note_order(e, c);
    for (const node_t *c = target ? target->child : NULL; c; c = c->next)
        note_order(e, c);
    if (target && is_memory(target))
        note_access(e, target, !is_plain, true);
    else if (!target && is_memory(n))
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
static bool add_narrow(emitter_t *e, const node_t *n)
{
    parts_t p;
    bounds_t bounds;
    if (n->kind != CXCursor_IfStmt || e->is_open || !body_parts(&e->b, n, &p) || p.second ||
        (!e->b.root->syncs && !is_last(e, n)) || p.first->end <= p.first->begin ||
        !bounds_of(e, p.condition, false, &bounds))
        return false;
    open_region(e);
    e->gains |= e->b.root->syncs;
    e->part = bounds.part.data;
    e->has_exact = bounds.is_complete;
    note_apart(e, n);
    note_order(e, n);
    edit_jumps(e, n);
    note_uses(e, n);
    if (bounds.is_complete)
        add_text(e, n,
                 arena_printf("if (kmm_sure || (%s))\n%s\n%s", copy_node(e, p.condition),
                              line_of(e, p.first->begin),
                              copy(e, p.first->begin, body_end(&e->b, n))));
    else
        add_text(e, n, copy(e, n->begin, body_end(&e->b, n)));
    close_region(e);
    return true;
}

/* `if (i >= n) return;` before anything else, where there are no barriers. */
static bool add_narrow_return(emitter_t *e, const node_t *n)
{
    parts_t p;
    bounds_t bounds;
    bool rest_is_one_region = e->pass > 0 && e->region_number + 1 == e->last_region;
    if (n->kind != CXCursor_IfStmt || e->is_open || !rest_is_one_region || e->b.root->syncs ||
        n->parent != e->b.root || !body_parts(&e->b, n, &p) || p.second)
        return false;
    const node_t *inner = p.first->kind == CXCursor_CompoundStmt && p.first->child == p.first->last
                              ? p.first->child
                              : p.first;
    if (!inner || inner->kind != CXCursor_ReturnStmt || inner->child ||
        !bounds_of(e, p.condition, true, &bounds))
        return false;
    open_region(e);
    e->part = bounds.part.data;
    e->has_exact = bounds.is_complete;
    note_uses(e, p.condition);
    add_text(e, n,
             arena_printf("if (%s(%s)) return;", bounds.is_complete ? "!kmm_sure && " : "",
                          copy_node(e, p.condition)));
    return true;
}

/* What a block begins with lies in memory where the processor does not look for it while it is busy
 * with the rest of the block before: so that one asks for it. `x[i]`, with an index that only the
 * block's own makes another in the next one. */
static void add_soon(emitter_t *e, const node_t *n)
{
    const node_t *base = n->kind == CXCursor_ArraySubscriptExpr ? stripped(n->child) : NULL,
                 *index = base ? stripped(n->last) : NULL;
    bool is_array =
        base && base->kind == CXCursor_DeclRefExpr && base->variable &&
        base->variable->keep == KEEP_ONE &&
        clang_getCanonicalType(clang_getCursorType(base->cursor)).kind == CXType_Pointer;
    const variable_t *v = is_array && index->kind == CXCursor_DeclRefExpr ? index->variable : NULL;
    const char *direction = v && v->is_top ? counts_surely(e, v) : NULL;
    if (direction && *direction == 'x') {
        const char *text = arena_printf("{ const uint3 blockIdx __attribute__((unused)) = "
                                        "kmm_b.after(); const kmm_host_as<%s> kmm_next %s; "
                                        "kmm_host_soon(%s, (size_t)kmm_next, kmm_e.x); }\n",
                                        type_text(e, v), suffix(e, v), base->variable->name);
        use_early(v->initializer);
        if (!e->out.data || !strstr(e->out.data, text))
            text_printf(&e->out, "%s", text);
    }
    for (const node_t *c = n->child; c; c = c->next)
        add_soon(e, c);
}

static void add_piece(emitter_t *e, const node_t *n)
{
    if (e->b.root->syncs && e->loop_depth == 0 && e->s->is_kernel && !e->is_masked)
        add_soon(e, n);
    edit_atomics(e, n);
    if (!is_place(e, n) || add_narrow(e, n) || add_narrow_return(e, n))
        return;
    open_region(e);
    note_apart(e, n);
    note_order(e, n);
    edit_jumps(e, n);
    note_uses(e, n);
    add_pragmas(e, n);
    add_text(e, n, copy(e, n->begin, body_end(&e->b, n)));
    if (!n->parent || n->parent->kind != CXCursor_CompoundStmt)
        text_printf(&e->region, ";");
}

/* ---- Operations ---- */

static int new_numbers(emitter_t *e, const node_t *n)
{
    int number = e->numbers + 1;
    e->numbers += 2;
    if (e->numbers > MAX_NUMBER)
        fail(e, n, "it has too many branches");
    return number;
}

static const char *argument_list(const emitter_t *e, node_t **argument, int count)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (int k = 0; k < count; k++)
        text_printf(&out, ", %s", copy_node(e, argument[k]));
    return out.data;
}

/* The threads bring their operands; the call becomes what they get. */
static bool hoist_exchange(emitter_t *e, node_t *call, const char *type)
{
    node_t *argument[8];
    int count = body_arguments(call, argument, 8), number = e->operations++;
    const char *name = call->operation;
    while (*name == '_')
        name++;
    if (count > 8 || (!type && count < 2))
        return fail(e, call, "an operation has other arguments than it should");
    open_region(e);
    for (int k = 0; k < count; k++) {
        note_uses(e, argument[k]);
        use_early(argument[k]);
    }
    const char *element =
        type ? type : arena_printf("kmm_host_decay<decltype(%s)>", copy_node(e, argument[1]));
    bool is_vote = !strcmp(element, "vote");
    if (is_vote)
        text_printf(&e->out, "kmm_host_predicates kmm_c%d;\n", number);
    else
        text_printf(&e->out, "kmm_host_exchange<%s> kmm_c%d;\n", element, number);
    add_text(e, call,
             arena_printf("kmm_c%d.put(kmm_t%s);", number,
                          count ? argument_list(e, argument, count) : ", 0u, 0"));
    close_region(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    add_edit(e, call->begin, call->end,
             arena_printf("kmm_c%d.%s(%s)", number, name, is_vote ? "" : "kmm_t"));
    return true;
}

/* Votes of warps. The mask is looked at by each thread when it gets its answer. */
static bool hoist_ballot(emitter_t *e, node_t *call)
{
    node_t *argument[2];
    int count = body_arguments(call, argument, 2), number = e->operations++;
    const char *name = call->operation;
    bool has_predicate = strcmp(name, "__activemask") != 0;
    if (count != (has_predicate ? 2 : 0))
        return fail(e, call, "an operation has other arguments than it should");
    open_region(e);
    note_uses(e, call);
    text_printf(&e->out, "kmm_host_ballots kmm_c%d;\n", number);
    add_text(e, call,
             has_predicate
                 ? arena_printf("kmm_c%d.put(kmm_t, (%s) != 0);", number, copy_node(e, argument[1]))
                 : arena_printf("kmm_c%d.put(kmm_t, 1);", number));
    close_region(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    add_edit(e, call->begin, call->end,
             has_predicate ? arena_printf("kmm_c%d.%s(kmm_t, %s)", number, name + 2,
                                          copy_node(e, argument[0]))
                           : arena_printf("kmm_c%d.%s(kmm_t)", number, name + 2));
    return true;
}

/* A shuffle whose distance and width are the same for all threads. */
static bool is_even_shuffle(const emitter_t *e, const node_t *call)
{
    node_t *argument[4];
    int count = body_arguments(call, argument, 4);
    if (strncmp(call->operation, "__shfl", 6) || count < 3 || count > 4)
        return false;
    for (int k = 0; k < count; k++)
        if (k != 1 && vary_of(&e->b, argument[k]) != VARY_NOT)
            return false;
    return true;
}

static bool hoist_even_shuffle(emitter_t *e, node_t *call)
{
    node_t *argument[4];
    int count = body_arguments(call, argument, 4), number = e->operations++;
    open_region(e);
    note_uses(e, argument[1]);
    use_early(call);
    text_printf(&e->out, "kmm_host_shuffles<kmm_host_decay<decltype(%s)>> kmm_c%d;\n",
                copy_node(e, argument[1]), number);
    add_text(e, call, arena_printf("kmm_c%d.put(kmm_t, %s);", number, copy_node(e, argument[1])));
    close_region(e);
    text_printf(&e->out, "kmm_c%d.%s(kmm_b%s);\n", number, call->operation + 2,
                argument_list(e, argument + 2, count - 2));
    add_edit(e, call->begin, call->end, arena_printf("kmm_c%d.get(kmm_t)", number));
    return true;
}

/* `__match_all_sync(mask, value, &same)`: the last operand is where a part of the answer goes. */
static bool hoist_match_all(emitter_t *e, node_t *call)
{
    node_t *argument[3];
    int number = e->operations++;
    if (body_arguments(call, argument, 3) != 3)
        return fail(e, call, "an operation has other arguments than it should");
    open_region(e);
    note_uses(e, call);
    use_early(argument[1]);
    text_printf(&e->out, "kmm_host_exchange<kmm_host_decay<decltype(%s)>> kmm_c%d;\n",
                copy_node(e, argument[1]), number);
    add_text(e, call, arena_printf("kmm_c%d.put(kmm_t%s);", number, argument_list(e, argument, 2)));
    close_region(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    add_edit(e, call->begin, call->end,
             arena_printf("kmm_c%d.match_all_sync(kmm_t, %s)", number, copy_node(e, argument[2])));
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
static bool is_made(const node_t *call, const node_t *argument, int k)
{
    takes_t takes = body_takes(call, argument);
    if (takes == TAKES_VALUE || takes == TAKES_REFERENCE)
        return false;
    if (takes == TAKES_ANY)
        return !is_object(argument);
    CXType wanted = clang_getCursorType(
        clang_Cursor_getArgument(clang_getCursorReferenced(call->cursor), (unsigned)k));
    const node_t *n = stripped(argument);
    return !is_object(argument) ||
           !clang_equalTypes(plain_type(wanted), plain_type(clang_getCursorType(n->cursor)));
}

/* Values that are made for a call are kept beside it. */
static bool keep_made(emitter_t *e, node_t *call, int number)
{
    enum { ROOM = 64 };
    node_t *argument[ROOM];
    int count = body_arguments(call, argument, ROOM);
    for (int k = 0; k < count && k < ROOM; k++) {
        if (!is_made(call, argument[k], k))
            continue;
        takes_t takes = body_takes(call, argument[k]);
        CXType wanted = clang_getCursorType(
            clang_Cursor_getArgument(clang_getCursorReferenced(call->cursor), (unsigned)k));
        use_early(argument[k]);
        const char *type =
            takes == TAKES_CONST
                ? clang_text(clang_getTypeSpelling(clang_getNonReferenceType(wanted)))
                : arena_printf("decltype(%s)", copy_node(e, argument[k]));
        if (strchr(type, '[') || strstr(type, "(lambda"))
            return fail(e, argument[k], "an argument's type has no name");
        text_printf(&e->out, "kmm_host_values<kmm_host_decay<%s>> kmm_a%d_%d;\n", type, number, k);
        add_text(
            e, call,
            arena_printf("::new (static_cast<void *>(&kmm_a%d_%d[kmm_t])) kmm_host_decay<%s>(%s);",
                         number, k, type, copy_node(e, argument[k])));
        add_edit(e, argument[k]->begin, argument[k]->end,
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
        fail(e, call,
             "a lambda is an argument of what meets at a barrier, and the result's type depends on "
             "a template");
        return NULL;
    }
    return arena_printf("kmm_host_as<%s>", clang_text(clang_getTypeSpelling(type)));
}

static bool hoist_call(emitter_t *e, node_t *call)
{
    int number = e->operations++;
    if (strchr(arena_copy(e->s->u->source->text + call->begin, call->end - call->begin), '#'))
        return fail(e, call, "a preprocessor line divides a call");
    open_region(e);
    e->is_apart = false;
    note_uses(e, call);
    use_early(call);
    if (call->meeting == MEETING_FUNCTION && !keep_made(e, call, number))
        return false;
    const char *text = copy_node(e, call), *type = call_type(e, call, text);
    if (!type)
        return false;
    text_printf(&e->out, "kmm_host_call<%s> kmm_c%d;\n", type, number);
    add_text(e, call,
             arena_printf("kmm_c%d.call(kmm_t, [&]() -> %s { return %s; });", number, type, text));
    close_region(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    add_edit(e, call->begin, call->end, arena_printf("kmm_c%d.get(kmm_t)", number));
    return true;
}

/* ---- Any of them ---- */

static bool is_barrier(const node_t *call)
{
    return call->operation &&
           (!strcmp(call->operation, "__syncthreads") || !strcmp(call->operation, "__syncwarp"));
}

static bool hoist(emitter_t *e, node_t *call, const node_t *whole)
{
    static const char *const votes[] = {"__syncthreads_count", "__syncthreads_and",
                                        "__syncthreads_or", NULL};
    static const char *const predicates[] = {"__ballot_sync", "__any_sync", "__all_sync",
                                             "__activemask", NULL};
    static const char *const values[] = {
        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
        "__match_any_sync",  "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
        "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", NULL};
    const char *name = call->operation;
    if (call->end <= call->begin)
        return fail(e, whole, "an operation of several threads comes from a macro");
    if (call->meeting == MEETING_FIBERS)
        return fail(e, call, arena_printf("it calls '%s', which meets at a barrier", name));
    if (e->pass == 2 && !e->is_sized && e->parting && !strncmp(name, "__syncthreads", 13))
        diag_at(SEVERITY_WARNING, e->s->u->source, call->begin, call->begin + strlen(name),
                "only some threads of a block come to this barrier: '%s' depends on nothing but "
                "threadIdx [-Wkmm-barrier]",
                copy_node(e, e->parting));
    if (is_barrier(call)) {
        if (stripped(whole) != call)
            return fail(e, call, "a barrier is no statement of its own");
        close_region(e);
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
        return fail(e, call, "an operation of several threads comes from a macro");
    if (call->meeting != MEETING_OPERATION)
        return hoist_call(e, call);
    if (is_name(name, votes))
        return hoist_exchange(e, call, "vote");
    if (is_name(name, predicates))
        return hoist_ballot(e, call);
    if (is_even_shuffle(e, call))
        return hoist_even_shuffle(e, call);
    if (is_name(name, values))
        return hoist_exchange(e, call, NULL);
    if (!strcmp(name, "__match_all_sync"))
        return hoist_match_all(e, call);
    return fail(e, call, arena_printf("it calls '%s', which meets at a barrier", name));
}

static bool hoist_all(emitter_t *e, node_t *n, const node_t *whole);

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
        return fail(e, whole, "an operation of several threads comes from a macro");
    if (third && clang_getCanonicalType(clang_getCursorType(n->cursor)).kind == CXType_Void)
        return fail(e, n,
                    "an operation of several threads depends on a condition in its expression");
    int number = new_numbers(e, n), value = e->operations++;
    if (third)
        use_early(n);
    const char *type =
        third ? arena_printf("kmm_host_decay<decltype(%s)>", copy_node(e, n)) : "bool";
    text_t head = {0};
    if (!hoist_all(e, first, whole))
        return false;
    open_region(e);
    note_uses(e, first);
    text_printf(&head, "kmm_host_values<%s> kmm_c%d;\n", type, value);
    text_printf(&e->out, "%s", head.data);
    if (third)
        add_text(e, n,
                 arena_printf("if (!(%s)) kmm_b.state[kmm_t] = %d;", copy_node(e, first), number));
    else
        add_text(e, n,
                 arena_printf("kmm_c%d[kmm_t] = static_cast<bool>(%s); if (%skmm_c%d[kmm_t]) "
                              "kmm_b.state[kmm_t] = %d;",
                              value, copy_node(e, first), is_or ? "" : "!", value, number));
    change_state(e);
    close_region(e);
    for (node_t *operand = second; operand; operand = operand == second ? third : NULL) {
        if (operand == third)
            text_printf(&e->out, "kmm_b.turn(%d, %d);\n", number, number + 1);
        text_printf(&e->out, "if (kmm_b.active) {\n");
        if (!hoist_all(e, operand, whole))
            return false;
        open_region(e);
        note_uses(e, operand);
        add_text(e, operand,
                 third ? arena_printf("::new (static_cast<void *>(&kmm_c%d[kmm_t])) %s(%s);", value,
                                      type, copy_node(e, operand))
                       : arena_printf("kmm_c%d[kmm_t] = static_cast<bool>(%s);", value,
                                      copy_node(e, operand)));
        close_region(e);
        text_printf(&e->out, "}\n");
    }
    text_printf(&e->out, "kmm_b.resume(%d);\n", third ? number + 1 : number);
    add_edit(e, n->begin, n->end, arena_printf("kmm_c%d[kmm_t]", value));
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
           (n->child->next->syncs || (n->child->next->next && n->child->next->next->syncs));
}

static bool hoist_all(emitter_t *e, node_t *n, const node_t *whole)
{
    if (!n->syncs)
        return true;
    if (is_choice(n))
        return hoist_choice(e, n, whole);
    for (node_t *c = n->child; c; c = c->next)
        if (!hoist_all(e, c, whole))
            return false;
    return !n->operation || hoist(e, n, whole);
}

/* ---- Declarations ---- */

static const char *initial_value(emitter_t *e, const variable_t *v)
{
    const char *text = suffix(e, v);
    if (*text != '=')
        return text;
    for (text++; *text == ' ' || *text == '\n' || *text == '\t' || *text == '\r'; text++) {
    }
    return *text == '{' ? text : arena_printf("(%s)", text);
}

static void declare_each(emitter_t *e, variable_t *v, const node_t *statement)
{
    const char *type = type_text(e, v), *qualifier = is_const(v) ? "const " : "";
    if (strstr(type, "decltype"))
        use_early(v->initializer);
    if (v->is_reference) {
        fail(e, statement, "a reference is used across a barrier");
        return;
    }
    text_printf(&e->out,
                "kmm_host_values<%s> %s; %skmm_host_as<%s> &%s __attribute__((unused)) = %s[0];\n",
                type, storage(v), qualifier, type, v->name, storage(v));
    open_region(e);
    v->region = e->region_number;
    if (v->is_array) {
        const char *value = suffix(e, v);
        add_text(e, statement,
                 arena_printf("kmm_host_as<%s> &%s = %s[kmm_t];", type, v->name, storage(v)));
        if (*value)
            text_printf(&e->region,
                        " { kmm_host_as<%s> kmm_initial %s; memcpy(&%s, &kmm_initial, "
                        "sizeof(kmm_initial)); }",
                        type, value, v->name);
        return;
    }
    add_text(e, statement,
             arena_printf("%skmm_host_as<%s> &%s __attribute__((unused)) = *::new "
                          "(static_cast<void *>(&%s[kmm_t])) kmm_host_as<%s>%s;",
                          qualifier, type, v->name, storage(v), type, initial_value(e, v)));
}

static void declare_variable(emitter_t *e, variable_t *v, const node_t *statement)
{
    v->is_top = true;
    if (v->keep == KEEP_ONE) {
        text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s;\n",
                    is_const(v) ? "const " : "", type_text(e, v), v->name, suffix(e, v));
        return;
    }
    if (v->keep == KEEP_AGAIN) {
        if (counts_along(e, v)) {
            use_early(v->initializer);
            text_printf(&e->out, "const kmm_host_as<%s> kmm_i%d __attribute__((unused)) %s;\n",
                        type_text(e, v), v->number, suffix(e, v));
            if (!counts_surely(e, v))
                text_printf(&e->out,
                            "const bool kmm_counts%d __attribute__((unused)) = "
                            "kmm_host_counts<%s>::along(kmm_i%d, %s, kmm_e.%s);\n",
                            v->number, counting_types(e, v), v->number, last_value(e, v),
                            counts_along(e, v));
        }
        if (v->is_used_early) /* only its type */
            text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s;\n",
                        is_const(v) ? "const " : "", type_text(e, v), v->name, suffix(e, v));
        return;
    }
    open_region(e);
    note_uses(e, v->declaration);
    if (v->keep == KEEP_EACH) {
        declare_each(e, v, statement);
        return;
    }
    add_text(e, statement,
             arena_printf("%skmm_host_as<%s> %s %s;", is_const(v) ? "const " : "", type_text(e, v),
                          v->name, suffix(e, v)));
}

static bool all_keep(const node_t *declaration, keep_t keep)
{
    for (const node_t *c = declaration->child; c; c = c->next)
        if (c->kind != CXCursor_VarDecl || !c->variable || c->variable->keep != keep)
            return false;
    return true;
}

static void emit_declaration(emitter_t *e, node_t *n)
{
    bool has_variables = false;
    for (node_t *c = n->child; c; c = c->next) {
        has_variables |= c->kind == CXCursor_VarDecl;
        if (c->kind == CXCursor_VarDecl && c->variable)
            c->variable->is_top = true;
    }
    if (!is_place(e, n) || !hoist_all(e, n, n))
        return;
    if (!has_variables || all_keep(n, KEEP_SHARED) || all_keep(n, KEEP_ONE)) {
        const char *text = copy_node(e, n),
                   *shared = all_keep(n, KEEP_SHARED) ? strstr(text, "__shared__") : NULL;
        text_printf(&e->out, "\n%s\n", line_of(e, n->begin));
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
    if (all_keep(n, KEEP_NOT)) {
        add_piece(e, n);
        return;
    }
    for (node_t *c = n->child; c; c = c->next) {
        if (c->kind == CXCursor_VarDecl && c->variable)
            declare_variable(e, c->variable, n);
        else if (c->kind == CXCursor_VarDecl || clang_isDeclaration(c->kind))
            fail(e, n, "a declaration is of several kinds");
    }
}

/* ---- Statements of the block ---- */

static void emit_statement(emitter_t *e, node_t *n);

static void emit_children(emitter_t *e, node_t *n)
{
    for (node_t *c = n->child; c; c = c->next) {
        add_definitions(e, end_before(e, c), c->begin);
        emit_statement(e, c);
    }
    close_region(e);
    add_definitions(e, n->last ? body_end(&e->b, n->last) : n->begin + 1, n->end - 1);
}

static void emit_inner(emitter_t *e, node_t *n)
{
    close_region(e);
    text_printf(&e->out, "{\n");
    if (n->kind == CXCursor_CompoundStmt)
        emit_children(e, n);
    else
        emit_statement(e, n);
    close_region(e);
    text_printf(&e->out, "}\n");
}

/* Threads for which the condition does not hold get the state. */
static void emit_choice(emitter_t *e, node_t *condition, int state)
{
    open_region(e);
    note_uses(e, condition);
    add_text(e, condition,
             arena_printf("if (!(%s)) kmm_b.state[kmm_t] = %d;", copy_node(e, condition), state));
    change_state(e);
    close_region(e);
}

/* Whether the expression is made of threadIdx and numbers alone. */
static bool is_of_thread(const node_t *n)
{
    n = stripped(n);
    if (!n || n->kind == CXCursor_IntegerLiteral)
        return n != NULL;
    if (n->kind == CXCursor_DeclRefExpr && n->variable)
        return n->variable->keep == KEEP_AGAIN && !n->variable->is_reference &&
               is_of_thread(n->variable->initializer);
    if (n->kind == CXCursor_MemberRefExpr && n->child)
        return !strcmp(clang_text(clang_getCursorSpelling(stripped(n->child)->cursor)),
                       "threadIdx");
    return n->kind == CXCursor_BinaryOperator && is_of_thread(n->child) && is_of_thread(n->last);
}

static void emit_varying_if(emitter_t *e, const parts_t *p, const node_t *n)
{
    int number = new_numbers(e, n);
    bool outer = e->varies;
    const node_t *parting = e->parting;
    if (is_of_thread(p->condition))
        e->parting = p->condition;
    emit_choice(e, p->condition, number);
    e->varies = true;
    text_printf(&e->out, "if (kmm_b.active)\n");
    emit_inner(e, p->first);
    if (p->second) {
        text_printf(&e->out, "kmm_b.turn(%d, %d);\nif (kmm_b.active)\n", number, number + 1);
        emit_inner(e, p->second);
    }
    text_printf(&e->out, "kmm_b.resume(%d);\n", p->second ? number + 1 : number);
    e->varies = outer;
    e->parting = parting;
}

static void emit_if(emitter_t *e, node_t *n)
{
    parts_t p;
    if (!is_place(e, n) || !body_parts(&e->b, n, &p) || !hoist_all(e, p.condition, p.condition))
        return;
    if (vary_of(&e->b, p.condition) != VARY_NOT) {
        emit_varying_if(e, &p, n);
        return;
    }
    close_region(e);
    text_printf(&e->out, "%s\n%s\n", line_of(e, n->begin), copy(e, n->begin, p.close + 1));
    emit_inner(e, p.first);
    if (p.second) {
        text_printf(&e->out, "else\n");
        emit_inner(e, p.second);
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
        fail(e, n, "a statement comes from a macro");
        return NULL;
    }
    *labels = inner == n ? NULL : copy(e, n->begin, inner->begin);
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
    text_printf(&out, "switch (%s) {\n", copy_node(e, p->condition));
    *groups = 0;
    for (node_t *c = p->first->child; c; c = c->next) {
        const char *labels;
        if (c->kind == CXCursor_DeclStmt) {
            fail(e, n, "a declaration stands beside the labels of a 'switch'");
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
            fail(e, inner, "a declaration stands beside the labels of a 'switch'");
        emit_statement(e, inner);
        *c = (*c)->next;
    } while (*c);
    close_region(e);
}

static void emit_switch(emitter_t *e, node_t *n)
{
    parts_t p;
    bool outer = e->varies;
    int groups;
    if (!is_place(e, n) || !body_parts(&e->b, n, &p) || !hoist_all(e, p.condition, p.condition))
        return;
    if (p.first->kind != CXCursor_CompoundStmt || p.second) {
        fail(e, n, "a 'switch' has no braces");
        return;
    }
    bool varies = vary_of(&e->b, p.condition) != VARY_NOT;
    const int number = n->number = new_numbers(e, n);
    const char *name = arena_printf("kmm_s%d", number),
               *chosen = varies ? arena_printf("%s[kmm_t]", name) : name;
    const char *text = chosen_text(e, n, &p, chosen, &groups);
    close_region(e);
    if (varies) {
        text_printf(&e->out, "{ kmm_host_values<int> %s;\n", name);
        open_region(e);
        note_uses(e, p.condition);
        add_text(
            e, n,
            arena_printf("%s = %d; %skmm_b.state[kmm_t] = %d;", chosen, groups, text, number + 1));
        change_state(e);
        close_region(e);
    } else {
        text_printf(&e->out, "{ int %s = %d;\n%s\n%s", name, groups, line_of(e, n->begin), text);
    }
    e->varies |= varies || n->is_left;
    int group = 0;
    for (node_t *c = p.first->child; c && !e->b.reason; group++) {
        if (varies)
            text_printf(&e->out, "kmm_b.choose(%d, %s, %d);\nif (kmm_b.active) {\n", number + 1,
                        name, group);
        else
            text_printf(&e->out, "if (%s <= %d%s) {\n", name, group,
                        n->is_left || outer ? " && kmm_b.active" : "");
        emit_group(e, &c);
        text_printf(&e->out, "}\n");
    }
    text_printf(&e->out, "}\nkmm_end%d: __attribute__((unused));\n", number);
    if (varies)
        text_printf(&e->out, "kmm_b.resume(%d);\n", number + 1);
    if (varies || n->is_left || outer) { /* threads that left it by a jump have its state */
        text_printf(&e->out, "kmm_b.resume(%d);\n", number);
        e->is_masked = true;
    }
    e->varies = outer;
}

/* Whether the expression changes only variables of the block, and changes one. */
static bool changes_block(const emitter_t *e, const node_t *n)
{
    bool found = false;
    for (int k = 0; k < e->b.variable_count; k++) {
        const variable_t *v = &e->b.variable[k];
        for (int i = 0; i < v->change_count && v->keep == KEEP_ONE; i++)
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
        return all_keep(n, KEEP_ONE) && !n->syncs;
    const node_t *x = stripped(n);
    if (x->kind == CXCursor_BinaryOperator &&
        clang_getCursorBinaryOperatorKind(x->cursor) == CXBinaryOperator_Comma)
        return is_of_block(e, x->child) && is_of_block(e, x->last);
    return changes_block(e, n);
}

static void emit_loop_body(emitter_t *e, node_t *loop, node_t *body)
{
    e->loop_depth++;
    e->varies |= loop->is_left;
    emit_inner(e, body);
    if (loop->is_left)
        text_printf(&e->out, "kmm_b.resume(%d);\n", loop->number + 1);
}

static void emit_plain_loop(emitter_t *e, node_t *n, const parts_t *p)
{
    text_printf(&e->out, "%s\n", line_of(e, n->begin));
    for (node_t *c = p->initial ? p->initial->child : NULL; c; c = c->next)
        if (c->variable && c->kind == CXCursor_VarDecl)
            c->variable->is_top = true;
    e->gains = true;
    if (e->is_sized && extent_rounds(n, p, e->s->extent, MAX_UNROLLED))
        text_printf(&e->out, "KMM_HOST_UNROLL ");
    text_printf(&e->out, "%s {\n",
                n->kind == CXCursor_DoStmt ? "do" : copy(e, n->begin, p->close + 1));
    emit_loop_body(e, n, p->first);
    if (e->is_masked)
        text_printf(&e->out, "if (!kmm_b.active) break;\n");
    text_printf(&e->out, "}");
    if (n->kind == CXCursor_DoStmt)
        text_printf(&e->out, " while (%s);", copy_node(e, p->condition));
    text_printf(&e->out, "\n");
}

/* `if (!condition) break;` */
static void emit_test(emitter_t *e, const node_t *n, node_t *condition)
{
    if (!condition || !hoist_all(e, condition, condition))
        return;
    if (vary_of(&e->b, condition) != VARY_NOT) {
        emit_choice(e, condition, n->number);
        text_printf(&e->out, "if (!kmm_b.active) break;\n");
        return;
    }
    close_region(e);
    text_printf(&e->out, "if (!(%s)) break;\n", copy_node(e, condition));
}

static void emit_expression(emitter_t *e, node_t *n);

static void emit_varying_loop(emitter_t *e, node_t *n, const parts_t *p)
{
    n->is_left = true;
    text_printf(&e->out, "{\n");
    if (p->initial)
        emit_statement(e, p->initial);
    close_region(e);
    text_printf(&e->out, "for (;;) {\n");
    e->varies |= p->condition && vary_of(&e->b, p->condition) != VARY_NOT;
    if (n->kind != CXCursor_DoStmt)
        emit_test(e, n, p->condition);
    emit_loop_body(e, n, p->first);
    if (p->increment)
        emit_expression(e, p->increment);
    close_region(e);
    if (n->kind == CXCursor_DoStmt)
        emit_test(e, n, p->condition);
    if (e->is_masked)
        text_printf(&e->out, "if (!kmm_b.active) break;\n");
    text_printf(&e->out, "}\n}\n");
}

static void emit_loop(emitter_t *e, node_t *n)
{
    parts_t p;
    bool outer = e->varies;
    int depth = e->loop_depth;
    if (!is_place(e, n) || !body_parts(&e->b, n, &p))
        return;
    close_region(e);
    n->number = new_numbers(e, n);
    bool plain = is_of_block(e, p.initial) && is_of_block(e, p.increment) &&
                 (!p.condition || (!p.condition->syncs && vary_of(&e->b, p.condition) == VARY_NOT));
    if (plain)
        emit_plain_loop(e, n, &p);
    else
        emit_varying_loop(e, n, &p);
    if (n->is_left)
        text_printf(&e->out, "kmm_b.resume(%d);\n", n->number);
    e->varies = outer;
    e->loop_depth = depth;
}

/* All threads that are here jump. */
static void emit_jump(emitter_t *e, node_t *n)
{
    bool returns = n->kind == CXCursor_ReturnStmt;
    if (returns && n->child) {
        if (!hoist_all(e, n->child, n->child))
            return;
        open_region(e);
        note_uses(e, n->child);
        add_text(e, n, result_text(e, n));
    }
    close_region(e);
    bool leaves_switch = !returns && n->target->kind == CXCursor_SwitchStmt;
    if (!e->varies && (returns || !n->target->is_left)) {
        text_printf(&e->out, "%s\n",
                    returns         ? "return;"
                    : leaves_switch ? arena_printf("goto kmm_end%d;", n->target->number)
                                    : copy(e, n->begin, body_end(&e->b, n)));
        return;
    }
    e->is_masked = true;
    text_printf(&e->out, "kmm_b.leave(%d);\n", jump_state(e, n));
}

static void emit_expression(emitter_t *e, node_t *n)
{
    node_t *x = n;
    while (x->child && !x->child->next &&
           (x->kind == CXCursor_UnexposedExpr || x->kind == CXCursor_ParenExpr))
        x = x->child;
    if (x->kind == CXCursor_BinaryOperator &&
        clang_getCursorBinaryOperatorKind(x->cursor) == CXBinaryOperator_Comma) {
        emit_expression(e, x->child);
        emit_expression(e, x->last);
        return;
    }
    if (n->syncs && !hoist_all(e, n, n))
        return;
    const node_t *call = stripped(n);
    if (is_barrier(call) || call->meeting == MEETING_LIBRARY || call->meeting == MEETING_FUNCTION)
        return;
    if (changes_block(e, n)) {
        close_region(e);
        text_printf(&e->out, "%s\n%s;\n", line_of(e, n->begin), copy_node(e, n));
        return;
    }
    add_piece(e, n);
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
    if (body_is_loop(n) || n->kind == CXCursor_CXXForRangeStmt || n->kind == CXCursor_LambdaExpr)
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
    const node_t *condition = p->condition ? bare(p->condition) : NULL,
                 *increment = p->increment ? bare(p->increment) : NULL;
    text_t types = {0};
    if (!declaration || declaration != p->initial->last || !declaration->variable || !condition ||
        !increment || declaration->kind != CXCursor_VarDecl)
        return NULL;
    variable_t *v = declaration->variable;
    if (v->escapes || v->is_reference || v->change_count != 1 || v->change[0] != increment ||
        !v->initializer || !may_be_number(clang_getCursorType(v->cursor)))
        return NULL;
    const char *direction =
        is_index_type(clang_getCursorType(v->cursor)) ? direction_of(e, v->initializer) : NULL;
    *is_sure = direction != NULL;
    direction = direction ? direction : may_be_direction(e, v->initializer, &types);
    bool counts =
        increment->kind == CXCursor_CompoundAssignOperator &&
        clang_getCursorBinaryOperatorKind(increment->cursor) == CXBinaryOperator_AddAssign &&
        vary_of(&e->b, increment->last) == VARY_NOT;
    bool ends = condition->kind == CXCursor_BinaryOperator &&
                clang_getCursorBinaryOperatorKind(condition->cursor) == CXBinaryOperator_LT &&
                bare(condition->child)->variable == v &&
                vary_of(&e->b, condition->last) == VARY_NOT;
    return direction && !strcmp(direction, "x") && counts && ends && !has_jump(p->first, n) ? v
                                                                                            : NULL;
}

/* The arrays that the loop indexes by its variable `v`: what it needs of them next lies far from
 * where it is now. */
static void add_ahead(emitter_t *e, const node_t *n, const variable_t *v, const char *stride,
                      text_t *out)
{
    const node_t *base = n->kind == CXCursor_ArraySubscriptExpr ? stripped(n->child) : NULL;
    if (base && base->kind == CXCursor_DeclRefExpr && base->variable &&
        base->variable->keep == KEEP_ONE && stripped(n->last)->variable == v &&
        clang_getCanonicalType(clang_getCursorType(base->cursor)).kind == CXType_Pointer) {
        const char *text =
            arena_printf("kmm_host_ahead(%s, (size_t)kmm_i%d, (size_t)(%s), kmm_e.x);\n",
                         base->variable->name, v->number, stride);
        if (!out->data || !strstr(out->data, text))
            text_printf(out, "%s", text);
    }
    for (const node_t *c = n->child; c; c = c->next)
        add_ahead(e, c, v, stride, out);
}

typedef struct strided {
    variable_t *v;
    const char *type, *limit, *stride;
} strided_t;

/* A round of the loop is a region. */
static void emit_round(emitter_t *e, const parts_t *p, const strided_t *l, const char *part,
                       const char *condition)
{
    text_t ahead = {0};
    add_ahead(e, p->first, l->v, l->stride, &ahead);
    if (ahead.data)
        text_add(&e->out, ahead.data, ahead.length);
    open_region(e);
    e->part = part;
    note_apart(e, p->first);
    note_order(e, p->first);
    e->is_short = p->first->end - p->first->begin < MAX_SHORT && !has_loop(p->first);
    e->has_exact = *condition;
    e->counter = l->v;
    e->is_counted = is_plain_unsigned(l->v) || !is_index_type(clang_getCursorType(l->v->cursor));
    edit_atomics(e, p->first);
    note_uses(e, p->first);
    note_uses(e, p->condition);
    add_text(
        e, p->first,
        arena_printf("kmm_host_as<%s> %s = kmm_host_counted(%s, kmm_i%d, (int)threadIdx.x); %s%s",
                     l->type, l->v->name, e->is_counted ? "kmm_small" : "false", l->v->number,
                     condition, copy(e, p->first->begin, body_end(&e->b, p->first))));
    close_region(e);
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
                line_of(e, n->begin), l->type, number, suffix(e, l->v), number, number, l->limit,
                l->stride, number, number, l->limit, number, l->stride);
    emit_round(e, p, l,
               arena_printf("const bool kmm_exact = kmm_strides%d.is_exact; if (kmm_exact) "
                            "kmm_p.to_x(kmm_host_below(kmm_i%d, %s, kmm_e.x));",
                            number, number, l->limit),
               arena_printf("if (kmm_sure || kmm_strides%d.runs(kmm_t, %s)) ", number,
                            copy_node(e, p->condition)));
    text_printf(&e->out, "} }\n");
}

/* The same where only the block that runs tells whether its threads may go in step; else each
 * thread runs for itself. */
static void emit_maybe_in_step(emitter_t *e, node_t *n, const parts_t *p, const strided_t *l)
{
    const int number = l->v->number;
    text_t generic = {0};
    may_be_direction(e, l->v->initializer, &generic);
    add_generic(e, bare(p->condition)->last, &generic);
    add_generic(e, bare(p->increment)->last, &generic);
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
        is_generic ? "constexpr " : "", types, line_of(e, n->begin), l->type, number,
        suffix(e, l->v), types, number, last_value(e, l->v), number, l->limit, l->stride, number,
        number, l->limit, number, l->stride);
    emit_round(e, p, l,
               arena_printf("kmm_p.to_x(kmm_host_below(kmm_i%d, %s, kmm_e.x));", number, l->limit),
               "");
    text_printf(&e->out, "}\n}\n}\n%sif (!kmm_done%d) {\n", is_generic ? "#endif\n" : "", number);
    add_piece(e, n);
    close_region(e);
    text_printf(&e->out, "} }\n");
}

static bool emit_strided(emitter_t *e, node_t *n)
{
    parts_t p;
    bool is_sure;
    if (n->kind != CXCursor_ForStmt || !is_place(e, n) || !body_parts(&e->b, n, &p))
        return false;
    variable_t *v = strided_variable(e, n, &p, &is_sure);
    if (!v)
        return false;
    const strided_t l = {v, type_text(e, v), copy_node(e, bare(p.condition)->last),
                         copy_node(e, bare(p.increment)->last)};
    close_region(e);
    use_early(v->initializer);
    if (is_sure)
        emit_in_step(e, n, &p, &l);
    else
        emit_maybe_in_step(e, n, &p, &l);
    return true;
}

static void emit_statement(emitter_t *e, node_t *n)
{
    if (e->b.reason || n->kind == CXCursor_NullStmt)
        return;
    if (n->kind == CXCursor_DeclStmt)
        emit_declaration(e, n);
    else if (clang_isExpression(n->kind))
        emit_expression(e, n);
    else if (!n->splits) {
        if (!emit_strided(e, n))
            add_piece(e, n);
    } else if (n->kind == CXCursor_CompoundStmt)
        emit_inner(e, n);
    else if (n->kind == CXCursor_IfStmt)
        emit_if(e, n);
    else if (n->kind == CXCursor_SwitchStmt)
        emit_switch(e, n);
    else if (body_is_loop(n))
        emit_loop(e, n);
    else if (n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
             n->kind == CXCursor_ContinueStmt)
        emit_jump(e, n);
    else
        fail(e, n, "a barrier stands in a statement that cannot be split");
}

/* ---- The body ---- */

static void emit_parameters(emitter_t *e)
{
    for (int k = 0; k < e->b.variable_count; k++) {
        variable_t *v = &e->b.variable[k];
        if (!v->is_parameter || !*v->name)
            continue;
        v->is_top = true;
        if (v->keep != KEEP_EACH)
            continue;
        const char *type = type_text(e, v);
        if (strstr(type, "...")) {
            fail(e, e->b.root, "it takes any number of arguments");
            return;
        }
        if (!e->s->is_kernel) {
            text_printf(&e->out, "%skmm_host_as<%s> &%s __attribute__((unused)) = %s[0];\n",
                        is_const(v) ? "const " : "", type, v->name, storage(v));
            continue;
        }
        text_printf(&e->out, "kmm_host_values<%s> %s;\n", type, storage(v));
        open_region(e);
        text_printf(&e->region, " ::new (static_cast<void *>(&%s[kmm_t])) kmm_host_as<%s>(%s);",
                    storage(v), type, v->name);
        close_region(e);
    }
}

static void emit_body(emitter_t *e)
{
    e->out = (text_t){0};
    e->region_number = e->loop_depth = e->numbers = e->operations = 0;
    e->varies = e->is_open = false;
    e->is_masked |= !e->s->is_kernel; /* not all threads may have called it */
    if (e->is_sized)
        text_printf(&e->out, "{ KMM_HOST_SIZED_VALUES(%u, %u, %u)\n", e->s->extent[0],
                    e->s->extent[1], e->s->extent[2]);
    else
        text_printf(&e->out, "{ KMM_HOST_BLOCK_VALUES\n");
    emit_parameters(e);
    emit_children(e, e->b.root);
    text_printf(&e->out, "}\n%s\n", line_of(e, e->b.root->end - 1));
}

/* The unit's edits of the body become ours. */
static void take_edits(emitter_t *e)
{
    unit_t *u = e->s->u;
    for (int k = 0; k < u->edit_count; k++)
        if (u->edits[k].begin >= e->b.root->begin && u->edits[k].end <= e->b.root->end)
            add_edit(e, u->edits[k].begin, u->edits[k].end, u->edits[k].text);
}

static void remove_edits(const emitter_t *e)
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
        bool is_kept = v->is_kept && e->b.root->syncs;
        if (v->keep == KEEP_EACH && v->is_top && !v->is_parameter && !v->crosses &&
            !v->is_used_early && !is_kept)
            v->keep = KEEP_NOT;
    }
}

/* ---- Blocks side by side ---- */

/* "threadIdx.x", "blockIdx.y" ...; "": another expression. Conversions between integers are left
 * out. */
static const char *index_name(const node_t *n)
{
    const node_t *inner = stripped(n);
    for (; n != inner; n = n->child)
        if (!is_index_type(clang_getCursorType(n->cursor)))
            return "";
    if (!n || n->kind != CXCursor_MemberRefExpr || !n->child ||
        stripped(n->child)->kind != CXCursor_DeclRefExpr)
        return "";
    return arena_printf("%s.%s", clang_text(clang_getCursorSpelling(stripped(n->child)->cursor)),
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
static bool is_wide(const node_t *n);

static bool count_terms(const node_t *n, terms_t *found, bool look)
{
    const node_t *inner = stripped(n);
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
    return is_block || is_thread || !look || is_wide(n);
}

/* Whether the code asks for the thread's place along x only as blockIdx.x * blockDim.x +
 * threadIdx.x: then blocks that lie side by side are as good as a wide one. */
static bool is_wide(const node_t *n)
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
        if (!is_wide(c))
            return false;
    return true;
}

static bool has_each(const emitter_t *e)
{
    for (int k = 0; k < e->b.variable_count; k++) {
        const variable_t *v = &e->b.variable[k];
        if (v->keep == KEEP_SHARED || (v->keep == KEEP_EACH && v->is_top))
            return true;
    }
    return false;
}

/* Flags of kmm_launch.h. */
static int found_flags(const emitter_t *e)
{
    bool needs_states = e->is_masked || e->operations > 0;
    bool is_alone =
        !needs_states && !e->b.root->syncs && !e->s->flags && !has_each(e) && is_wide(e->b.root);
    return (needs_states ? 32 : 0) | (is_alone ? 64 : 0);
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
    if (body_read_tree(&e.b, s->u, s->function, s->meeting_of, s->context)) {
        e.b.is_kernel = s->is_kernel;
        vary_find(&e.b);
        take_edits(&e);
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
    if (s->extent && e.gains && !e.has_static && !e.is_masked && e.b.root->syncs)
        write_sized(&e, edits);
    if (!s->keeps_edits)
        remove_edits(&e);
    return text;
}
