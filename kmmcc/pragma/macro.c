/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expands macros that write pragmas. _Pragma takes effect where a macro is used. So before pragmas
 * are searched for, each use that writes one is replaced by what it expands to. The preprocessor of
 * the real compiler says what that is: it gets copies of the files in which the uses are marked,
 * and the text between the marks is taken. So definitions of the command line, conditions, #undef,
 * # and ##, __LINE__ and all else mean what they mean to the compiler. The same copies without
 * marks tell whether a mark has changed anything, and the files themselves whether a copy has.
 *
 * What a macro expands to is one line. What follows its arguments in the same use keeps its lines.
 * The expansion ends with the newlines that the use had beyond that, so that all lines keep their
 * numbers.
 */
#include "pragma/macro.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/token.h"
#include "pragma/macro_compare.h"
#include "pragma/macro_use.h"
#include "pragma/pragma.h"

enum { MAX_PASSES = 16, MAX_TRIES = 32 };

static bool has_kmm(const char *text)
{
    source_t *s = source_from("", text, strlen(text));
    pragma_t pragma;
    size_t from = 0;
    return pragma_next(s, &from, &pragma);
}

static const source_t *source_of(const macro_uses_t *uses, const macro_use_t *u)
{
    return uses->includes->file[u->file]->source;
}

static void refuse(const macro_uses_t *uses, const macro_use_t *u, const char *why,
                   const char *remedy)
{
    const source_t *s = source_of(uses, u);
    lexer_t l = lexer_within(s, u->begin, u->end);
    diag_at(SEVERITY_ERROR, s, u->begin, u->end, "'%s' writes a pragma of kmm, and %s",
            token_text(s, lex(&l)), why);
    diag_at(SEVERITY_NOTE, s, u->begin, u->end, "%s", remedy);
}

/* ---- Reading preprocessed text ---- */

typedef struct reader {
    macro_uses_t *uses;
    const source_t *s;
    int pass;
    int open;          /* the use between whose marks the reader is; -1: none */
    text_t text, flat; /* of the use; on one line */
    unsigned last;     /* line of its last token */
    int counters;
    const char *path; /* of the file, and the line, in which the text on `line_at` stands */
    unsigned line;
    size_t line_at;
    const char *stray; /* "FILE:LINE" of a pragma of kmm outside of all marks; NULL: none */
} reader_t;

/* The number behind the prefix; -1: the token is none of ours. */
static int number_of(const reader_t *r, token_t t, const char *prefix)
{
    size_t length = strlen(prefix);
    if (t.kind != TOKEN_NAME || t.end - t.begin <= length ||
        strncmp(r->s->text + t.begin, prefix, length) != 0)
        return -1;
    int number = atoi(r->s->text + t.begin + length);
    return number < r->uses->count ? number : -1;
}

static unsigned newlines(const char *text, size_t length)
{
    unsigned count = 0;
    for (size_t k = 0; k < length; k++)
        count += text[k] == '\n';
    return count;
}

static unsigned newlines_of(const macro_uses_t *uses, const macro_use_t *u)
{
    return newlines(source_of(uses, u)->text + u->begin, u->end - u->begin);
}

static void close_use(reader_t *r)
{
    macro_use_t *u = &r->uses->at[r->open];
    bool fits = newlines(r->text.data, r->text.length) <= newlines_of(r->uses, u);
    const char *text = !r->text.data ? "" : fits ? r->text.data : r->flat.data;
    u->splits_counter |= r->counters > 1;
    r->open = -1;
    for (int k = 0; k < u->variant_count; k++)
        if (!strcmp(u->variant[k].text, text))
            return;
    u->variant =
        arena_grow(u->variant, u->variant_count, &u->variant_capacity, sizeof(*u->variant));
    u->variant[u->variant_count++] = (macro_variant_t){text, r->pass};
}

static void add_text(reader_t *r, const char *text, size_t length)
{
    text_add(&r->text, text, length);
    text_add(&r->flat, text, length);
}

/* Adds what is between two tokens: as many newlines as the preprocessor says. */
static void add_space(reader_t *r)
{
    text_add(&r->flat, " ", 1);
    text_add(&r->text, " ", r->line <= r->last);
    for (; r->last < r->line; r->last++)
        text_add(&r->text, "\n", 1);
}

/* Adds a token within a use. `apart`: something is between it and the one before. */
static void add_token(reader_t *r, token_t t, bool apart)
{
    if (!r->text.length)
        r->last = r->line;
    else if (apart)
        add_space(r);
    if (token_is(r->s, t, macro_operator_name)) {
        add_text(r, "_Pragma", strlen("_Pragma"));
    } else if (token_is(r->s, t, macro_counter_name)) {
        add_text(r, "__COUNTER__", strlen("__COUNTER__"));
        r->counters++;
    } else {
        add_text(r, r->s->text + t.begin, t.end - t.begin);
        if (macro_contains(r->s, t, macro_counter_name))
            r->uses->at[r->open].splits_counter = true;
    }
}

/* The next token that is no line of the preprocessor. */
static token_t lex_code(lexer_t *l)
{
    token_t t = lex(l);
    while (t.kind == TOKEN_DIRECTIVE)
        t = lex(l);
    return t;
}

/* True if `kmm__pragma("kmm` begins at the token. */
static bool is_pragma(const source_t *s, token_t t)
{
    lexer_t l = lexer_within(s, t.end, s->length);
    if (!token_is(s, t, macro_operator_name) || !token_is(s, lex_code(&l), "("))
        return false;
    token_t text = lex_code(&l);
    if (text.kind != TOKEN_STRING)
        return false;
    l = lexer_within(s, text.begin + 1, text.end);
    return token_is(s, lex(&l), "kmm");
}

/* A string that holds a mark is made of a use by a macro of some other header. */
static void note_quoted(reader_t *r, token_t t)
{
    const char *mark = t.kind == TOKEN_STRING && macro_contains(r->s, t, USE_BEGIN)
                           ? strstr(r->s->text + t.begin, USE_BEGIN)
                           : NULL;
    int number = mark ? atoi(mark + strlen(USE_BEGIN)) : r->uses->count;
    if (number < r->uses->count)
        r->uses->at[number].is_quoted = true;
}

/* `# 7 "name"` or `#line 7 "name"` */
static void read_marker(reader_t *r, token_t line)
{
    lexer_t l = lexer_within(r->s, line.begin + 1, line.end);
    token_t t = lex(&l);
    if (token_is(r->s, t, "line"))
        t = lex(&l);
    if (t.kind != TOKEN_NUMBER)
        return;
    r->line = (unsigned)atoi(r->s->text + t.begin);
    r->line_at = line.end + 1;
    t = lex(&l);
    if (t.kind == TOKEN_STRING && t.end - t.begin > 2)
        r->path = arena_copy(r->s->text + t.begin + 1, t.end - t.begin - 2);
}

/* Notes a pragma outside of all marks, if it is in a file of the program. */
static void note_stray(reader_t *r)
{
    const includes_t *includes = r->uses->includes;
    for (int k = 0; k < includes->count && !r->stray && r->path; k++)
        if (!strcmp(includes->file[k]->path, r->path))
            r->stray = arena_printf("%s:%u", r->path, r->line);
}

static void move_to(reader_t *r, token_t t)
{
    if (t.begin < r->line_at)
        return;
    r->line += newlines(r->s->text + r->line_at, t.begin - r->line_at);
    r->line_at = t.begin;
}

static void read_token(reader_t *r, token_t t, bool apart)
{
    int begin = number_of(r, t, USE_BEGIN), end = number_of(r, t, USE_END);
    move_to(r, t);
    if (begin >= 0) {
        r->open = begin;
        r->text = r->flat = (text_t){0};
        r->counters = 0;
    } else if (end >= 0 && end == r->open) {
        close_use(r);
    } else if (end < 0) {
        note_quoted(r, t);
        if (r->open < 0 && is_pragma(r->s, t))
            note_stray(r);
        if (r->open >= 0)
            add_token(r, t, apart);
    }
}

/* Stores the variants of the uses. Returns "FILE:LINE" of a pragma of kmm outside of all marks;
 * NULL: there is none. */
static const char *read_variants(macro_uses_t *uses, const source_t *s, int pass)
{
    reader_t r = {.uses = uses, .s = s, .pass = pass, .open = -1};
    lexer_t l = lexer_at(s, 0, s->length);
    size_t last = 0;
    for (token_t t = lex(&l); t.kind != TOKEN_END; last = t.end, t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE)
            read_marker(&r, t);
        else
            read_token(&r, t, t.begin > last);
    return r.stray;
}

/* ---- Running the preprocessor ---- */

static bool run(const macro_uses_t *uses, const preprocessor_t *p, int pass, copy_kind_t kind,
                const source_t **out)
{
    text_t text = {0};
    text_add(&text, "", 0);
    bool good = p->run(p, pass, macro_uses_copies(uses, kind), uses->includes->count, &text);
    *out = source_from("", text.data, text.length);
    return good;
}

static void forget_variants(macro_uses_t *uses)
{
    for (int k = 0; k < uses->count; k++)
        uses->at[k].variant_count = 0;
}

static bool any_writes(const macro_uses_t *uses)
{
    for (int k = 0; k < uses->count; k++)
        for (int i = 0; i < uses->at[k].variant_count; i++)
            if (!uses->at[k].is_literal && has_kmm(uses->at[k].variant[i].text))
                return true;
    return false;
}

/* `stray`: where a pragma is outside of all marks, if that is known. */
static void refuse_left_out(const macro_uses_t *uses, const char *stray)
{
    for (int k = 0; k < uses->count; k++)
        if (uses->at[k].is_left_out) {
            refuse(uses, &uses->at[k], "what belongs to it is not known where it stands",
                   "write the arguments of each macro where the macro is used, in parentheses");
            return;
        }
    diag_plain(SEVERITY_ERROR, "%s: a macro writes a pragma of kmm, and its definition is not seen",
               stray ? stray : uses->includes->file[0]->path);
    diag_plain(SEVERITY_NOTE, "include its header by name, from a folder that -I names");
}

static void cannot_preprocess(const macro_uses_t *uses, const source_t *messages)
{
    diag_plain(SEVERITY_ERROR,
               "'%s' has macros that may write pragmas, and the compiler cannot preprocess it:\n%s",
               uses->includes->file[0]->path, messages->text);
}

/* False after an error: the copies mean something else than the files. */
static bool is_same_as_files(macro_uses_t *uses, const preprocessor_t *p, const source_t *plain)
{
    const source_t *files, *bare = plain;
    size_t at;
    if (!run(uses, p, 0, COPY_NONE, &files))
        return cannot_preprocess(uses, files), false;
    if (uses->kept && !run(uses, p, 0, COPY_BARE, &bare))
        return cannot_preprocess(uses, bare), false;
    if (macro_first_change(files, bare, COMPARE_FILES, &at) < 0)
        return true;
    reader_t r = {.uses = uses, .s = files, .path = uses->includes->file[0]->path};
    lexer_t l = lexer_at(files, 0, files->length);
    for (token_t t = lex(&l); t.begin < at; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE)
            read_marker(&r, t);
    move_to(&r, (token_t){.begin = at});
    diag_plain(SEVERITY_ERROR,
               "%s:%u: macros write pragmas of kmm, and this line is another in the copies that "
               "kmmcc preprocesses",
               r.path, r.line);
    diag_plain(
        SEVERITY_NOTE,
        "give each header an include guard by #ifndef, no #pragma once and no #include_next; "
        "or write the pragmas themselves in this program");
    return false;
}

/* Reads what the uses are for the host. *plain: what the copies are without marks. False after an
 * error, or if no use writes a pragma. */
static bool read_host(macro_uses_t *uses, const preprocessor_t *p, const source_t **plain)
{
    const source_t *marked;
    size_t at;
    *plain = NULL;
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        if (!run(uses, p, 0, COPY_MARKED, &marked))
            return cannot_preprocess(uses, marked), false;
        forget_variants(uses);
        const char *stray = read_variants(uses, marked, 0);
        if (!stray && !any_writes(uses) && !uses->selects)
            return false;
        if (!*plain && !run(uses, p, 0, COPY_PLAIN, plain))
            return cannot_preprocess(uses, *plain), false;
        int changed = macro_first_change(marked, *plain, COMPARE_COPIES, &at);
        if (changed < 0 && stray)
            return refuse_left_out(uses, stray), false;
        if (changed < 0)
            return true;
        uses->at[changed].is_left_out = true;
    }
    refuse_left_out(uses, NULL);
    return false;
}

/* ---- Uses that are replaced ---- */

/* True if the text below a pragma is better seen than written by a macro: _Generic selects the
 * function, or it is a whole launch. */
static bool launches(const char *text)
{
    return strstr(text, "_Generic") || strstr(text, "<<<");
}

static bool is_replaced(const macro_use_t *u)
{
    bool writes = false;
    for (int k = 0; k < u->variant_count && !u->is_literal; k++)
        writes |= has_kmm(u->variant[k].text) || (u->follows && launches(u->variant[k].text));
    return writes;
}

/* False if a parenthesis is opened or closed elsewhere: then arguments of a macro may be, too. */
static bool is_balanced(const char *text)
{
    const source_t *s = source_from("", text, strlen(text));
    lexer_t l = lexer_within(s, 0, s->length);
    int depth = 0;
    for (token_t t = lex(&l); t.kind != TOKEN_END && depth >= 0; t = lex(&l))
        depth += token_is(s, t, "(") - token_is(s, t, ")");
    return depth == 0;
}

/* Reports a use that cannot be replaced by one text. */
static bool is_clear(const macro_uses_t *uses, const macro_use_t *u)
{
    const char *text = u->variant[0].text;
    bool differs = u->variant_count > 1, passes = differs && u->variant[1].pass > 0;
    if (u->is_quoted)
        refuse(uses, u, "stands in an argument of which a macro of another header makes a string",
               "move it out of the argument");
    else if (u->splits_counter)
        refuse(uses, u, "uses __COUNTER__ more than once, or as a part of a name or of a string",
               "use __LINE__, or name what has to be unique");
    else if (passes)
        refuse(uses, u, "expands to other code for the device than for the host",
               "put the part that differs into a function, or move it out of the macro");
    else if (differs)
        refuse(
            uses, u, "expands to other code each time this file is included",
            "let it begin without an include guard, or write the list as a macro: #define LIST(X) "
            "X(a) X(b)");
    else if (!is_balanced(text))
        refuse(uses, u, "leaves a parenthesis open",
               "write both parentheses in the macro, or both where it is used");
    else if (newlines(text, strlen(text)) > newlines_of(uses, u))
        refuse(uses, u, "has a string of several lines more than once", "name the string");
    else
        return true;
    return false;
}

static bool ends_with_pragma(const char *text)
{
    const source_t *s = source_from("", text, strlen(text));
    pragma_t pragma = {0};
    for (size_t from = 0; pragma_next(s, &from, &pragma);)
        ;
    return pragma.end && pragma.end == s->length;
}

/* Marks uses behind a pragma that a use writes. */
static void follow(macro_uses_t *uses)
{
    for (int k = 1; k < uses->count; k++) {
        const macro_use_t *before = &uses->at[k - 1];
        const source_t *s = source_of(uses, before);
        lexer_t l = lexer_within(s, before->end, s->length);
        if (before->variant_count && ends_with_pragma(before->variant[0].text) &&
            before->file == uses->at[k].file && lex(&l).begin == uses->at[k].begin)
            uses->at[k].follows = true;
    }
}

/* What stands in the place of the use, on as many lines. */
static const char *expansion_of(const macro_uses_t *uses, const macro_use_t *u)
{
    const char *text = u->variant[0].text;
    text_t out = {0};
    text_add(&out, text, strlen(text));
    for (unsigned lost = newlines_of(uses, u) - newlines(text, strlen(text)); lost; lost--)
        text_add(&out, "\n", 1);
    return out.data;
}

static void replace_in_file(const macro_uses_t *uses, int file)
{
    include_file_t *f = uses->includes->file[file];
    const source_t *s = f->source;
    text_t out = {0};
    size_t from = 0;
    for (int k = 0; k < uses->count; k++) {
        const macro_use_t *u = &uses->at[k];
        if (u->file != file || !u->expansion)
            continue;
        text_add(&out, s->text + from, u->begin - from);
        includes_move(f, out.length, strlen(u->expansion) - (u->end - u->begin));
        text_add(&out, u->expansion, strlen(u->expansion));
        from = u->end;
    }
    if (from == 0)
        return;
    text_add(&out, s->text + from, s->length - from);
    source_t *changed = source_from(s->path, out.data, out.length);
    changed->completed = true;
    f->source = changed;
    f->has_pragma = true;
}

/* False after an error: an expansion would be expanded once more by the compiler. A macro that
 * names itself leaves its name behind, which is no macro there but in the source. */
static bool is_final(macro_uses_t *uses, const preprocessor_t *p, const source_t *plain)
{
    const source_t *replaced;
    size_t at;
    for (int k = 0; k < uses->count; k++)
        if (is_replaced(&uses->at[k]) && is_clear(uses, &uses->at[k]))
            uses->at[k].expansion = expansion_of(uses, &uses->at[k]);
    bool good = run(uses, p, 0, COPY_MARKED, &replaced);
    int changed = good ? macro_first_change(replaced, plain, COMPARE_COPIES, &at) : -1;
    if (!good)
        cannot_preprocess(uses, replaced);
    else if (changed >= 0)
        refuse(uses, &uses->at[changed], "expands to the name of a macro, such as its own",
               "give the macro another name than what it expands to");
    return good && changed < 0;
}

/* Names that mean something else in the copies, which have other paths and dates and in which
 * _Pragma has no effect; and the directive, less #, in which alone that matters or does not matter.
 */
static const struct {
    const char *name, *only, *but, *remedy;
} differing[] = {
    {"__BASE_FILE__", "", NULL, "write the pragmas themselves in this program"},
    {"__TIMESTAMP__", "", NULL, "write the pragmas themselves in this program"},
    {"__COUNTER__", "if", NULL, "name the values that are compared"},
    {"__COUNTER__", "elif", NULL, "name the values that are compared"},
    {"push_macro", "", "pragma", "write #pragma push_macro"},
    {"pop_macro", "", "pragma", "write #pragma pop_macro"},
};

static bool is_directive(const source_t *s, token_t t, const char *word)
{
    const char *p = s->text + t.begin;
    return t.kind == TOKEN_DIRECTIVE &&
           strncmp(p + 1 + strspn(p + 1, " \t"), word, strlen(word)) == 0;
}

/* False after an error. */
static bool is_same_in_copies(const source_t *s)
{
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        for (size_t k = 0; k < sizeof(differing) / sizeof(*differing); k++) {
            const char *only = differing[k].only, *but = differing[k].but;
            if (!macro_contains(s, t, differing[k].name) || (*only && !is_directive(s, t, only)) ||
                (but && is_directive(s, t, but)))
                continue;
            diag_at(SEVERITY_ERROR, s, t.begin, t.end,
                    "'%s' here would get another meaning, because macros write pragmas of kmm",
                    differing[k].name);
            diag_at(SEVERITY_NOTE, s, t.begin, t.end, "%s", differing[k].remedy);
            return false;
        }
    }
    return true;
}

void macro_expand(const includes_t *includes, const options_t *o, const preprocessor_t *p)
{
    macro_uses_t uses = macro_uses_find(includes, o);
    const source_t *plain;
    if ((!(uses.writes && uses.is_kmm) && !uses.selects) || !read_host(&uses, p, &plain))
        return;
    for (int pass = 1; pass < MAX_PASSES; pass++) {
        const source_t *marked;
        if (!run(&uses, p, pass, COPY_MARKED, &marked))
            break;
        read_variants(&uses, marked, pass);
    }
    follow(&uses);
    bool is_same = true;
    for (int k = 0; k < includes->count; k++)
        is_same &= is_same_in_copies(includes->file[k]->source);
    if (!is_same || !is_same_as_files(&uses, p, plain) || !is_final(&uses, p, plain))
        return;
    for (int k = 0; k < includes->count; k++)
        replace_in_file(&uses, k);
}
