/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a function as the block runs it. Statements without barriers are gathered into regions, each a loop over
 * the threads; a region ends at a barrier. Statements around barriers become the block's own: with a condition that is the same
 * for all threads as they are, else by the states of the threads (include/kmm/host/kmm_block.h).
 *
 * It is written three times: what the first two find out makes the last one simpler.
 */
#include <string.h>

#include "split.h"

enum { MAX_BOUND = 256, MAX_NUMBER = 250 };

typedef struct emitter {
    const split_t *s;
    body_tree_t b;
    int pass; /* 0: which variables cross regions; 1: whether states are needed; 2: the text */
    text_t out, region;  /* region: the statements of the one that is open */
    bool is_open, changes_state;
    const char *from, *to; /* the only threads that the open region concerns; NULL: all */
    variable_t *bound[MAX_BOUND];
    int bound_count;
    int region_number, last_region, loop_depth; /* last_region: as the pass before found it */
    bool varies;     /* inside a branch or loop that some threads do not run */
    bool is_masked;  /* some statement changes states */
    int numbers, operations;
    edit_t *edit; /* of the body's text */
    int edit_count, edit_capacity;
} emitter_t;

static bool fail(emitter_t *e, const node_t *n, const char *reason) { return body_fail(&e->b, n, reason); }

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

static const char *copy_node(const emitter_t *e, const node_t *n) { return copy(e, n->begin, n->end); }

static const char *line_of(const emitter_t *e, size_t at)
{
    return emit_line(e->s->u->source, source_line(e->s->u->source, at));
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
        bool opens = token_is(s, word, "if") || token_is(s, word, "ifdef") || token_is(s, word, "ifndef");
        bool turns = token_is(s, word, "else") || token_is(s, word, "elif");
        depth += opens - token_is(s, word, "endif");
        if (depth < 0 || (turns && depth == 0))
            return fail(e, n, "a preprocessor line divides a statement");
    }
    return depth == 0 || fail(e, n, "a preprocessor line divides a statement");
}

/* ---- Types ---- */

static const char *type_text(emitter_t *e, const variable_t *v)
{
    const char *text = clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(clang_getCursorType(v->cursor))));
    const node_t *n = v->declaration;
    if (strstr(text, "(lambda") || strstr(text, "(unnamed") || strstr(text, "(anonymous")) {
        fail(e, n, "a variable's type has no name");
        return "int";
    }
    if (!strncmp(text, "auto", 4) || !strncmp(text, "decltype", 8)) {
        if (!v->initializer || text[4] == ' ') {
            fail(e, n, "a variable's type is not known");
            return "int";
        }
        return arena_printf("kmm_host_decay<decltype(%s)>", copy_node(e, v->initializer));
    }
    return text;
}

static bool is_const(const variable_t *v) { return clang_isConstQualifiedType(clang_getCursorType(v->cursor)); }

static const char *storage(const variable_t *v) { return arena_printf("kmm_v%d", v->number); }

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
        depth += token_is(s, t, "(") + token_is(s, t, "[") - token_is(s, t, ")") - token_is(s, t, "]");
    }
    return "";
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

static void note_uses(emitter_t *e, const node_t *n)
{
    variable_t *v = n->variable;
    if (v && n->kind == CXCursor_DeclRefExpr && v->is_top) {
        if (v->keep == KEEP_AGAIN) {
            bind(e, v);
            note_uses(e, v->initializer);
        } else if (v->keep == KEEP_EACH && v->region != e->region_number) {
            v->crosses = true;
            bind(e, v);
        }
    }
    for (const node_t *c = n->child; c; c = c->next)
        note_uses(e, c);
}

static void add_binding(emitter_t *e, const variable_t *v)
{
    if (v->keep == KEEP_AGAIN)
        text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s; ", is_const(v) ? "const " : "", type_text(e, v), v->name, suffix(e, v));
    else
        text_printf(&e->out, "%skmm_host_as<%s> &%s __attribute__((unused)) = %s[kmm_t]; ", is_const(v) ? "const " : "", type_text(e, v),
                    v->name, storage(v));
}

/* ---- Regions ---- */

static void open_region(emitter_t *e)
{
    if (e->is_open)
        return;
    e->is_open = true;
    e->region_number++;
    e->region = (text_t){0};
    e->bound_count = 0;
    e->changes_state = false;
    e->from = e->to = NULL;
}

static void close_region(emitter_t *e)
{
    if (!e->is_open)
        return;
    e->is_open = false;
    text_printf(&e->out, "\nkmm_b.each_%s<%d>(", e->is_masked ? "active" : "some", e->s->flags);
    text_printf(&e->out, "%s, %s, KMM_HOST_EACH { ", e->from ? e->from : "0", e->to ? e->to : "kmm_b.extent.x");
    for (int number = 0; number < e->b.variable_count; number++)
        for (int k = 0; k < e->bound_count; k++)
            if (e->bound[k]->number == number)
                add_binding(e, e->bound[k]);
    text_add(&e->out, e->region.data ? e->region.data : "", e->region.length);
    text_printf(&e->out, " });\n");
    if (e->changes_state)
        text_printf(&e->out, "kmm_b.update();\n");
}

static void change_state(emitter_t *e) { e->changes_state = e->is_masked = true; }

/* ---- Jumps of single threads ---- */

static const char *result_text(const emitter_t *e, const node_t *jump)
{
    return jump->child ? arena_printf("kmm_result[kmm_t] = (%s); ", copy_node(e, jump->child)) : "";
}

static bool is_target_of_block(const node_t *jump)
{
    return jump->kind == CXCursor_ReturnStmt || (jump->target && jump->target->syncs && body_is_loop(jump->target));
}

static int jump_state(const emitter_t *e, const node_t *jump)
{
    if (jump->kind == CXCursor_ReturnStmt)
        return e->s->is_kernel ? 255 : 254;
    return jump->target->number + (jump->kind == CXCursor_ContinueStmt);
}

/* A jump in a region ends it for the thread; one that leads out of it also changes the thread's state. */
static void edit_jumps(emitter_t *e, const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr)
        return;
    for (const node_t *c = n->child; c; c = c->next)
        edit_jumps(e, c);
    bool jumps = n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt || n->kind == CXCursor_ContinueStmt;
    if (!jumps || !is_target_of_block(n))
        return;
    bool ends = n->kind == CXCursor_ReturnStmt && e->pass > 0 && e->region_number == e->last_region && e->loop_depth == 0;
    const char *state = ends ? "" : arena_printf("kmm_b.state[kmm_t] = %d; ", jump_state(e, n));
    if (!ends)
        change_state(e);
    add_edit(e, n->begin, body_end(&e->b, n), arena_printf("{ %s%sreturn; }", result_text(e, n), state));
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

static const node_t *stripped(const node_t *n)
{
    while (n && n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr || n->kind == CXCursor_CStyleCastExpr))
        n = n->child;
    return n;
}

/* What type of integer the expression has if its value is threadIdx.x; else NULL. */
static const char *x_type(emitter_t *e, const node_t *n)
{
    n = stripped(n);
    if (!n)
        return NULL;
    if (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->keep == KEEP_AGAIN && !n->variable->is_reference &&
        x_type(e, n->variable->initializer))
        return type_text(e, n->variable);
    if (n->kind != CXCursor_MemberRefExpr || !n->child || strcmp(clang_text(clang_getCursorSpelling(n->cursor)), "x"))
        return NULL;
    const node_t *base = stripped(n->child);
    return base && base->kind == CXCursor_DeclRefExpr && !base->variable &&
                   !strcmp(clang_text(clang_getCursorSpelling(base->cursor)), "threadIdx")
               ? "unsigned" : NULL;
}

/* The bounds that a condition sets to the x of the threads for which it may hold. */
static void find_bounds(emitter_t *e, const node_t *condition, const char **from, const char **to)
{
    const node_t *n = stripped(condition);
    if (!n || n->kind != CXCursor_BinaryOperator)
        return;
    enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
    const node_t *x = n->child, *other = n->last;
    if (kind == CXBinaryOperator_LAnd) {
        find_bounds(e, n->child, from, to);
        find_bounds(e, n->last, from, to);
        return;
    }
    bool turned = !x_type(e, x);
    if (turned) {
        x = n->last;
        other = n->child;
    }
    const char *type = x_type(e, x);
    if (!type || vary_of(&e->b, other) != VARY_NOT || other->end <= other->begin)
        return;
    const char *below = arena_printf("kmm_host_below(kmm_host_as<%s>(), %s, kmm_b.extent.x)", type, copy_node(e, other));
    const char *at = arena_printf("kmm_host_below_or_at(kmm_host_as<%s>(), %s, kmm_b.extent.x)", type, copy_node(e, other));
    bool less = kind == CXBinaryOperator_LT || kind == CXBinaryOperator_LE, more = kind == CXBinaryOperator_GT || kind == CXBinaryOperator_GE;
    bool strict = kind == CXBinaryOperator_LT || kind == CXBinaryOperator_GT;
    if (kind == CXBinaryOperator_EQ && !*from && !*to) {
        *from = below;
        *to = at;
    } else if ((turned ? more : less) && !*to) {
        *to = strict ? below : at;
    } else if ((turned ? less : more) && !*from) {
        *from = strict ? at : below;
    }
}

/* A branch alone in its region is run only by the threads that its condition may choose. */
static bool add_narrow(emitter_t *e, const node_t *n)
{
    parts_t p;
    const char *from = NULL, *to = NULL;
    if (n->kind != CXCursor_IfStmt || e->is_open || !body_parts(&e->b, n, &p) || p.second)
        return false;
    find_bounds(e, p.condition, &from, &to);
    if (!from && !to)
        return false;
    open_region(e);
    e->from = from;
    e->to = to;
    edit_jumps(e, n);
    note_uses(e, n);
    add_text(e, n, copy(e, n->begin, body_end(&e->b, n)));
    close_region(e);
    return true;
}

static void add_piece(emitter_t *e, const node_t *n)
{
    if (!is_place(e, n) || add_narrow(e, n))
        return;
    open_region(e);
    edit_jumps(e, n);
    note_uses(e, n);
    add_pragmas(e, n);
    add_text(e, n, copy(e, n->begin, body_end(&e->b, n)));
    if (!n->parent || n->parent->kind != CXCursor_CompoundStmt)
        text_printf(&e->region, ";");
}

/* ---- Operations ---- */

/* Whether the call is made whenever the whole expression is evaluated. */
static bool is_unconditional(const node_t *call, const node_t *whole)
{
    for (const node_t *n = call; n != whole && n->parent; n = n->parent) {
        const node_t *p = n->parent;
        enum CXBinaryOperatorKind kind = p->kind == CXCursor_BinaryOperator ? clang_getCursorBinaryOperatorKind(p->cursor) : CXBinaryOperator_Invalid;
        bool chooses = p->kind == CXCursor_ConditionalOperator || kind == CXBinaryOperator_LAnd || kind == CXBinaryOperator_LOr;
        if (chooses && p->child != n)
            return false;
    }
    return true;
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
    const char *element = type ? type : arena_printf("kmm_host_decay<decltype(%s)>", copy_node(e, argument[1]));
    bool is_vote = !strcmp(element, "vote");
    if (is_vote)
        text_printf(&e->out, "kmm_host_predicates kmm_c%d;\n", number);
    else
        text_printf(&e->out, "kmm_host_exchange<%s> kmm_c%d;\n", element, number);
    add_text(e, call, arena_printf("kmm_c%d.put(kmm_t%s);", number, count ? argument_list(e, argument, count) : ", 0u, 0"));
    close_region(e);
    text_printf(&e->out, "kmm_c%d.join(kmm_b);\n", number);
    add_edit(e, call->begin, call->end, arena_printf("kmm_c%d.%s(%s)", number, name, is_vote ? "" : "kmm_t"));
    return true;
}

static bool hoist(emitter_t *e, node_t *call, const node_t *whole)
{
    static const char *const votes[] = {"__syncthreads_count", "__syncthreads_and", "__syncthreads_or", NULL};
    static const char *const predicates[] = {"__ballot_sync", "__any_sync", "__all_sync", "__activemask", NULL};
    static const char *const values[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__match_any_sync",
                                         "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
                                         "__reduce_or_sync", "__reduce_xor_sync", NULL};
    const char *name = call->operation;
    if (call->end <= call->begin)
        return fail(e, whole, "an operation of several threads comes from a macro");
    if (!is_unconditional(call, whole))
        return fail(e, call, "an operation of several threads depends on a condition in its expression");
    if (!strcmp(name, "__syncthreads") || !strcmp(name, "__syncwarp")) {
        if (stripped(whole) != call)
            return fail(e, call, "a barrier is no statement of its own");
        close_region(e);
        text_printf(&e->out, "%s\n", !strcmp(name, "__syncwarp") ? "" : e->is_masked ? "kmm_b.barrier();" : "");
        return true;
    }
    if (strncmp(e->s->u->source->text + call->begin, name, strlen(name)))
        return fail(e, call, "an operation of several threads comes from a macro");
    if (is_name(name, votes))
        return hoist_exchange(e, call, "vote");
    if (is_name(name, predicates))
        return hoist_exchange(e, call, "int");
    if (is_name(name, values))
        return hoist_exchange(e, call, NULL);
    return fail(e, call, arena_printf("it calls '%s', which meets at a barrier", name));
}

static bool hoist_all(emitter_t *e, node_t *n, const node_t *whole)
{
    if (!n->syncs)
        return true;
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
    for (text++; *text == ' ' || *text == '\n' || *text == '\t' || *text == '\r'; text++) {}
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
    text_printf(&e->out, "kmm_host_values<%s> %s; %skmm_host_as<%s> &%s __attribute__((unused)) = %s[0];\n", type, storage(v), qualifier, type,
                v->name, storage(v));
    open_region(e);
    v->region = e->region_number;
    if (v->is_array) {
        const char *value = suffix(e, v);
        add_text(e, statement, arena_printf("kmm_host_as<%s> &%s = %s[kmm_t];", type, v->name, storage(v)));
        if (*value)
            text_printf(&e->region, " { kmm_host_as<%s> kmm_initial %s; memcpy(&%s, &kmm_initial, sizeof(kmm_initial)); }", type, value, v->name);
        return;
    }
    add_text(e, statement, arena_printf("%skmm_host_as<%s> &%s __attribute__((unused)) = *::new (static_cast<void *>(&%s[kmm_t])) kmm_host_as<%s>%s;",
                                        qualifier, type, v->name, storage(v), type, initial_value(e, v)));
}

static void declare_variable(emitter_t *e, variable_t *v, const node_t *statement)
{
    v->is_top = true;
    if (v->keep == KEEP_ONE) {
        text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s;\n", is_const(v) ? "const " : "", type_text(e, v), v->name, suffix(e, v));
        return;
    }
    if (v->keep == KEEP_AGAIN) {
        if (v->is_used_early) /* only its type */
            text_printf(&e->out, "%skmm_host_as<%s> %s __attribute__((unused)) %s;\n", is_const(v) ? "const " : "", type_text(e, v), v->name,
                        suffix(e, v));
        return;
    }
    open_region(e);
    note_uses(e, v->declaration);
    if (v->keep == KEEP_EACH) {
        declare_each(e, v, statement);
        return;
    }
    add_text(e, statement, arena_printf("%skmm_host_as<%s> %s %s;", is_const(v) ? "const " : "", type_text(e, v), v->name, suffix(e, v)));
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
        text_printf(&e->out, "\n%s\n%s\n", line_of(e, n->begin), copy_node(e, n));
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

static int new_numbers(emitter_t *e, const node_t *n)
{
    int number = e->numbers + 1;
    e->numbers += 2;
    if (e->numbers > MAX_NUMBER)
        fail(e, n, "it has too many branches");
    return number;
}

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
    add_text(e, condition, arena_printf("if (!(%s)) kmm_b.state[kmm_t] = %d;", copy_node(e, condition), state));
    change_state(e);
    close_region(e);
}

static void emit_varying_if(emitter_t *e, const parts_t *p, const node_t *n)
{
    int number = new_numbers(e, n);
    bool outer = e->varies;
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
    if (x->kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(x->cursor) == CXBinaryOperator_Comma)
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
    text_printf(&e->out, "%s {\n", n->kind == CXCursor_DoStmt ? "do" : copy(e, n->begin, p->close + 1));
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
    if (!e->varies && (returns || !n->target->is_left)) {
        text_printf(&e->out, "%s\n", returns ? "return;" : copy(e, n->begin, body_end(&e->b, n)));
        return;
    }
    e->is_masked = true;
    text_printf(&e->out, "kmm_b.leave(%d);\n", jump_state(e, n));
}

static void emit_expression(emitter_t *e, node_t *n)
{
    node_t *x = n;
    while (x->child && !x->child->next && (x->kind == CXCursor_UnexposedExpr || x->kind == CXCursor_ParenExpr))
        x = x->child;
    if (x->kind == CXCursor_BinaryOperator && clang_getCursorBinaryOperatorKind(x->cursor) == CXBinaryOperator_Comma) {
        emit_expression(e, x->child);
        emit_expression(e, x->last);
        return;
    }
    if (n->syncs && !hoist_all(e, n, n))
        return;
    const node_t *call = stripped(n);
    if (call->operation && (!strcmp(call->operation, "__syncthreads") || !strcmp(call->operation, "__syncwarp")))
        return;
    if (changes_block(e, n)) {
        close_region(e);
        text_printf(&e->out, "%s\n%s;\n", line_of(e, n->begin), copy_node(e, n));
        return;
    }
    add_piece(e, n);
}

static void emit_statement(emitter_t *e, node_t *n)
{
    if (e->b.reason || n->kind == CXCursor_NullStmt)
        return;
    if (n->kind == CXCursor_DeclStmt)
        emit_declaration(e, n);
    else if (clang_isExpression(n->kind))
        emit_expression(e, n);
    else if (!n->splits)
        add_piece(e, n);
    else if (n->kind == CXCursor_CompoundStmt)
        emit_inner(e, n);
    else if (n->kind == CXCursor_IfStmt)
        emit_if(e, n);
    else if (body_is_loop(n))
        emit_loop(e, n);
    else if (n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt || n->kind == CXCursor_ContinueStmt)
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
        if (v->keep != KEEP_EACH || !e->s->is_kernel)
            continue;
        const char *type = type_text(e, v);
        text_printf(&e->out, "kmm_host_values<%s> %s;\n", type, storage(v));
        open_region(e);
        text_printf(&e->region, " ::new (static_cast<void *>(&%s[kmm_t])) kmm_host_as<%s>(%s);", storage(v), type, v->name);
        close_region(e);
    }
}

static void emit_body(emitter_t *e)
{
    e->out = (text_t){0};
    e->region_number = e->loop_depth = e->numbers = e->operations = 0;
    e->varies = e->is_open = false;
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
        if (v->keep == KEEP_EACH && v->is_top && !v->is_parameter && !v->crosses && !v->is_used_early)
            v->keep = KEEP_NOT;
    }
}

const char *split_body(const split_t *s, const char **reason, size_t *reason_at)
{
    emitter_t e = {.s = s};
    if (body_read_tree(&e.b, s->u, s->function, s->is_operation, s->context)) {
        e.b.is_kernel = s->is_kernel;
        vary_find(&e.b);
        take_edits(&e);
        int edits = e.edit_count;
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
    remove_edits(&e);
    return e.out.data;
}
