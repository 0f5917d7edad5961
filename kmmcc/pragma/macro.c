/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expands macros that write pragmas. _Pragma takes effect where a macro is used. So before pragmas
 * are searched for, each use of such a macro is replaced by its expansion, as the preprocessor
 * would do. Other macros are not expanded. The expansion is one line and ends with as many newlines
 * as the use had, so that all lines keep their numbers.
 */
#include "pragma/macro.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "base/token.h"
#include "pragma/pragma.h"

enum { MAX_PARAMETERS = 64, MAX_DEPTH = 32, MAX_BYTES = 1 << 17 };

typedef struct macro {
    const source_t *s;
    token_t name;
    const char *spelling;
    bool is_function, is_variadic;
    const char *parameter[MAX_PARAMETERS];
    int parameter_count;
    size_t body, end;
    bool has_pragma;   /* the body writes a pragma, itself or through a macro that it uses */
    bool has_generic;  /* the same of _Generic */
    bool is_ambiguous; /* another definition has the same name */
    size_t undefined;  /* where its own file ends the definition; 0: nowhere */
} macro_t;

/* The known macros. all: every macro is expanded, not only those that write pragmas; selecting:
 * those with _Generic are, too. If a name has several definitions, the one numbered `variant` is
 * used, or else the last. */
typedef struct macros {
    macro_t *at;
    int count, capacity;
    bool any, all, selecting;
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
    const macro_t *unclear; /* one that was used, writes a pragma and is ambiguous; NULL: none */
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
    lexer_t l = lexer_at(s, line.begin, line.end);
    l.line_start = false;
    lex(&l); /* # */
    token_t directive = lex(&l);
    if (token_is(s, directive, "undef")) {
        token_t name = lex(&l);
        for (int k = 0; k < list->count; k++)
            if (list->at[k].s == s && !list->at[k].undefined &&
                token_is(s, name, list->at[k].spelling))
                list->at[k].undefined = line.begin;
    }
    if (!token_is(s, directive, "define"))
        return;
    macro_t m = {.s = s, .name = lex(&l), .end = line.end};
    m.spelling = token_text(s, m.name);
    m.body = m.name.end;
    if (m.name.end < line.end && s->text[m.name.end] == '(')
        read_parameters(&m, &l);
    for (int k = 0; k < list->count; k++) {
        bool same = !strcmp(list->at[k].spelling, m.spelling);
        m.is_ambiguous |= same;
        list->at[k].is_ambiguous |= same;
    }
    list->at = arena_grow(list->at, list->count, &list->capacity, sizeof(*list->at));
    list->at[list->count++] = m;
}

static const macro_t *find_macro(const macros_t *list, const source_t *s, token_t name)
{
    const macro_t *found = NULL;
    int variant = list->all ? list->variant : 0;
    for (int k = 0; k < list->count && name.kind == TOKEN_NAME && variant >= 0; k++) {
        const macro_t *m = &list->at[k];
        if (!(list->all || m->has_pragma || (list->selecting && m->has_generic)) ||
            !token_is(s, name, list->at[k].spelling) ||
            (m->s == s && m->undefined && name.begin > m->undefined))
            continue;
        found = &list->at[k];
        variant--;
    }
    return found;
}

static bool names_marked(const macros_t *list, const source_t *s, token_t name, bool generic)
{
    for (int k = 0; k < list->count && name.kind == TOKEN_NAME; k++)
        if ((generic ? list->at[k].has_generic : list->at[k].has_pragma) &&
            token_is(s, name, list->at[k].spelling))
            return true;
    return false;
}

/* True if the body contains _Pragma("kmm ..."), or _Pragma(#x), which may become that, or with
 * `generic` a _Generic; or a macro that does. */
static bool writes(const macros_t *list, const macro_t *m, bool generic)
{
    lexer_t l = lexer_at(m->s, m->body, m->end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(m->s, t, generic ? "_Generic" : "_Pragma") ||
            names_marked(list, m->s, t, generic))
            return true;
    return false;
}

static bool has_kmm(const char *text)
{
    source_t *s = source_from("", text, strlen(text));
    pragma_t pragma;
    size_t from = 0;
    return pragma_next(s, &from, &pragma);
}

/* True at `kmm parallel` or another directive, as the first words of a macro's argument or of
 * _Pragma's string. */
static bool at_directive(const source_t *s, lexer_t l)
{
    static const char *const names[] = {"parallel", "task", "declare", "data",
                                        "enter",    "exit", "update",  "wait"};
    l.line_start = false;
    if (!token_is(s, lex(&l), "kmm"))
        return false;
    token_t name = lex(&l);
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (token_is(s, name, names[k]))
            return true;
    return false;
}

static bool names_directive(const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_at(s, begin, end);
    l.line_start =
        begin == 0 || s->text[begin - 1] != '#'; /* a preprocessor directive contains none */
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool found = t.kind == TOKEN_DIRECTIVE ? names_directive(s, t.begin + 1, t.end)
                     : t.kind == TOKEN_STRING  ? at_directive(s, lexer_at(s, t.begin + 1, t.end))
                                               : token_is(s, t, "(") && at_directive(s, l);
        if (found)
            return true;
    }
    return false;
}

bool macro_may_write_pragma(const source_t *s)
{
    return strstr(s->text, "kmm") && names_directive(s, 0, s->length);
}

static void add_definitions(macros_t *list, const source_t *s)
{
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE)
            add_definition(list, s, t);
}

static macros_t read_macros(const includes_t *includes)
{
    macros_t list = {0};
    for (int k = 0; k < includes->count; k++)
        add_definitions(&list, includes->file[k]->source);
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < list.count; k++) {
            macro_t *m = &list.at[k];
            if (!m->has_pragma && writes(&list, m, false))
                m->has_pragma = grown = list.any = true;
            if (!m->has_generic && writes(&list, m, true))
                m->has_generic = grown = list.any = true;
        }
    }
    return list;
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
    if (m->is_ambiguous && m->has_pragma)
        x->unclear = m;
    char *text = substitute(x, m, arguments);
    text_t out = {0};
    text_add(&out, "", 0);
    x->active[x->depth++] = m;
    expand_text(x, text, &out);
    x->depth--;
    return out.data;
}

/* Whether a _Pragma that has just been read has macros for its string: `(` up to behind `)`. */
static bool has_macro_string(const source_t *s, lexer_t l, size_t *begin, size_t *end)
{
    token_t t = lex(&l);
    *begin = t.end;
    if (!token_is(s, t, "(") || (t = lex(&l)).kind != TOKEN_NAME)
        return false;
    for (int depth = 1; t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        *end = t.end;
        if (depth == 0)
            return true;
    }
    return false;
}

/* `_Pragma(MACRO)`: the string is what all macros in it become. */
static const char *expand_string(expansion_t *x, const source_t *s, size_t begin, size_t end)
{
    macros_t all = *x->macros;
    expansion_t inner = *x;
    text_t out = {0};
    all.all = true;
    inner.macros = &all;
    text_add(&out, "_Pragma(", 8);
    expand_text(&inner, arena_copy(s->text + begin, end - begin), &out);
    x->failed |= inner.failed;
    x->unclear = x->unclear ? x->unclear : inner.unclear;
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
        size_t begin, end;
        if (token_is(s, t, "_Pragma") && has_macro_string(s, l, &begin, &end)) {
            expanded = expand_string(x, s, begin, end);
            l.at = end;
        }
        if (!expanded)
            continue;
        text_add(out, s->text + from, t.begin - from);
        text_add(out, expanded, strlen(expanded));
        from = l.at;
    }
    text_add(out, s->text + from, s->length - from);
}

/* ---- Files ---- */

static void move_includes(include_file_t *f, size_t at, size_t was, size_t is)
{
    for (int k = 0; k < f->include_count; k++) {
        if (f->include[k].begin < at)
            continue;
        f->include[k].begin += is - was;
        f->include[k].end += is - was;
    }
}

/* Expands one use in a file. Returns true if it writes a kmm pragma, or a _Generic below one. */
static bool expand_in_file(const macros_t *macros, const macro_t *m, const source_t *s, lexer_t *l,
                           token_t name, text_t *out)
{
    macros_t inner = *macros;
    inner.selecting = true;
    expansion_t x = {.macros = &inner};
    const char *text = expand_use(&x, m, s, l);
    if (x.failed)
        diag_at(SEVERITY_ERROR, s, name.begin, name.end,
                "macro '%s' is used with a wrong number of arguments, within itself, or grows "
                "beyond all use",
                m->spelling);
    bool selects = macros->selecting && m->has_generic && !m->has_pragma;
    if (!text || x.failed || !(selects || has_kmm(text)))
        return false;
    const macro_t *unclear = m->is_ambiguous ? m : x.unclear;
    if (unclear) {
        diag_at(SEVERITY_ERROR, s, name.begin, name.end,
                "macro '%s' writes a %s and is defined several times, so which one holds here "
                "is not known; give its definitions different names",
                unclear->spelling, selects ? "_Generic" : "pragma");
        return false;
    }
    text_add(out, text, strlen(text));
    for (size_t k = name.begin; k < l->at; k++)
        if (s->text[k] == '\n')
            text_add(out, "\n", 1);
    return true;
}

/* True if the token is the last of a pragma of kmm. */
static bool ends_pragma(const source_t *s, token_t t, bool is_inside)
{
    static const char *const forms[] = {"#pragma kmm", "# pragma kmm"};
    for (size_t k = 0; k < sizeof(forms) / sizeof(*forms) && t.kind == TOKEN_DIRECTIVE; k++)
        if (!strncmp(source_words(s, t.begin, t.end), forms[k], strlen(forms[k])))
            return true;
    return is_inside && token_is(s, t, ")");
}

/* Expands what the token begins, behind which *l is: the use of a macro, or a _Pragma that names
 * macros. False: it is neither, or writes no pragma of kmm. */
static bool expand_at(const macros_t *macros, const source_t *s, token_t t, lexer_t *l, text_t *out)
{
    const macro_t *m = find_macro(macros, s, t);
    size_t begin, end;
    if (m) {
        macros_t here = *macros;
        here.selecting = m->has_generic;
        return expand_in_file(&here, m, s, l, t, out);
    }
    if (!token_is(s, t, "_Pragma") || !has_macro_string(s, *l, &begin, &end))
        return false;
    expansion_t x = {.macros = macros};
    const char *text = expand_string(&x, s, begin, end);
    if (x.failed || !has_kmm(text))
        return false;
    text_add(out, text, strlen(text));
    l->at = end;
    return true;
}

static void expand_file(const macros_t *all, include_file_t *f)
{
    const source_t *s = f->source;
    text_t out = {0};
    size_t from = 0;
    bool inside = false; /* the parentheses of _Pragma("kmm ...") */
    macros_t macros = *all;
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        lexer_t use = l;
        text_t text = {0};
        bool expanded = expand_at(&macros, s, t, &use, &text);
        macros.selecting =
            expanded ? text.length && text.data[text.length - 1] == ')' : ends_pragma(s, t, inside);
        inside = (inside && !macros.selecting) ||
                 (t.kind == TOKEN_STRING && at_directive(s, lexer_at(s, t.begin + 1, t.end)));
        if (!expanded)
            continue;
        text_add(&out, s->text + from, t.begin - from);
        move_includes(f, out.length, use.at - t.begin, text.length);
        text_add(&out, text.data, text.length);
        from = use.at;
        l = use;
    }
    if (from == 0)
        return;
    text_add(&out, s->text + from, s->length - from);
    source_t *changed = source_from(s->path, out.data, out.length);
    changed->completed = true;
    f->source = changed;
    f->has_pragma = true;
}

void macro_expand(const includes_t *includes)
{
    macros_t macros = read_macros(includes);
    for (int k = 0; macros.count && k < includes->count; k++)
        if (macros.any || strstr(includes->file[k]->source->text, "_Pragma"))
            expand_file(&macros, includes->file[k]);
}

/* ---- Names of headers ---- */

/* Adds macros from options: -Dname=value, -D name=value, -Dname. */
static void add_options(macros_t *list, const options_t *o)
{
    for (int k = 0; k < o->parse_flag_count; k++) {
        const char *flag = o->parse_flags[k];
        if (strncmp(flag, "-D", 2) != 0)
            continue;
        const char *text = flag[2]                       ? flag + 2
                           : k + 1 < o->parse_flag_count ? o->parse_flags[k + 1]
                                                         : "";
        size_t name = strcspn(text, "=");
        const char *line =
            arena_printf("#define %.*s %s\n", (int)name, text, text[name] ? text + name + 1 : "1");
        add_definitions(list, source_from("", line, strlen(line)));
    }
}

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

int macro_header_names(const includes_t *includes, const options_t *o, const char *words,
                       const char **out, int room)
{
    macros_t macros = read_macros(includes);
    int count = 0;
    add_options(&macros, o);
    for (macros.all = true; macros.variant < room; macros.variant++) {
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

bool source_has_pragma(const source_t *s)
{
    pragma_t found;
    size_t from = 0;
    return pragma_next(s, &from, &found) || macro_may_write_pragma(s);
}
