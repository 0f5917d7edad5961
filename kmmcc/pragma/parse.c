/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a pragma becomes a directive. Each function is named after the grammar rule above it.
 */
#include "pragma/parse.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kmm/launch.h"
#include "pragma/expression.h"
#include "pragma/parser.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

void parser_advance(parser_t *p)
{
    p->last_end = p->token.end;
    p->token = lex(&p->lexer);
    if (p->token.kind == TOKEN_END) /* the caret of an error stands behind the last token */
        p->token.begin = p->token.end = p->last_end;
}

bool parser_at(const parser_t *p, const char *punctuator)
{
    return p->token.kind == TOKEN_PUNCTUATOR && token_is(p->s, p->token, punctuator);
}

void parser_error(parser_t *p, const char *format, ...)
{
    char message[1024];
    va_list list;
    if (p->failed)
        return;
    p->failed = true;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    diag_at(SEVERITY_ERROR, p->s, p->token.begin, p->token.end, "%s", message);
}

bool parser_expect(parser_t *p, const char *punctuator)
{
    if (!parser_at(p, punctuator))
        return parser_error(p, "expected '%s'", punctuator), false;
    parser_advance(p);
    return true;
}

static bool at_word(const parser_t *p, const char *word)
{
    return p->token.kind == TOKEN_NAME && token_is(p->s, p->token, word);
}

/* ---- Spelling ---- */

/* Edits that turn one word into the other; counts up to 31 letters. */
static int distance(const char *a, const char *b)
{
    int row[32], length = (int)strlen(b);
    if (length > 31 || strlen(a) > 31)
        return 99;
    for (int k = 0; k <= length; k++)
        row[k] = k;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int k = 1; k <= length; k++) {
            int best = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[length];
}

const char *nearest_name(const char *word, const char *const *names, int count)
{
    const char *best = NULL;
    int length = (int)strlen(word), least = length < 3 ? length : length / 3 + 2;
    for (int k = 0; k < count; k++) {
        int edits = distance(word, names[k]);
        if (edits < least) {
            least = edits;
            best = names[k];
        }
    }
    return best;
}

static void unknown_word(parser_t *p, const char *what, const char *const *names, int count)
{
    const char *word = token_text(p->s, p->token), *near = nearest_name(word, names, count);
    if (count == 0) {
        parser_error(p, "unknown %s '%s'; there is none", what, word);
    } else if (near && !p->failed) {
        parser_error(p, "unknown %s '%s'; did you mean '%s'?", what, word, near);
        diag_fix(p->token.begin, p->token.end, near);
    } else {
        const char *all = names[0];
        for (int k = 1; k < count; k++)
            all = arena_printf("%s, %s", all, names[k]);
        parser_error(p, "unknown %s '%s'; there are %s", what, word, all);
    }
}

/* ---- Axes ---- */

/* source = ('global' | 'block') '.' ('x' | 'y' | 'z') */
static void parse_source(parser_t *p, axis_t *axis)
{
    bool block = at_word(p, "block");
    if (!block && !at_word(p, "global")) {
        parser_error(p,
                     "expected the source of axis '%s': global.x, global.y, global.z, block.x, "
                     "block.y or block.z",
                     axis->name);
        return;
    }
    parser_advance(p);
    if (!parser_expect(p, "."))
        return;
    for (int k = 0; k < 3; k++) {
        if (at_word(p, (const char *[]){"x", "y", "z"}[k])) {
            axis->source = (block ? KMM_BLOCK_X : KMM_GLOBAL_X) + k;
            axis->source_given = true;
            parser_advance(p);
            return;
        }
    }
    parser_error(p, "expected x, y or z");
}

/* axis = NAME [':' source] ['=' operand ':' operand] */
static void parse_axis(parser_t *p)
{
    directive_t *d = p->d;
    if (d->axis_count == KMM_MAX_AXES) {
        parser_error(p, "a launch has at most %d axes", KMM_MAX_AXES);
        return;
    }
    axis_t *axis = &d->axis[d->axis_count];
    if (p->token.kind != TOKEN_NAME) {
        parser_error(p, "expected the name of an axis");
        return;
    }
    *axis = (axis_t){
        .begin = p->token.begin, .name_token = p->token, .name = token_text(p->s, p->token)};
    for (int k = 0; k < d->axis_count; k++)
        if (!strcmp(d->axis[k].name, axis->name))
            parser_error(p, "axis '%s' is named twice", axis->name);
    parser_advance(p);
    if (parser_at(p, ":")) {
        parser_advance(p);
        parse_source(p, axis);
    }
    if (!p->failed && parser_at(p, "=")) {
        parser_advance(p);
        axis->lower = parse_operand(p);
        if (axis->lower && parser_expect(p, ":"))
            axis->length = parse_operand(p);
    }
    axis->end = p->last_end;
    d->axis_count += !p->failed;
}

/* ---- Items ---- */

/* section = '[' ':' ']' | '[' operand [':' operand] ']' */
static void parse_section(parser_t *p, section_t *section)
{
    section->begin = p->token.begin;
    parser_advance(p);
    if (parser_at(p, ":")) {
        parser_advance(p);
        if (!parser_at(p, "]"))
            parser_error(p, "expected ']': a section is [index], [lower:length] or [:]");
    } else {
        section->lower = parse_operand(p);
        if (section->lower && parser_at(p, ":")) {
            parser_advance(p);
            if (parser_at(p, "]"))
                parser_error(p, "expected the length of the section: a section is [index], "
                                "[lower:length] or [:]");
            else
                section->length = parse_operand(p);
        }
    }
    parser_expect(p, "]");
    section->end = p->last_end;
}

/* item = path { section } */
static void parse_item(parser_t *p, item_t *item)
{
    item->begin = p->token.begin;
    item->base = parse_path(p);
    while (item->base && !p->failed && parser_at(p, "[")) {
        if (item->section_count == KMM_MAX_DIMS) {
            parser_error(p, "an item has at most %d sections", KMM_MAX_DIMS);
            return;
        }
        parse_section(p, &item->section[item->section_count++]);
    }
    item->end = p->last_end;
}

item_t *directive_add_item(directive_t *d)
{
    bool full = d->item_count >= 4 &&
                (d->item_count & (d->item_count - 1)) == 0; /* room is for a power of two */
    if (d->item_count == MAX_ITEMS)
        return NULL;
    if (d->item_count == 0 || full) {
        item_t *items = arena_alloc((size_t)(full ? 2 * d->item_count : 4) * sizeof(*items));
        if (d->item_count)
            memcpy(items, d->item, (size_t)d->item_count * sizeof(*items));
        d->item = items;
    }
    return &d->item[d->item_count++];
}

static item_t *add_item(parser_t *p, kmm_mode_t mode)
{
    item_t *item = directive_add_item(p->d);
    if (!item) {
        parser_error(p, "a launch has at most %d items", MAX_ITEMS);
        return NULL;
    }
    item->mode = mode;
    return item;
}

/* items = item { ',' item } */
static void parse_items(parser_t *p, kmm_mode_t mode, kmm_op_t op)
{
    int first = p->d->item_count;
    do {
        if (parser_at(p, ","))
            parser_advance(p);
        item_t *item = add_item(p, mode);
        if (!item)
            return;
        item->op = op;
        parse_item(p, item);
    } while (!p->failed && parser_at(p, ","));
    if (p->d->item_count == first + 1)
        p->d->item[first].word = p->clause;
}

static void clause_read(parser_t *p)
{
    parse_items(p, KMM_READ, KMM_OP_ADD);
}
static void clause_write(parser_t *p)
{
    parse_items(p, KMM_WRITE, KMM_OP_ADD);
}
static void clause_update(parser_t *p)
{
    parse_items(p, KMM_UPDATE, KMM_OP_ADD);
}

/* reduce = op ':' items */
static void clause_reduce(parser_t *p)
{
    static const struct {
        const char *text;
        kmm_op_t op;
    } ops[] = {{"+", KMM_OP_ADD},         {"*", KMM_OP_MUL},        {"min", KMM_OP_MIN},
               {"max", KMM_OP_MAX},       {"&", KMM_OP_BAND},       {"|", KMM_OP_BOR},
               {"^", KMM_OP_BXOR},        {"&&", KMM_OP_LAND},      {"||", KMM_OP_LOR},
               {"argmin", KMM_OP_ARGMIN}, {"argmax", KMM_OP_ARGMAX}};
    for (int k = 0; k < COUNT(ops); k++) {
        if (token_is(p->s, p->token, ops[k].text)) {
            parser_advance(p);
            if (parser_expect(p, ":"))
                parse_items(p, KMM_REDUCE, ops[k].op);
            return;
        }
    }
    parser_error(p, "expected the operation of the reduction: + * min max & | ^ && || argmin or "
                    "argmax, as in reduce(+: sum[0])");
}

/* ---- Other clauses ---- */

/* chunk = operand { ',' operand } */
static void clause_chunk(parser_t *p)
{
    directive_t *d = p->d;
    d->chunk_begin = p->token.begin;
    do {
        if (parser_at(p, ","))
            parser_advance(p);
        if (d->chunk_count == KMM_MAX_SPLIT) {
            parser_error(p, "chunk has more entries than a launch has dimensions");
            return;
        }
        d->chunk[d->chunk_count] = parse_operand(p);
        d->chunk_count += d->chunk[d->chunk_count] != NULL;
    } while (!p->failed && parser_at(p, ","));
    d->chunk_end = p->last_end;
}

/* shape = (NAME | '(' expression ')') '[' expression ']' { '[' expression ']' } */
static void parse_shape(parser_t *p, shape_t *shape)
{
    *shape = (shape_t){.begin = p->token.begin, .name = p->token};
    if (p->token.kind != TOKEN_NAME && !parser_at(p, "(")) {
        parser_error(p, "expected a name, as in shape(A[h][w])");
        return;
    }
    if (!parse_path(p))
        return;
    shape->name.end = p->last_end;
    if (!parser_at(p, "[")) {
        parser_error(p, "expected the extents of '%s', as in shape(%s[h][w])",
                     token_text(p->s, shape->name), token_text(p->s, shape->name));
        return;
    }
    while (!p->failed && parser_at(p, "[")) {
        if (shape->dims == KMM_MAX_DIMS) {
            parser_error(p, "an array has at most %d dimensions", KMM_MAX_DIMS);
            return;
        }
        parser_advance(p);
        shape->extent[shape->dims++] = parse_expression(p);
        if (!p->failed && parser_at(p, ":")) {
            parser_error(p, "expected ']': shape takes extents, not sections");
            return;
        }
        parser_expect(p, "]");
    }
    shape->end = p->last_end;
}

static void clause_shape(parser_t *p)
{
    directive_t *d = p->d;
    if (!d->shape)
        d->shape = arena_alloc(MAX_ITEMS * sizeof(*d->shape));
    do {
        if (parser_at(p, ","))
            parser_advance(p);
        if (d->shape_count == MAX_ITEMS) {
            parser_error(p, "a launch has at most %d shapes", MAX_ITEMS);
            return;
        }
        parse_shape(p, &d->shape[d->shape_count++]);
    } while (!p->failed && parser_at(p, ","));
}

static void clause_if(parser_t *p)
{
    p->d->condition = parse_expression(p);
}

static void clause_label(parser_t *p)
{
    if (p->token.kind != TOKEN_STRING) {
        parser_error(p, "expected a string, as in label(\"step\")");
        return;
    }
    p->d->label = p->token;
    p->d->has_label = true;
    parser_advance(p);
}

/* Passes one of the words and returns its number; -1 when the next token is none of them. */
static int parse_word(parser_t *p, const char *const *words, int count)
{
    for (int k = 0; k < count; k++) {
        if (at_word(p, words[k])) {
            parser_advance(p);
            return k;
        }
    }
    return -1;
}

/* device = 'all' | 'cuda' | 'hip' | 'host' | expression */
static void clause_device(parser_t *p)
{
    static const char *const kinds[] = {"all", "cuda", "hip", "host"};
    directive_t *d = p->d;
    parser_t ahead = *p;
    parser_advance(&ahead);
    int kind = parser_at(&ahead, ")") ? parse_word(p, kinds, COUNT(kinds)) : -1;
    d->has_where = true;
    d->where = kind < 0 ? KMM_ON_DEVICE : (kmm_where_t)(KMM_ON_ALL + kind);
    if (kind < 0)
        d->ordinal = parse_expression(p);
}

/* schedule = 'locality' | 'block' | 'cyclic' */
static void clause_schedule(parser_t *p)
{
    static const char *const words[] = {"locality", "block", "cyclic"};
    int word = parse_word(p, words, COUNT(words));
    p->d->has_schedule = true;
    p->d->schedule = (kmm_schedule_t)(KMM_SCHEDULE_LOCALITY + (word < 0 ? 0 : word));
    if (word < 0 && p->token.kind == TOKEN_NAME)
        unknown_word(p, "schedule", words, COUNT(words));
    else if (word < 0)
        parser_error(p, "expected a schedule: locality, block or cyclic");
}

static void clause_priority(parser_t *p)
{
    p->d->priority = parse_expression(p);
}

static void clause_nowait(parser_t *p)
{
    p->d->nowait = true;
}

/* stream = NAME */
static void clause_stream(parser_t *p)
{
    token_t name = p->token;
    p->d->stream = parse_expression(p);
    if (p->d->stream && p->d->stream->kind != EXPR_NAME)
        diag_at(SEVERITY_ERROR, p->s, name.begin, p->last_end,
                "stream names a variable, which inside the task is its stream; declare one before "
                "the pragma: cudaStream_t s = ...");
}

/* The axis named by the next token, which is passed. */
static int parse_axis_name(parser_t *p)
{
    const char *names[KMM_MAX_AXES];
    for (int k = 0; k < p->d->axis_count; k++) {
        names[k] = p->d->axis[k].name;
        if (at_word(p, names[k])) {
            parser_advance(p);
            return k;
        }
    }
    if (p->token.kind == TOKEN_NAME)
        unknown_word(p, "axis", names, p->d->axis_count);
    else
        parser_error(p, "expected the name of an axis");
    return 0;
}

/* rebase-item = (NAME | '#' NUMBER) ':' (axis | 'begin' '(' axis ')' | 'end' '(' axis ')') */
static void parse_rebase(parser_t *p, rebase_t *rebase)
{
    rebase->begin = p->token.begin;
    if (parser_at(p, "#")) {
        rebase->by_number = true;
        parser_advance(p);
    }
    if (p->token.kind != (rebase->by_number ? TOKEN_NUMBER : TOKEN_NAME)) {
        parser_error(p,
                     "expected a parameter of the function, as in rebase(n: i) or rebase(#1: i)");
        return;
    }
    rebase->name = p->token;
    parser_advance(p);
    if (!parser_expect(p, ":"))
        return;
    parser_t ahead = *p;
    parser_advance(&ahead);
    if ((at_word(p, "begin") || at_word(p, "end")) && parser_at(&ahead, "(")) {
        rebase->kind = at_word(p, "begin") ? REBASE_BEGIN : REBASE_END;
        parser_advance(p);
        parser_advance(p);
        rebase->axis = parse_axis_name(p);
        parser_expect(p, ")");
    } else {
        rebase->axis = parse_axis_name(p);
    }
    rebase->end = p->last_end;
}

static void clause_rebase(parser_t *p)
{
    directive_t *d = p->d;
    if (!d->rebase)
        d->rebase = arena_alloc(MAX_ITEMS * sizeof(*d->rebase));
    d->rebase_begin = p->token.begin;
    do {
        if (parser_at(p, ","))
            parser_advance(p);
        if (d->rebase_count == MAX_ITEMS)
            return parser_error(p, "too many parameters");
        parse_rebase(p, &d->rebase[d->rebase_count++]);
    } while (!p->failed && parser_at(p, ","));
    d->rebase_end = p->last_end;
}

/* map-item = path ['[' operand ':' operand ']'] */
static void parse_map_item(parser_t *p, map_item_t *item)
{
    item->begin = p->token.begin;
    item->base = parse_path(p);
    if (item->base && parser_at(p, "[")) {
        section_t section = {0};
        parse_section(p, &section);
        item->lower = section.lower;
        item->length = section.length;
        if (!p->failed && !section.length)
            diag_at(SEVERITY_ERROR, p->s, section.begin, section.end,
                    "a map needs the length of the array, as in map(tofrom: A[0:n])");
    }
    item->end = p->last_end;
}

/* map-items = map-item { ',' map-item } */
static void parse_map_items(parser_t *p, kmm_map_t map)
{
    directive_t *d = p->d;
    if (!d->map)
        d->map = arena_alloc(MAX_ITEMS * sizeof(*d->map));
    do {
        if (parser_at(p, ","))
            parser_advance(p);
        if (d->map_count == MAX_ITEMS)
            return parser_error(p, "too many items");
        map_item_t *item = &d->map[d->map_count++];
        item->map = map;
        parse_map_item(p, item);
    } while (!p->failed && parser_at(p, ","));
}

/* map = [('to' | 'from' | 'tofrom' | 'alloc') ':'] map-items */
static void clause_map(parser_t *p)
{
    static const char *const kinds[] = {"to", "from", "tofrom", "alloc"};
    kmm_map_t map = KMM_MAP_TOFROM;
    parser_t ahead = *p;
    parser_advance(&ahead);
    if (p->token.kind == TOKEN_NAME && parser_at(&ahead, ":")) {
        int k = 0;
        while (k < COUNT(kinds) && !at_word(p, kinds[k]))
            k++;
        if (k == COUNT(kinds))
            return unknown_word(p, "kind of map", kinds, COUNT(kinds));
        map = KMM_MAP_TO + k;
        parser_advance(p);
        parser_advance(p);
    }
    parse_map_items(p, map);
}

static void clause_to(parser_t *p)
{
    parse_map_items(p, KMM_MAP_TO);
}
static void clause_from(parser_t *p)
{
    parse_map_items(p, KMM_MAP_FROM);
}

/* `exit data` ends a map as it was entered, so its items have no kind. */
static void clause_exit_map(parser_t *p)
{
    parser_t ahead = *p;
    parser_advance(&ahead);
    if (p->token.kind == TOKEN_NAME && parser_at(&ahead, ":"))
        return parser_error(p,
                            "'exit data' ends a map as it was entered, so it says no kind; leave "
                            "out '%s:', and say in 'enter data' what launches do",
                            token_text(p->s, p->token));
    parse_map_items(p, KMM_MAP_TOFROM);
}

/* ---- Clauses and directives ---- */

typedef struct clause {
    const char *name;
    void (*parse)(parser_t *p);
    bool repeats, bare;
} clause_t;

static const clause_t parallel_clauses[] = {{"chunk", clause_chunk, false, false},
                                            {"read", clause_read, true, false},
                                            {"write", clause_write, true, false},
                                            {"update", clause_update, true, false},
                                            {"reduce", clause_reduce, true, false},
                                            {"shape", clause_shape, true, false},
                                            {"if", clause_if, false, false},
                                            {"label", clause_label, false, false},
                                            {"rebase", clause_rebase, false, false},
                                            {"device", clause_device, false, false},
                                            {"schedule", clause_schedule, false, false},
                                            {"priority", clause_priority, false, false},
                                            {"nowait", clause_nowait, false, true}};

static const clause_t task_clauses[] = {
    {"stream", clause_stream, false, false}, {"device", clause_device, false, false},
    {"read", clause_read, true, false},      {"write", clause_write, true, false},
    {"update", clause_update, true, false},  {"shape", clause_shape, true, false},
    {"label", clause_label, false, false},   {"priority", clause_priority, false, false}};

static const clause_t declare_clauses[] = {{"read", clause_read, true, false},
                                           {"write", clause_write, true, false},
                                           {"update", clause_update, true, false},
                                           {"reduce", clause_reduce, true, false},
                                           {"shape", clause_shape, true, false}};

static const clause_t data_clauses[] = {{"map", clause_map, true, false}};
static const clause_t exit_clauses[] = {{"map", clause_exit_map, true, false}};
static const clause_t update_clauses[] = {{"to", clause_to, true, false},
                                          {"from", clause_from, true, false}};

/* Behind the clause that has the error: its closing parenthesis, or up to the next known clause
 * when it has none. */
static void skip_clause(parser_t *p, token_t name, const clause_t *clauses, int count)
{
    p->lexer.at = name.end;
    p->token.end = name.end;
    parser_advance(p);
    bool list = parser_at(p, "(");
    for (int depth = 0; p->token.kind != TOKEN_END; parser_advance(p)) {
        depth += parser_at(p, "(") - parser_at(p, ")");
        if (list && depth == 0)
            return parser_advance(p);
        for (int k = 0; !list && k < count; k++)
            if (at_word(p, clauses[k].name))
                return;
    }
}

static void parse_clause_body(parser_t *p, const clause_t *clause, bool again)
{
    const char *name = clause->name;
    if (again && !clause->repeats)
        return parser_error(p, "clause '%s' is given twice", name);
    p->clause = p->token;
    parser_advance(p);
    if (clause->bare)
        return clause->parse(p);
    if (!parser_at(p, "("))
        return parser_error(p, "expected '(' after '%s'", name);
    parser_advance(p);
    clause->parse(p);
    if (!p->failed && !parser_at(p, ")"))
        parser_error(p, "expected ',' or ')' in clause '%s'", name);
    if (!p->failed)
        parser_advance(p);
}

/* The directive that has the clause that the next token names; NULL: none. */
static const char *clause_owner(const parser_t *p)
{
    static const struct {
        const char *directive;
        const clause_t *clauses;
        int count;
    } tables[] = {{"parallel", parallel_clauses, COUNT(parallel_clauses)},
                  {"task", task_clauses, COUNT(task_clauses)},
                  {"data", data_clauses, COUNT(data_clauses)},
                  {"update", update_clauses, COUNT(update_clauses)}};
    for (int t = 0; t < COUNT(tables); t++)
        for (int k = 0; k < tables[t].count; k++)
            if (at_word(p, tables[t].clauses[k].name))
                return tables[t].directive;
    return NULL;
}

static void unknown_clause(parser_t *p, const clause_t *clauses, int count)
{
    const char *names[16], *owner = clause_owner(p);
    for (int k = 0; k < count; k++)
        names[k] = clauses[k].name;
    if (owner)
        parser_error(p, "'%s' has no clause '%s', which belongs to '%s'",
                     source_words(p->s, p->d->name_begin, p->d->name_end),
                     token_text(p->s, p->token), owner);
    else
        unknown_word(p, "clause", names, count);
}

/* clause = NAME [ '(' ... ')' ] */
static bool parse_clause(parser_t *p, const clause_t *clauses, int count, unsigned *seen)
{
    token_t name = p->token;
    int k = 0;
    while (k < count && !at_word(p, clauses[k].name))
        k++;
    if (k < count) {
        parse_clause_body(p, &clauses[k], *seen >> k & 1);
        *seen |= 1u << k;
    } else if (p->token.kind == TOKEN_NAME) {
        unknown_clause(p, clauses, count);
    } else {
        parser_error(p, "expected a clause");
    }
    bool good = !p->failed;
    if (!good)
        skip_clause(p, name, clauses, count);
    p->failed = false;
    return good;
}

/* clauses = { [','] clause } */
static bool parse_clauses(parser_t *p, const clause_t *clauses, int count)
{
    bool good = true;
    unsigned seen = 0;
    while (p->token.kind != TOKEN_END) {
        if (parser_at(p, ","))
            parser_advance(p);
        good &= parse_clause(p, clauses, count, &seen);
    }
    return good;
}

/* ['(' [axis { ',' axis }] ')'] clauses */
static bool parse_axes(parser_t *p, token_t name, const clause_t *clauses, int count)
{
    bool good = true;
    if (parser_at(p, "(")) {
        do {
            parser_advance(p);
            if (!parser_at(p, ")"))
                parse_axis(p);
        } while (!p->failed && parser_at(p, ","));
        if (!p->failed)
            parser_expect(p, ")");
        good = !p->failed;
        if (!good)
            skip_clause(p, name, clauses, count);
        p->failed = false;
    }
    return parse_clauses(p, clauses, count) && good;
}

/* parallel = 'parallel' ['(' [axis { ',' axis }] ')'] clauses */
static bool parse_parallel(parser_t *p)
{
    token_t name = p->token;
    parser_advance(p);
    return parse_axes(p, name, parallel_clauses, COUNT(parallel_clauses));
}

/* declare = 'declare' 'kernel' ['(' [axis { ',' axis }] ')'] clauses */
static bool parse_declare(parser_t *p)
{
    parser_advance(p);
    if (!at_word(p, "kernel"))
        return parser_error(p, "expected 'kernel' after 'declare'"), false;
    token_t name = p->token;
    p->d->name_end = name.end;
    parser_advance(p);
    return parse_axes(p, name, declare_clauses, COUNT(declare_clauses));
}

/* task = 'task' clauses */
static bool parse_task(parser_t *p)
{
    parser_advance(p);
    return parse_clauses(p, task_clauses, COUNT(task_clauses));
}

/* wait = 'wait' ['(' map-items ')'] */
static bool parse_wait(parser_t *p)
{
    parser_advance(p);
    if (parser_at(p, "(")) {
        parser_advance(p);
        parse_map_items(p, KMM_MAP_TOFROM);
        if (!p->failed)
            parser_expect(p, ")");
        for (int k = 0; k < p->d->map_count && !p->failed; k++)
            if (p->d->map[k].length)
                diag_at(SEVERITY_ERROR, p->s, p->d->map[k].begin, p->d->map[k].end,
                        "'wait' waits for whole arrays; leave out the section"),
                    p->failed = true;
    }
    if (!p->failed && p->token.kind != TOKEN_END)
        parser_error(p, "'wait' has no clauses");
    return !p->failed;
}

/* data = 'data' { map } */
static bool parse_data(parser_t *p)
{
    parser_advance(p);
    if (p->token.kind == TOKEN_END) {
        parser_error(p, "'data' needs a map clause, as in data map(tofrom: A[0:n])");
        return false;
    }
    return parse_clauses(p, data_clauses, COUNT(data_clauses));
}

/* enter = 'enter' 'data' { map }; exit = 'exit' 'data' { exit-map } */
static bool parse_unstructured(parser_t *p, bool enters)
{
    const char *word = enters ? "enter" : "exit";
    parser_advance(p);
    if (!at_word(p, "data"))
        return parser_error(p, "expected 'data' after '%s'", word), false;
    p->d->name_end = p->token.end;
    parser_advance(p);
    if (p->token.kind == TOKEN_END)
        return parser_error(p, "'%s data' needs a map clause, as in %s data map(%sA[0:n])", word,
                            word, enters ? "tofrom: " : ""),
               false;
    return enters ? parse_clauses(p, data_clauses, COUNT(data_clauses))
                  : parse_clauses(p, exit_clauses, COUNT(exit_clauses));
}

/* update = 'update' { ('to' | 'from') '(' map-items ')' } */
static bool parse_update(parser_t *p)
{
    parser_advance(p);
    if (p->token.kind == TOKEN_END)
        return parser_error(p, "'update' needs to(...), for what the host has written, or "
                               "from(...), for what it wants to read"),
               false;
    return parse_clauses(p, update_clauses, COUNT(update_clauses));
}

/* directive = parallel | task | declare | data | enter | exit | update | wait */
static bool parse_kind(parser_t *p)
{
    static const char *const names[] = {"parallel", "task",   "data", "enter",
                                        "exit",     "update", "wait", "declare"};
    directive_t *d = p->d;
    d->name_begin = p->token.begin;
    d->name_end = p->token.end;
    if (at_word(p, "parallel"))
        return d->kind = DIRECTIVE_PARALLEL, parse_parallel(p);
    if (at_word(p, "task"))
        return d->kind = DIRECTIVE_TASK, parse_task(p);
    if (at_word(p, "data"))
        return d->kind = DIRECTIVE_DATA, parse_data(p);
    if (at_word(p, "enter"))
        return d->kind = DIRECTIVE_ENTER_DATA, parse_unstructured(p, true);
    if (at_word(p, "exit"))
        return d->kind = DIRECTIVE_EXIT_DATA, parse_unstructured(p, false);
    if (at_word(p, "update"))
        return d->kind = DIRECTIVE_UPDATE, parse_update(p);
    if (at_word(p, "wait"))
        return d->kind = DIRECTIVE_WAIT, parse_wait(p);
    if (at_word(p, "declare"))
        return d->kind = DIRECTIVE_DECLARE, parse_declare(p);
    if (p->token.kind == TOKEN_NAME)
        unknown_word(p, "directive", names, COUNT(names));
    else
        parser_error(p, "expected a directive: parallel, task, declare kernel, data, enter data, "
                        "exit data, update or wait");
    return false;
}

const char *directive_string(const source_t *s, const directive_t *d, token_t string)
{
    char *text = token_text(s, string), *out = text;
    if (!d->pragma.is_operator || text[0] != '\\')
        return text;
    for (char *in = text; *in; in++) {
        in += in[0] == '\\' && (in[1] == '\\' || in[1] == '"');
        *out++ = *in;
    }
    *out = '\0';
    return text;
}

directive_t *parse_directive(const source_t *s, pragma_t pragma)
{
    directive_t *d = arena_alloc(sizeof(*d));
    d->pragma = pragma;
    parser_t p = {.s = s,
                  .lexer = lexer_at(s, pragma.content, pragma.content_end),
                  .d = d,
                  .last_end = pragma.content};
    p.lexer.line_start = false;
    p.lexer.quoted = pragma.is_operator;
    p.token.end = pragma.content;
    parser_advance(&p);
    return parse_kind(&p) ? d : NULL;
}
