/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a pragma to a directive. Each function is a rule of the grammar, which is written above
 * it. */
#include "pragma/parse.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "kmm/launch.h"
#include "pragma/clause.h"
#include "pragma/item.h"
#include "pragma/parser.h"
#include "pragma/spelling.h"

/* ['(' [axis { ',' axis }] ')'] clauses */
static bool parse_axes(parser_t *p, token_t name)
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
            clause_skip(p, name);
        p->failed = false;
    }
    return clause_parse_all(p) && good;
}

/* parallel = 'parallel' ['(' [axis { ',' axis }] ')'] clauses */
static bool parse_parallel(parser_t *p)
{
    token_t name = p->token;
    parser_advance(p);
    return parse_axes(p, name);
}

/* declare = 'declare' 'kernel' ['(' [axis { ',' axis }] ')'] clauses */
static bool parse_declare(parser_t *p)
{
    parser_advance(p);
    if (!parser_at_word(p, "kernel"))
        return parser_error(p, "expected 'kernel' after 'declare'"), false;
    token_t name = p->token;
    p->d->name_end = name.end;
    parser_advance(p);
    return parse_axes(p, name);
}

/* task = 'task' clauses */
static bool parse_task(parser_t *p)
{
    parser_advance(p);
    return clause_parse_all(p);
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
    return clause_parse_all(p);
}

/* enter = 'enter' 'data' { map }; exit = 'exit' 'data' { exit-map } */
static bool parse_unstructured(parser_t *p, bool enters)
{
    const char *word = enters ? "enter" : "exit";
    parser_advance(p);
    if (!parser_at_word(p, "data"))
        return parser_error(p, "expected 'data' after '%s'", word), false;
    p->d->name_end = p->token.end;
    parser_advance(p);
    if (p->token.kind == TOKEN_END)
        return parser_error(p, "'%s data' needs a map clause, as in %s data map(%sA[0:n])", word,
                            word, enters ? "tofrom: " : ""),
               false;
    return clause_parse_all(p);
}

/* update = 'update' { ('to' | 'from') '(' map-items ')' } */
static bool parse_update(parser_t *p)
{
    parser_advance(p);
    if (p->token.kind == TOKEN_END)
        return parser_error(p, "'update' needs to(...), for what the host has written, or "
                               "from(...), for what it wants to read"),
               false;
    return clause_parse_all(p);
}

/* directive = parallel | task | declare | data | enter | exit | update | wait */
static bool parse_kind(parser_t *p)
{
    static const char *const names[] = {"parallel", "task",   "data", "enter",
                                        "exit",     "update", "wait", "declare"};
    directive_t *d = p->d;
    d->name_begin = p->token.begin;
    d->name_end = p->token.end;
    if (parser_at_word(p, "parallel"))
        return d->kind = DIRECTIVE_PARALLEL, parse_parallel(p);
    if (parser_at_word(p, "task"))
        return d->kind = DIRECTIVE_TASK, parse_task(p);
    if (parser_at_word(p, "data"))
        return d->kind = DIRECTIVE_DATA, parse_data(p);
    if (parser_at_word(p, "enter"))
        return d->kind = DIRECTIVE_ENTER_DATA, parse_unstructured(p, true);
    if (parser_at_word(p, "exit"))
        return d->kind = DIRECTIVE_EXIT_DATA, parse_unstructured(p, false);
    if (parser_at_word(p, "update"))
        return d->kind = DIRECTIVE_UPDATE, parse_update(p);
    if (parser_at_word(p, "wait"))
        return d->kind = DIRECTIVE_WAIT, parse_wait(p);
    if (parser_at_word(p, "declare"))
        return d->kind = DIRECTIVE_DECLARE, parse_declare(p);
    if (p->token.kind == TOKEN_NAME)
        spelling_unknown_word(p, "directive", names, COUNT(names));
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
