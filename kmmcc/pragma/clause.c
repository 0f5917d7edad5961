/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses: what may stand in the parentheses of each. */
#include "pragma/clause.h"

#include "base/arena.h"
#include "base/diag.h"
#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/expression.h"
#include "pragma/item.h"
#include "pragma/spelling.h"

/* ---- Items ---- */

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

/* Adds a setting of the launch. Its name is the clause's. */
static void add_setting(parser_t *p, setting_t setting)
{
    directive_t *d = p->d;
    setting.name = p->clause;
    if (d->setting_count < MAX_SETTINGS)
        d->setting[d->setting_count++] = setting;
}

/* Adds a setting with an expression. libkmm gets its value as an int. */
static void add_integer(parser_t *p, const char *constant)
{
    expr_t *value = parse_expression(p);
    if (value)
        add_setting(p, (setting_t){.constant = constant, .value = value});
}

/* integer = expression */
static void clause_integer(parser_t *p)
{
    add_integer(p, NULL);
}

/* string = STRING; libkmm gets it as it is. */
static void clause_string(parser_t *p)
{
    if (p->token.kind != TOKEN_STRING) {
        parser_error(p, "expected a string, as in %s(\"step\")", token_text(p->s, p->clause));
        return;
    }
    add_setting(p, (setting_t){.string = p->token});
    parser_advance(p);
}

/* Passes one of the words and returns its number; -1 when the next token is none of them. */
static int parse_word(parser_t *p, const char *const *words, int count)
{
    for (int k = 0; k < count; k++) {
        if (parser_at_word(p, words[k])) {
            parser_advance(p);
            return k;
        }
    }
    return -1;
}

/* device = 'all' | 'cuda' | 'hip' | 'host' | expression { ',' expression } */
static void clause_device(parser_t *p)
{
    static const char *const kinds[] = {"all", "cuda", "hip", "host"}, *const constants[] = {
                                                                           "KMM_ON_ALL, 0",
                                                                           "KMM_ON_CUDA, 0",
                                                                           "KMM_ON_HIP, 0",
                                                                           "KMM_ON_HOST, 0"};
    parser_t ahead = *p;
    parser_advance(&ahead);
    int kind = parser_at(&ahead, ")") ? parse_word(p, kinds, COUNT(kinds)) : -1;
    if (kind >= 0)
        add_setting(p, (setting_t){.constant = constants[kind]});
    else
        add_integer(p, "KMM_ON_DEVICE");
    for (int count = 2; kind < 0 && !p->failed && parser_at(p, ","); count++) {
        if (p->d->kind == DIRECTIVE_TASK)
            parser_error(p, "a task runs on one device");
        else if (count > MAX_LAUNCH_DEVICES)
            parser_error(p, "a launch names at most %d devices", MAX_LAUNCH_DEVICES);
        else
            parser_advance(p);
        if (!p->failed)
            add_integer(p, "KMM_ON_DEVICE");
    }
}

/* schedule = 'locality' | 'block' | 'cyclic' */
static void clause_schedule(parser_t *p)
{
    static const char *const words[] = {"locality", "block", "cyclic"}, *const constants[] = {
                                                                            "KMM_SCHEDULE_LOCALITY",
                                                                            "KMM_SCHEDULE_BLOCK",
                                                                            "KMM_SCHEDULE_CYCLIC"};
    int word = parse_word(p, words, COUNT(words));
    if (word >= 0)
        add_setting(p, (setting_t){.constant = constants[word]});
    else if (p->token.kind == TOKEN_NAME)
        spelling_unknown_word(p, "schedule", words, COUNT(words));
    else
        parser_error(p, "expected a schedule: locality, block or cyclic");
}

const fits_type_t fits_types[FITS_TYPES] = {{"int", "KMM_INT32"},   {"unsigned", "KMM_UINT32"},
                                            {"int16", "KMM_INT16"}, {"uint16", "KMM_UINT16"},
                                            {"int8", "KMM_INT8"},   {"uint8", "KMM_UINT8"}};

/* fits = type ['grid'] ':' expression { ',' expression } */
static void clause_fits(parser_t *p)
{
    directive_t *d = p->d;
    int type = 0;
    if (!d->fits_count)
        d->fits_begin = p->clause.begin;
    while (type < FITS_TYPES && !parser_at_word(p, fits_types[type].name))
        type++;
    if (type == FITS_TYPES)
        return parser_error(p, "expected a type: int, unsigned, int16, uint16, int8 or uint8, as "
                               "in fits(int: n * i)");
    parser_advance(p);
    bool in_grid = parser_at_word(p, "grid");
    if (in_grid)
        parser_advance(p);
    if (!parser_at(p, ":"))
        return parser_error(p, "expected ':' and integers, as in fits(int: n * i)");
    do {
        parser_advance(p);
        if (d->fits_count == MAX_FITS)
            return parser_error(p, "a launch has at most %d integers in 'fits'", MAX_FITS);
        fits_t *f = &d->fits[d->fits_count++];
        *f = (fits_t){.begin = p->token.begin, .type = type, .in_grid = in_grid};
        f->value = parse_expression(p);
        f->end = p->last_end;
    } while (!p->failed && parser_at(p, ","));
}

static void clause_inferred(parser_t *p)
{
    p->d->inferred = true;
}

static void clause_bounded(parser_t *p)
{
    p->d->bounded = true;
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
        if (parser_at_word(p, names[k])) {
            parser_advance(p);
            return k;
        }
    }
    if (p->token.kind == TOKEN_NAME)
        spelling_unknown_word(p, "axis", names, p->d->axis_count);
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
    if ((parser_at_word(p, "begin") || parser_at_word(p, "end")) && parser_at(&ahead, "(")) {
        rebase->kind = parser_at_word(p, "begin") ? REBASE_BEGIN : REBASE_END;
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

/* map = [('to' | 'from' | 'tofrom' | 'alloc') ':'] map-items */
static void clause_map(parser_t *p)
{
    static const char *const kinds[] = {"to", "from", "tofrom", "alloc"};
    kmm_map_t map = KMM_MAP_TOFROM;
    parser_t ahead = *p;
    parser_advance(&ahead);
    if (p->token.kind == TOKEN_NAME && parser_at(&ahead, ":")) {
        int k = 0;
        while (k < COUNT(kinds) && !parser_at_word(p, kinds[k]))
            k++;
        if (k == COUNT(kinds))
            return spelling_unknown_word(p, "kind of map", kinds, COUNT(kinds));
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

/* ---- The table of clauses ---- */

typedef enum clause_form {
    CLAUSE_ONCE,    /* with parentheses, at most once in a pragma */
    CLAUSE_REPEATS, /* with parentheses, any number of times */
    CLAUSE_BARE     /* the name alone */
} clause_form_t;

enum {
    IN_PARALLEL = 1 << DIRECTIVE_PARALLEL,
    IN_TASK = 1 << DIRECTIVE_TASK,
    IN_DECLARE = 1 << DIRECTIVE_DECLARE,
    IN_DATA = 1 << DIRECTIVE_DATA | 1 << DIRECTIVE_ENTER_DATA,
    IN_EXIT = 1 << DIRECTIVE_EXIT_DATA,
    IN_UPDATE = 1 << DIRECTIVE_UPDATE
};

typedef struct clause {
    const char *name;
    void (*parse)(parser_t *p); /* what stands in the parentheses */
    clause_form_t form;
    unsigned directives; /* IN_... */
} clause_t;

static const clause_t clauses[] = {
    {"chunk", clause_chunk, CLAUSE_ONCE, IN_PARALLEL},
    {"read", clause_read, CLAUSE_REPEATS, IN_PARALLEL | IN_TASK | IN_DECLARE},
    {"write", clause_write, CLAUSE_REPEATS, IN_PARALLEL | IN_TASK | IN_DECLARE},
    {"update", clause_update, CLAUSE_REPEATS, IN_PARALLEL | IN_TASK | IN_DECLARE},
    {"reduce", clause_reduce, CLAUSE_REPEATS, IN_PARALLEL | IN_DECLARE},
    {"shape", clause_shape, CLAUSE_REPEATS, IN_PARALLEL | IN_TASK | IN_DECLARE},
    {"if", clause_if, CLAUSE_ONCE, IN_PARALLEL},
    {"label", clause_string, CLAUSE_ONCE, IN_PARALLEL | IN_TASK},
    {"rebase", clause_rebase, CLAUSE_ONCE, IN_PARALLEL},
    {"device", clause_device, CLAUSE_ONCE, IN_PARALLEL | IN_TASK},
    {"schedule", clause_schedule, CLAUSE_ONCE, IN_PARALLEL},
    {"priority", clause_integer, CLAUSE_ONCE, IN_PARALLEL | IN_TASK},
    {"bounded", clause_bounded, CLAUSE_BARE, IN_PARALLEL | IN_DECLARE},
    {"fits", clause_fits, CLAUSE_REPEATS, IN_PARALLEL | IN_DECLARE},
    {"inferred", clause_inferred, CLAUSE_BARE, IN_PARALLEL},
    {"nowait", clause_nowait, CLAUSE_BARE, IN_PARALLEL},
    {"stream", clause_stream, CLAUSE_ONCE, IN_TASK},
    {"map", clause_map, CLAUSE_REPEATS, IN_DATA},
    {"map", clause_exit_map, CLAUSE_REPEATS, IN_EXIT},
    {"to", clause_to, CLAUSE_REPEATS, IN_UPDATE},
    {"from", clause_from, CLAUSE_REPEATS, IN_UPDATE},
};

static bool has_clause(const parser_t *p, int number)
{
    return clauses[number].directives >> p->d->kind & 1;
}

/* The clause of p's directive that the next token names; COUNT(clauses): none. */
static int find_clause(const parser_t *p)
{
    int k = 0;
    while (k < COUNT(clauses) && !(has_clause(p, k) && parser_at_word(p, clauses[k].name)))
        k++;
    return k;
}

void clause_skip(parser_t *p, token_t name)
{
    p->lexer.at = name.end;
    p->token.end = name.end;
    parser_advance(p);
    bool list = parser_at(p, "(");
    for (int depth = 0; p->token.kind != TOKEN_END; parser_advance(p)) {
        depth += parser_at(p, "(") - parser_at(p, ")");
        if (list && depth == 0)
            return parser_advance(p);
        if (!list && find_clause(p) < COUNT(clauses))
            return;
    }
}

static void parse_body(parser_t *p, const clause_t *clause, bool again)
{
    const char *name = clause->name;
    if (again && clause->form != CLAUSE_REPEATS)
        return parser_error(p, "clause '%s' is given twice", name);
    p->clause = p->token;
    parser_advance(p);
    if (clause->form == CLAUSE_BARE)
        return clause->parse(p);
    if (!parser_at(p, "("))
        return parser_error(p, "expected '(' after '%s'", name);
    parser_advance(p);
    clause->parse(p);
    if (!p->failed && (parser_at(p, ".") || parser_at(p, "->")))
        parser_error(p, "a base that has an index stands in parentheses: (a[k].member)[i]");
    if (!p->failed && !parser_at(p, ")"))
        parser_error(p, "expected ',' or ')' in clause '%s'", name);
    if (!p->failed)
        parser_advance(p);
}

/* The directive that has the clause that the next token names; NULL: none. */
static const char *owner_of_clause(const parser_t *p)
{
    static const struct {
        const char *name;
        unsigned directive;
    } owners[] = {
        {"parallel", IN_PARALLEL}, {"task", IN_TASK}, {"data", IN_DATA}, {"update", IN_UPDATE}};
    for (int o = 0; o < COUNT(owners); o++)
        for (int k = 0; k < COUNT(clauses); k++)
            if ((clauses[k].directives & owners[o].directive) && parser_at_word(p, clauses[k].name))
                return owners[o].name;
    return NULL;
}

/* True if the directive is a task, and the next token would divide one; or the other way round. */
static bool divides_task(const parser_t *p)
{
    static const char *const words[] = {"parallel", "chunk", "rebase", "schedule"};
    bool divides = p->d->kind == DIRECTIVE_PARALLEL && parser_at_word(p, "task");
    for (int k = 0; k < COUNT(words); k++)
        divides |= p->d->kind == DIRECTIVE_TASK && parser_at_word(p, words[k]);
    return divides;
}

static void unknown_clause(parser_t *p)
{
    const char *names[COUNT(clauses)], *owner = owner_of_clause(p);
    int count = 0;
    for (int k = 0; k < COUNT(clauses); k++)
        if (has_clause(p, k))
            names[count++] = clauses[k].name;
    if (source_defines(p->s, token_text(p->s, p->token)))
        parser_error(p,
                     "'%s' is a macro; macros may stand in clauses, but not for whole clauses: "
                     "write the clause out",
                     token_text(p->s, p->token));
    else if (divides_task(p))
        parser_error(p, "a task is not divided; write a loop with a task for each part");
    else if (p->d->kind == DIRECTIVE_TASK && parser_at_word(p, "reduce"))
        parser_error(p, "a task has no reductions; let the tasks of each device add to a copy of "
                        "its own, and let a launch add the copies up");
    else if (owner)
        parser_error(p, "'%s' has no clause '%s', which belongs to '%s'",
                     source_words(p->s, p->d->name_begin, p->d->name_end),
                     token_text(p->s, p->token), owner);
    else
        spelling_unknown_word(p, "clause", names, count);
}

/* clause = NAME [ '(' ... ')' ] */
static bool parse_clause(parser_t *p, unsigned *seen)
{
    token_t name = p->token;
    int k = find_clause(p);
    if (k < COUNT(clauses)) {
        parse_body(p, &clauses[k], *seen >> k & 1);
        *seen |= 1u << k;
    } else if (p->token.kind == TOKEN_NAME) {
        unknown_clause(p);
    } else {
        parser_error(p, "expected a clause");
    }
    bool good = !p->failed;
    if (!good)
        clause_skip(p, name);
    p->failed = false;
    return good;
}

bool clause_parse_all(parser_t *p)
{
    bool good = true;
    unsigned seen = 0;
    while (p->token.kind != TOKEN_END) {
        if (parser_at(p, ","))
            parser_advance(p);
        good &= parse_clause(p, &seen);
    }
    return good;
}
