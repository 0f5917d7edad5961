/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the uses of the program's macros by their names alone, and marks them in copies of the
 * files. A copy has the lines of its file, so that __LINE__ is the same, and includes the copies of
 * the other files.
 */
#include "pragma/macro_use.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/path.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "pragma/definition.h"
#include "pragma/pragma.h"

/* ---- Names of macros ---- */

/* A set of names, by hash. */
typedef struct names {
    const char **slot;
    size_t room, count;
} names_t;

static size_t hash_of(const char *name, size_t length)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t k = 0; k < length; k++)
        hash = (hash ^ (unsigned char)name[k]) * 0x100000001B3u;
    return (size_t)(hash ^ (hash >> 32));
}

/* The slot that holds the name, or where it would be. */
static const char **slot_of(const names_t *n, const char *name, size_t length)
{
    size_t k = hash_of(name, length) & (n->room - 1);
    while (n->slot[k] && (strncmp(n->slot[k], name, length) || n->slot[k][length]))
        k = (k + 1) & (n->room - 1);
    return &n->slot[k];
}

static void names_add(names_t *n, const char *name)
{
    if (2 * (n->count + 1) > n->room) {
        names_t grown = {.room = n->room ? 2 * n->room : 64};
        grown.slot = arena_alloc(grown.room * sizeof(*grown.slot));
        for (size_t k = 0; k < n->room; k++)
            if (n->slot[k])
                names_add(&grown, n->slot[k]);
        *n = grown;
    }
    const char **slot = slot_of(n, name, strlen(name));
    n->count += !*slot;
    *slot = name;
}

static bool names_have(const names_t *n, const source_t *s, token_t t)
{
    return t.kind == TOKEN_NAME && n->room && *slot_of(n, s->text + t.begin, t.end - t.begin);
}

static bool names_have_text(const names_t *n, const char *name)
{
    return n->room && *slot_of(n, name, strlen(name));
}

/* ---- Definitions ---- */

/* Words that CUDA's headers define as macros, and that kmmcc looks for in the text. */
static const char *const words_of_cuda[] = {"__global__",
                                            "__device__",
                                            "__host__",
                                            "__shared__",
                                            "__constant__",
                                            "__managed__",
                                            "__launch_bounds__",
                                            "__noinline__",
                                            "__forceinline__",
                                            "__align__",
                                            "__grid_constant__",
                                            "__syncthreads",
                                            NULL};

static void keep_word(list_t *kept, const char *word)
{
    if (!text_is_one_of(word, words_of_cuda) || (kept->item && text_is_one_of(word, kept->item)))
        return;
    list_add(kept, word);
}

/* One definition of a macro. */
typedef struct definition {
    const source_t *s;
    const char *name;
    size_t body, end;
    bool may_write; /* the body has _Pragma, pastes tokens, or names a macro that does */
} definition_t;

typedef struct definitions {
    names_t names, writers; /* of all macros, and of those that may write a pragma */
    list_t kept;
    definition_t *at;
    int count, capacity;
    bool writes, selects; /* some has _Pragma; _Generic or <<< */
    bool is_given;        /* one of the command line may write a pragma of kmm */
} definitions_t;

static void add_definition(definitions_t *d, const source_t *s, token_t line)
{
    token_t word;
    lexer_t l = lexer_in_directive(s, line, &word);
    if (!token_is(s, word, "define"))
        return;
    token_t name = lex(&l);
    definition_t m = {.s = s, .name = token_text(s, name), .body = name.end, .end = line.end};
    names_add(&d->names, m.name);
    for (token_t t = lex(&l), last = name; t.kind != TOKEN_END; last = t, t = lex(&l)) {
        d->writes |= token_is(s, t, "_Pragma");
        d->selects |= token_is(s, t, "_Generic") || token_is(s, t, "<<<");
        m.may_write |= token_is(s, t, "_Pragma") || (token_is(s, t, "#") && token_is(s, last, "#"));
        if (t.kind == TOKEN_NAME && s->text[t.begin] == '_')
            keep_word(&d->kept, token_text(s, t));
    }
    d->at = arena_grow(d->at, d->count, &d->capacity, sizeof(*d->at));
    d->at[d->count++] = m;
}

static void add_definitions(definitions_t *d, const source_t *s)
{
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE)
            add_definition(d, s, t);
}

static void add_options(definitions_t *d, const options_t *o)
{
    for (int k = 0; k < o->parse_flag_count; k++) {
        const source_t *s = definition_of_flag(o, k);
        if (!s)
            continue;
        add_definitions(d, s);
        d->is_given |= source_may_write_pragma(s);
    }
}

/* True if one of the names is in [begin, end). */
static bool mentions(const names_t *names, const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_within(s, begin, end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (names_have(names, s, t) || token_is(s, t, "_Pragma"))
            return true;
    return false;
}

static void find_writers(definitions_t *d)
{
    for (bool grown = d->writes; grown;) {
        grown = false;
        for (int k = 0; k < d->count; k++) {
            definition_t *m = &d->at[k];
            m->may_write = m->may_write || mentions(&d->writers, m->s, m->body, m->end);
            if (!m->may_write || names_have_text(&d->writers, m->name))
                continue;
            names_add(&d->writers, m->name);
            grown = true;
        }
    }
}

static definitions_t read_definitions(const includes_t *includes, const options_t *o)
{
    definitions_t d = {0};
    for (int k = 0; k < includes->count; k++)
        add_definitions(&d, includes->file[k]->source);
    add_options(&d, o);
    find_writers(&d);
    return d;
}

/* ---- Uses ---- */

/* Moves the lexer behind the parentheses that begin at its next token; false: none do, or they are
 * not closed. */
static bool skip_parentheses(const source_t *s, lexer_t *l)
{
    lexer_t ahead = *l;
    token_t t = lex(&ahead);
    if (!token_is(s, t, "("))
        return false;
    for (int depth = 1; depth; depth += token_is(s, t, "(") - token_is(s, t, ")")) {
        t = lex(&ahead);
        if (t.kind == TOKEN_END)
            return false;
    }
    *l = ahead;
    return true;
}

/* `_Pragma` '(' STRING */
static bool is_literal(const source_t *s, lexer_t l)
{
    return token_is(s, lex(&l), "(") && lex(&l).kind == TOKEN_STRING;
}

/* True if `#pragma kmm` or `_Pragma("kmm` begins at the token. */
static bool is_pragma(const source_t *s, token_t t)
{
    lexer_t l;
    token_t word;
    if (t.kind == TOKEN_DIRECTIVE) {
        l = lexer_in_directive(s, t, &word);
        return token_is(s, word, "pragma") && token_is(s, lex(&l), "kmm");
    }
    l = lexer_within(s, t.end, s->length);
    if (!token_is(s, t, "_Pragma") || !token_is(s, lex(&l), "(") ||
        (word = lex(&l)).kind != TOKEN_STRING)
        return false;
    l = lexer_within(s, word.begin + 1, word.end);
    return token_is(s, lex(&l), "kmm");
}

/* True if a pragma may come of the use: of its macro, or of one in its arguments; or if it follows
 * a pragma. */
static bool matters(const macro_use_t *u, const definitions_t *d, const source_t *s)
{
    return u->follows || mentions(&d->writers, s, u->begin, u->end);
}

static void find_in_file(macro_uses_t *out, const definitions_t *d, int file)
{
    const source_t *s = out->includes->file[file]->source;
    lexer_t l = lexer_at(s, 0, s->length);
    bool follows = false, follows_use = false;
    int depth = 0; /* of parentheses */
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool is_operator = token_is(s, t, "_Pragma"), was_pragma = follows, was_use = follows_use;
        depth = is_pragma(s, t) ? 0 : depth + token_is(s, t, "(") - token_is(s, t, ")");
        follows = is_pragma(s, t) || (follows && !(depth <= 0 && token_is(s, t, ";")));
        follows_use = false;
        if (!is_operator && !names_have(&d->names, s, t))
            continue;
        macro_use_t u = {.file = file, .begin = t.begin, .follows = was_pragma};
        lexer_t behind = l;
        u.is_literal = is_operator && is_literal(s, l);
        while (skip_parentheses(s, &behind) && !is_operator)
            ;
        u.end = behind.at > l.at ? behind.at : t.end;
        out->writes |= is_operator && !u.is_literal;
        if (!is_operator && !was_use && !matters(&u, d, s))
            continue;
        follows_use = true;
        out->selects |= u.follows && d->selects;
        out->at = arena_grow(out->at, out->count, &out->capacity, sizeof(*out->at));
        out->at[out->count++] = u;
        l.at = u.end;
        l.line_start = false;
    }
}

macro_uses_t macro_uses_find(const includes_t *includes, const options_t *o)
{
    macro_uses_t out = {.includes = includes};
    definitions_t d = read_definitions(includes, o);
    for (int k = 0; k < includes->count; k++)
        find_in_file(&out, &d, k);
    out.kept = d.kept.item;
    out.writes |= d.writes;
    for (int k = 0; k < includes->count; k++)
        out.is_kmm |= source_may_write_pragma(includes->file[k]->source);
    out.is_kmm |= d.is_given;
    return out;
}

/* ---- Copies ---- */

static const char *name_of_copy(const includes_t *includes, int file)
{
    const char *name = path_base(includes->file[file]->path);
    return file ? arena_printf("kmm_%d_%s", file, name) : name;
}

static int number_of(const includes_t *includes, const include_file_t *f)
{
    for (int k = 0; k < includes->count; k++)
        if (includes->file[k] == f)
            return k;
    return 0;
}

static void add_kept(const macro_uses_t *uses, const char *before, const char *behind, text_t *out)
{
    for (const char *const *word = uses->kept; word && *word; word++)
        text_printf(out, "\n%s%s%s", before, *word, behind);
}

/* One use. With words to keep it stands on lines of its own. */
static void add_use(const macro_uses_t *uses, int number, copy_kind_t kind, text_t *out)
{
    const macro_use_t *u = &uses->at[number];
    const source_t *s = uses->includes->file[u->file]->source;
    bool marks = kind == COPY_MARKED && !u->is_left_out,
         keeps = kind != COPY_BARE && uses->kept && !u->is_literal;
    if (keeps) {
        add_kept(uses, "#pragma push_macro(\"", "\")", out);
        add_kept(uses, "#undef ", "", out);
        text_printf(out, "\n%s\n", source_line_marker(s, source_line(s, u->begin)));
    }
    if (marks)
        text_printf(out, " " USE_BEGIN "%d ", number);
    if (u->expansion)
        text_add(out, u->expansion, strlen(u->expansion));
    else
        text_add(out, s->text + u->begin, u->end - u->begin);
    if (marks)
        text_printf(out, " " USE_END "%d ", number);
    if (keeps) {
        add_kept(uses, "#pragma pop_macro(\"", "\")", out);
        text_printf(out, "\n%s\n", source_line_marker(s, source_line(s, u->end)));
    }
}

static const char *copy_of(const macro_uses_t *uses, int file, copy_kind_t kind)
{
    const include_file_t *f = uses->includes->file[file];
    const source_t *s = f->source;
    text_t out = {0};
    size_t from = s->lines[0];
    int use = 0, include = 0;
    while (use < uses->count && uses->at[use].file < file)
        use++;
    text_printf(&out, "%s\n", source_line_marker(s, 1));
    for (;;) {
        bool has_use = use < uses->count && uses->at[use].file == file;
        bool has_include = include < f->include_count;
        if (!has_use && !has_include)
            break;
        if (has_include && (!has_use || f->include[include].begin < uses->at[use].begin)) {
            const include_t *i = &f->include[include++];
            if (i->by_macro)
                continue;
            text_add(&out, s->text + from, i->begin - from);
            text_printf(&out, "\"%s\"",
                        name_of_copy(uses->includes, number_of(uses->includes, i->file)));
            from = i->end;
        } else {
            text_add(&out, s->text + from, uses->at[use].begin - from);
            add_use(uses, use, kind, &out);
            from = uses->at[use++].end;
        }
    }
    text_add(&out, s->text + from, s->length - from);
    return out.data;
}

const macro_copy_t *macro_uses_copies(const macro_uses_t *uses, copy_kind_t kind)
{
    if (kind == COPY_NONE)
        return NULL;
    macro_copy_t *copies = arena_alloc((size_t)uses->includes->count * sizeof(*copies));
    for (int k = 0; k < uses->includes->count; k++)
        copies[k] = (macro_copy_t){name_of_copy(uses->includes, k), copy_of(uses, k, kind)};
    return copies;
}
