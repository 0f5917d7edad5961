/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expands the macros of `#include MACRO` before anything is preprocessed. Conditions (#if) are
 * ignored, so a macro with several definitions may stand for several headers.
 */
#include "pragma/header_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/token.h"
#include "pragma/definition.h"

enum { MAX_PARAMETERS = 64, MAX_DEPTH = 32, MAX_BYTES = 1 << 17 };

typedef struct macro {
    const source_t *s;
    token_t name;
    const char *spelling;
    bool is_function, is_variadic;
    const char *parameter[MAX_PARAMETERS];
    int parameter_count;
    size_t body, end;
} macro_t;

/* The known macros. If a name has several definitions, the one numbered `variant` is used, or else
 * the last. */
typedef struct macros {
    macro_t *at;
    int count, capacity;
    int variant;
} macros_t;

/* The argument of a macro's parameter. */
typedef struct actual {
    const char *text;
} actual_t;

typedef struct expansion {
    const macros_t *macros;
    const macro_t *active[MAX_DEPTH];
    int depth;
    size_t bytes;
    bool failed;
} expansion_t;

/* ---- Definitions ---- */

/* parameters = '(' [NAME { ',' NAME }] ['...'] ')', directly behind the name */
static void read_parameters(macro_t *m, lexer_t *l)
{
    token_t t;
    lex(l);
    m->is_function = true;
    do {
        t = lex(l);
        if (t.kind == TOKEN_NAME && m->parameter_count < MAX_PARAMETERS - 1)
            m->parameter[m->parameter_count++] = token_text(m->s, t);
        m->is_variadic |= token_is(m->s, t, "...");
    } while (t.kind != TOKEN_END && !token_is(m->s, t, ")"));
    if (m->is_variadic)
        m->parameter[m->parameter_count++] = "__VA_ARGS__";
    m->body = t.end;
}

static void add_definition(macros_t *list, const source_t *s, token_t line)
{
    token_t word;
    lexer_t l = lexer_in_directive(s, line, &word);
    if (!token_is(s, word, "define"))
        return;
    macro_t m = {.s = s, .name = lex(&l), .end = line.end};
    m.spelling = token_text(s, m.name);
    m.body = m.name.end;
    if (m.name.end < line.end && s->text[m.name.end] == '(')
        read_parameters(&m, &l);
    list->at = arena_grow(list->at, list->count, &list->capacity, sizeof(*list->at));
    list->at[list->count++] = m;
}

static void add_definitions(macros_t *list, const source_t *s)
{
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE)
            add_definition(list, s, t);
}

static void add_options(macros_t *list, const options_t *o)
{
    for (int k = 0; k < o->parse_flag_count; k++) {
        const source_t *s = definition_of_flag(o, k);
        if (s)
            add_definitions(list, s);
    }
}

static const macro_t *find_macro(const macros_t *list, const source_t *s, token_t name)
{
    const macro_t *found = NULL;
    int variant = list->variant;
    for (int k = 0; k < list->count && name.kind == TOKEN_NAME && variant >= 0; k++) {
        if (!token_is(s, name, list->at[k].spelling))
            continue;
        found = &list->at[k];
        variant--;
    }
    return found;
}

/* ---- Expansion ---- */

static void expand_text(expansion_t *x, const char *text, text_t *out);

/* Implements `#x`: returns the argument as a string literal. */
static const char *stringized(const char *text)
{
    text_t out = {0};
    bool quoted = false;
    text_add(&out, "\"", 1);
    for (char previous = 0; *text; previous = *text++) {
        if (*text == '"' || (quoted && *text == '\\'))
            text_add(&out, "\\", 1);
        quoted ^= *text == '"' && previous != '\\';
        text_add(&out, text, 1);
    }
    text_add(&out, "\"", 1);
    return out.data;
}

static int parameter_of(const macro_t *m, token_t t)
{
    for (int k = 0; k < m->parameter_count && t.kind == TOKEN_NAME; k++)
        if (token_is(m->s, t, m->parameter[k]))
            return k;
    return -1;
}

/* Returns the body with its arguments substituted and `#` and `##` applied, before it is scanned
 * again. */
static char *substitute(expansion_t *x, const macro_t *m, const actual_t *arguments)
{
    text_t out = {0};
    lexer_t l = lexer_at(m->s, m->body, m->end);
    l.line_start = false;
    size_t last = m->body;
    bool pasted = false;
    text_add(&out, "", 0);
    for (token_t t = lex(&l); t.kind != TOKEN_END; last = t.end, t = lex(&l)) {
        lexer_t ahead = l;
        token_t second = lex(&ahead), third = lex(&ahead);
        int parameter = parameter_of(m, t);
        if (t.begin > last && !pasted)
            text_add(&out, " ", 1);
        pasted = false;
        if (token_is(m->s, t, "#") && token_is(m->s, second, "#") &&
            second.begin == t.end) { /* ## */
            lex(&l);
            while (out.length && out.data[out.length - 1] == ' ')
                out.data[--out.length] = '\0';
            pasted = true;
            t = second;
        } else if (token_is(m->s, t, "#") && parameter_of(m, second) >= 0) {
            const char *text = stringized(arguments[parameter_of(m, second)].text);
            text_add(&out, text, strlen(text));
            lex(&l);
            t = second;
        } else if (parameter >= 0 && token_is(m->s, second, "#") && token_is(m->s, third, "#")) {
            text_add(
                &out, arguments[parameter].text,
                strlen(
                    arguments[parameter].text)); /* an operand of ## is pasted without expansion */
        } else if (parameter >= 0) {
            expand_text(x, arguments[parameter].text, &out);
        } else {
            text_add(&out, m->s->text + t.begin, t.end - t.begin);
        }
    }
    return out.data;
}

/* arguments = '(' text { ',' text } ')'; false when there is no `)`. */
static bool read_arguments(const macro_t *m, const source_t *s, lexer_t *l, actual_t *arguments,
                           int *count)
{
    size_t begin = lex(l).end; /* ( */
    *count = 0;
    for (int depth = 0;;) {
        token_t t = lex(l);
        bool last = depth == 0 && token_is(s, t, ")");
        bool rest = m->is_variadic && *count == m->parameter_count - 1;
        if (t.kind == TOKEN_END)
            return false;
        if (last || (depth == 0 && token_is(s, t, ",") && !rest)) {
            if (*count == MAX_PARAMETERS)
                return false;
            arguments[(*count)++].text = source_words(s, begin, t.begin);
            begin = t.end;
        }
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (last)
            return true;
    }
}

/* Returns the expansion of the use whose name has just been read; NULL: it is not a use. */
static const char *expand_use(expansion_t *x, const macro_t *m, const source_t *s, lexer_t *l)
{
    actual_t arguments[MAX_PARAMETERS] = {{0}};
    int count = 0;
    lexer_t ahead = *l;
    for (int k = 0; k < x->depth; k++)
        if (x->active[k] == m)
            return NULL;
    if (m->is_function &&
        (!token_is(s, lex(&ahead), "(") || !read_arguments(m, s, l, arguments, &count)))
        return NULL;
    bool none = m->parameter_count == 0 && count == 1 && !*arguments[0].text;
    if (m->is_function && !none && count != m->parameter_count &&
        !(m->is_variadic && count == m->parameter_count - 1))
        x->failed = true;
    for (int k = count; k < MAX_PARAMETERS; k++)
        arguments[k].text = "";
    if (x->depth == MAX_DEPTH || x->failed)
        return x->failed = true, NULL;
    char *text = substitute(x, m, arguments);
    text_t out = {0};
    text_add(&out, "", 0);
    x->active[x->depth++] = m;
    expand_text(x, text, &out);
    x->depth--;
    return out.data;
}

static void expand_text(expansion_t *x, const char *text, text_t *out)
{
    x->bytes += strlen(text); /* each level of macros in arguments may double the text */
    x->failed |= x->bytes > MAX_BYTES;
    if (x->failed)
        return;
    source_t *s = source_from("", text, strlen(text));
    lexer_t l = lexer_at(s, 0, s->length);
    size_t from = 0;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; l.line_start = false, t = lex(&l)) {
        const macro_t *m = find_macro(x->macros, s, t);
        const char *expanded = m ? expand_use(x, m, s, &l) : NULL;
        if (!expanded)
            continue;
        text_add(out, s->text + from, t.begin - from);
        text_add(out, expanded, strlen(expanded));
        from = l.at;
    }
    text_add(out, s->text + from, s->length - from);
}

/* ---- Names ---- */

/* Returns the header's name from "name" or <name>; spaces may have got between the tokens of
 * <name>. NULL: the text is neither. */
static const char *header_name(const char *text)
{
    size_t length = strlen(text), kept = 0;
    if (length > 2 && text[0] == '"' && strchr(text + 1, '"') == text + length - 1)
        return text;
    if (length < 3 || text[0] != '<' || text[length - 1] != '>')
        return NULL;
    char *name = arena_copy(text, length);
    for (size_t k = 0; k < length; k++)
        if (text[k] != ' ')
            name[kept++] = text[k];
    name[kept] = '\0';
    return name;
}

int header_names(const includes_t *includes, const options_t *o, const char *words,
                 const char **out, int room)
{
    macros_t macros = {0};
    int count = 0;
    for (int k = 0; k < includes->count; k++)
        add_definitions(&macros, includes->file[k]->source);
    add_options(&macros, o);
    for (; macros.variant < room; macros.variant++) {
        expansion_t x = {.macros = &macros};
        text_t text = {0};
        text_add(&text, "", 0);
        expand_text(&x, words, &text);
        const char *name = x.failed ? NULL
                                    : header_name(source_words(
                                          source_from("", text.data, text.length), 0, text.length));
        for (int k = 0; k < count && name; k++)
            if (!strcmp(out[k], name))
                name = NULL;
        if (name)
            out[count++] = name;
    }
    return count;
}
