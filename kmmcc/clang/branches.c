/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the branches of #if that the real compiler takes with those that clang takes. Both
 * preprocess the program's files and say from which line of which file their output comes. A branch
 * is taken if some output comes from its lines. Branches without code do not matter in themselves:
 * the macros that they define are compared instead.
 */
#include "clang/branches.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/process.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/flags.h"
#include "clang/hint.h"
#include "pragma/asked.h"

/* ---- Preprocessed text ---- */

/* A line of the output that comes from a file of the program. */
typedef struct output {
    int file; /* its number in includes_t */
    unsigned line;
    int entry; /* how often the file was entered before */
    const char *text;
    size_t length;
} output_t;
typedef struct outputs {
    output_t *at;
    int count, capacity;
} outputs_t;

typedef struct reader {
    const includes_t *includes;
    outputs_t out;
    list_t names;   /* of files, as markers have them, */
    list_t numbers; /* and their numbers as text; "" for a file that is not the program's */
    int *entries;   /* of each file of the program */
    int file;       /* -1: not the program's */
    unsigned line;
} reader_t;

/* True if a #line directive of the file gives its lines the name. */
static bool is_renamed(const source_t *s, const char *name)
{
    return s->has_markers && strstr(s->text, arena_printf("\"%s\"", name));
}

static int number_of_file(const includes_t *includes, const char *name)
{
    char real[PATH_MAX];
    const char *path = realpath(name, real) ? real : name;
    for (int k = 0; k < includes->count; k++)
        if (!strcmp(includes->file[k]->path, name) || !strcmp(includes->file[k]->real, path))
            return k;
    for (int k = 0; k < includes->count; k++)
        if (is_renamed(includes->file[k]->source, name))
            return k;
    return -1;
}

static int find_file(reader_t *r, const char *name)
{
    for (int k = 0; k < r->names.count; k++)
        if (!strcmp(r->names.item[k], name))
            return *r->numbers.item[k] ? atoi(r->numbers.item[k]) : -1;
    int number = number_of_file(r->includes, name);
    list_add(&r->names, name);
    list_add(&r->numbers, number < 0 ? "" : arena_printf("%d", number));
    return number;
}

/* `# 7 "name" 1` or `#line 7 "name"`; a flag 1 says that the file is entered. False: it is another
 * line. */
static bool read_marker(reader_t *r, const char *line, size_t length)
{
    const char *at = line + 1, *end = line + length;
    at += strspn(at, " ");
    at += strncmp(at, "line ", 5) == 0 ? 5 : 0;
    if (*line != '#' || *at < '0' || *at > '9')
        return false;
    r->line = (unsigned)atoi(at);
    const char *name = memchr(at, '"', (size_t)(end - at));
    const char *close = name ? memchr(name + 1, '"', (size_t)(end - name - 1)) : NULL;
    if (!close)
        return true;
    r->file = find_file(r, arena_copy(name + 1, (size_t)(close - name - 1)));
    if (r->file >= 0 && strncmp(close + 1, " 1", 2) == 0)
        r->entries[r->file]++;
    return true;
}

static void read_line(reader_t *r, const char *line, size_t length)
{
    if (read_marker(r, line, length))
        return;
    if (r->file >= 0 && strspn(line, " \t") < length) {
        outputs_t *o = &r->out;
        o->at = arena_grow(o->at, o->count, &o->capacity, sizeof(*o->at));
        o->at[o->count++] = (output_t){r->file, r->line, r->entries[r->file], line, length};
    }
    r->line++;
}

static outputs_t read_outputs(const includes_t *includes, const char *text)
{
    reader_t r = {.includes = includes, .file = -1};
    r.entries = arena_alloc((size_t)includes->count * sizeof(*r.entries));
    memset(r.entries, 0, (size_t)includes->count * sizeof(*r.entries));
    while (*text) {
        size_t length = strcspn(text, "\n");
        read_line(&r, text, length);
        text += length + (text[length] == '\n');
    }
    return r.out;
}

/* What clang makes of the files themselves; NULL: it refuses them. */
static const char *preprocess(const unit_t *main)
{
    list_t command = {0};
    text_t text = {0};
    flags_t f = flags_of(main, main->headers);
    list_add(&command, KMM_CLANG);
    for (int k = 0; k < f.count; k++)
        list_add(&command, f.flag[k]);
    list_add(&command, "-E");
    list_add(&command, "-dD");
    list_add(&command, main->includes->file[0]->path);
    text_add(&text, "", 0);
    return process_capture(&command, &text) ? text.data : NULL;
}

/* ---- Branches ---- */

typedef struct comparison {
    const unit_t *main;
    outputs_t compiled, parsed; /* by the real compiler; by clang */
    const source_t **sources;   /* of the program's files, as the compilers read them */
} comparison_t;

static bool is_definition(const output_t *o)
{
    return strncmp(o->text, "#define ", 8) == 0 || strncmp(o->text, "#undef ", 7) == 0;
}

/* How often [first, last) of the file's lines were taken; *has_code: they give more than macros. */
static int times_taken(const outputs_t *outputs, int file, unsigned first, unsigned last,
                       bool *has_code)
{
    int count = 0, entry = -1;
    for (int k = 0; k < outputs->count; k++) {
        const output_t *o = &outputs->at[k];
        if (o->file != file || o->line < first || o->line >= last)
            continue;
        count += o->entry != entry;
        entry = o->entry;
        *has_code |= !is_definition(o) && !hint_is_all(o->text, o->length);
    }
    return count;
}

static void report(const source_t *s, token_t branch, bool by_compiler)
{
    diag_at(SEVERITY_ERROR, s, branch.begin, branch.end,
            by_compiler ? "the compiler takes this branch, but clang, by which kmmcc reads the "
                          "program, does not"
                        : "clang, by which kmmcc reads the program, takes this branch, but the "
                          "compiler does not");
    diag_at(SEVERITY_NOTE, s, branch.begin, branch.end,
            "ask for a macro of the program here, which the command line defines by -D, or write "
            "the branches so that both take the same");
}

/* From #if to #endif. */
typedef struct chain {
    unsigned first, last; /* lines of its branches */
    bool differs, by_compiler;
    token_t differing; /* the first branch that only one takes and that has code */
    token_t branch;    /* the directive of its open branch */
    struct chain *outer;
} chain_t;

static void close_branch(const comparison_t *c, int file, chain_t *chain, unsigned last)
{
    unsigned first = source_line(c->sources[file], chain->branch.begin) + 1;
    bool code_of_compiled = false, code_of_parsed = false;
    int compiled = times_taken(&c->compiled, file, first, last, &code_of_compiled);
    int parsed = times_taken(&c->parsed, file, first, last, &code_of_parsed);
    bool by_compiler = compiled > parsed;
    chain->last = last;
    if (chain->differs || compiled == parsed || !(by_compiler ? code_of_compiled : code_of_parsed))
        return;
    chain->differs = true;
    chain->by_compiler = by_compiler;
    chain->differing = chain->branch;
}

static const char *code_of(const outputs_t *outputs, int file, const chain_t *chain)
{
    text_t code = {0};
    text_add(&code, "", 0);
    for (int k = 0; k < outputs->count; k++) {
        const output_t *o = &outputs->at[k];
        if (o->file == file && o->line >= chain->first && o->line < chain->last &&
            !is_definition(o) && !hint_is_all(o->text, o->length))
            text_printf(&code, "%s", hint_without(o->text, o->length, false));
    }
    return code.data;
}

/* True if both take branches with the same code, in which kmmcc changes nothing. */
static bool is_same_code(const comparison_t *c, int file, const chain_t *chain)
{
    const char *compiled = code_of(&c->compiled, file, chain);
    return !strcmp(compiled, code_of(&c->parsed, file, chain)) && !strstr(compiled, "kmm") &&
           !strstr(compiled, "<<<");
}

static bool begins_branch(const char *word)
{
    static const char *const words[] = {"if",   "ifdef",   "ifndef",   "else",
                                        "elif", "elifdef", "elifndef", NULL};
    return text_is_one_of(word, words);
}

/* The next line of the file with code. */
static const output_t *next_code(const outputs_t *outputs, int file, int *k)
{
    while (*k < outputs->count) {
        const output_t *o = &outputs->at[(*k)++];
        if (o->file == file && !is_definition(o) && !hint_is_all(o->text, o->length))
            return o;
    }
    return NULL;
}

/* Compares a file in which #line gives lines other numbers: all lines with code. True if an error
 * was reported. */
static bool compare_lines(const comparison_t *c, int file)
{
    int compiled = 0, parsed = 0;
    const output_t *x, *y;
    do {
        x = next_code(&c->compiled, file, &compiled);
        y = next_code(&c->parsed, file, &parsed);
    } while (x && y && x->line == y->line);
    if (!x && !y)
        return false;
    const source_t *s = c->sources[file];
    diag_plain(SEVERITY_ERROR,
               "'%s' has #line, and from its line %u on the compiler and clang, by which kmmcc "
               "reads the program, see other lines",
               s->path, x && (!y || x->line < y->line) ? x->line : y->line);
    diag_plain(SEVERITY_NOTE,
               "let its #if ask for macros of the program, which the command line defines by -D");
    return true;
}

/* The file's chains in the order of their #if. */
static chain_t **read_chains(const comparison_t *c, int file, int *count)
{
    const source_t *s = c->sources[file];
    chain_t **all = NULL, *open = NULL;
    int capacity = 0;
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l), word; t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_in_directive(s, t, &word);
        const char *name = word.kind == TOKEN_NAME ? token_text(s, word) : "";
        bool begins = !strncmp(name, "if", 2), ends = !strcmp(name, "endif");
        if (!(ends || begins_branch(name)))
            continue;
        if (open && !begins)
            close_branch(c, file, open, source_line(s, t.begin));
        if (begins) {
            chain_t *chain = arena_alloc(sizeof(*chain));
            *chain = (chain_t){.first = source_line(s, t.begin) + 1, .outer = open};
            all = arena_grow(all, *count, &capacity, sizeof(chain_t *));
            all[(*count)++] = open = chain;
        }
        if (open)
            open->branch = t;
        if (open && ends)
            open = open->outer;
    }
    return all;
}

/* True if an error was reported: one for each file. */
static bool compare_file(const comparison_t *c, int file)
{
    int count = 0;
    unsigned accepted = 0; /* the lines before this one */
    if (c->sources[file]->has_markers)
        return compare_lines(c, file);
    chain_t **all = read_chains(c, file, &count);
    for (int k = 0; k < count; k++) {
        const chain_t *chain = all[k];
        if (!chain->differs || chain->first < accepted)
            continue;
        if (!is_same_code(c, file, chain)) {
            report(c->sources[file], chain->differing, chain->by_compiler);
            return true;
        }
        accepted = chain->last;
    }
    return false;
}

/* ---- Files ---- */

/* A header that only one of the two includes, by an #include that may be in no branch. */
static bool compare_presence(const comparison_t *c, int file)
{
    bool code[2] = {false, false};
    int compiled = times_taken(&c->compiled, file, 0, UINT_MAX, &code[0]);
    int parsed = times_taken(&c->parsed, file, 0, UINT_MAX, &code[1]);
    if (compiled && parsed)
        return false;
    if (!(compiled ? code[0] : code[1]))
        return false;
    diag_plain(SEVERITY_ERROR, "'%s': %s", c->sources[file]->path,
               compiled ? "the compiler includes this header, but clang, by which kmmcc reads the "
                          "program, does not"
                        : "clang, by which kmmcc reads the program, includes this header, but the "
                          "compiler does not");
    diag_plain(SEVERITY_NOTE,
               "let the #if before the #include ask for a macro of the program, which the command "
               "line defines by -D, and name folders of headers by -I");
    return true;
}

/* ---- Macros ---- */

/* Returns all definitions of the macro in the program's files, less what changes no types and no
 * statements. *file and *line become the place of the first. */
static const char *definitions(const outputs_t *outputs, const char *name, bool expects, int *file,
                               unsigned *line)
{
    text_t all = {0};
    size_t length = strlen(name);
    text_add(&all, "", 0);
    for (int k = 0; k < outputs->count; k++) {
        const output_t *o = &outputs->at[k];
        const char *at = o->text + strlen("#define ");
        if (strncmp(o->text, "#define ", 8) || strncmp(at, name, length) ||
            !strchr(" (\n", at[length]))
            continue;
        if (*file < 0)
            *file = o->file, *line = o->line;
        text_printf(&all, "%s\n",
                    hint_without(at + length, o->length - strlen("#define ") - length, expects));
    }
    return all.data;
}

static bool has_name(const source_t *s, lexer_t l, const char *name)
{
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_NAME && token_is(s, t, name))
            return true;
    return false;
}

static bool is_used(const comparison_t *c, const char *name, int depth);

/* True if the macro that the directive defines has the name in it, and is used. */
static bool passes_on(const comparison_t *c, const source_t *s, token_t directive, const char *name,
                      int depth)
{
    token_t word;
    lexer_t rest = lexer_in_directive(s, directive, &word);
    if (!token_is(s, word, "define"))
        return false;
    token_t macro = lex(&rest);
    return !token_is(s, macro, name) && has_name(s, rest, name) &&
           is_used(c, token_text(s, macro), depth + 1);
}

/* True if code has the macro in it. */
static bool is_used(const comparison_t *c, const char *name, int depth)
{
    enum { MOST = 8 };
    for (int k = 0; k < c->main->includes->count && depth < MOST; k++) {
        const source_t *s = c->sources[k];
        if (!strstr(s->text, name))
            continue;
        lexer_t l = lexer_at(s, 0, s->length);
        for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
            if ((t.kind == TOKEN_NAME && token_is(s, t, name)) ||
                (t.kind == TOKEN_DIRECTIVE && passes_on(c, s, t, name, depth)))
                return true;
    }
    return false;
}

/* Reports the macro at its definition. */
static void report_macro(const comparison_t *c, const char *name, int file, unsigned line,
                         bool by_compiler)
{
    const source_t *s = c->sources[file];
    size_t begin = line && line <= s->line_count ? s->lines[line - 1] : 0;
    size_t end = begin + strcspn(s->text + begin, "\n");
    begin += strspn(s->text + begin, " \t");
    diag_at(SEVERITY_ERROR, s, begin, end,
            "%s defines '%s' so, but %s defines it otherwise or not at all",
            by_compiler ? "the compiler" : "clang, by which kmmcc reads the program,", name,
            by_compiler ? "clang, by which kmmcc reads the program," : "the compiler");
    diag_at(SEVERITY_NOTE, s, begin, end,
            "let the #if before it ask for a macro of the program, which the command line defines "
            "by -D, or define '%s' by -D",
            name);
}

/* True if an error was reported. */
static bool compare_macro(const comparison_t *c, const char *name)
{
    int file = -1, other = -1;
    unsigned line = 0, other_line = 0;
    const char *compiled = definitions(&c->compiled, name, false, &file, &line);
    const char *parsed = definitions(&c->parsed, name, false, &other, &other_line);
    if (strstr(compiled, "__builtin_expect") || strstr(parsed, "__builtin_expect")) {
        compiled = definitions(&c->compiled, name, true, &file, &line);
        parsed = definitions(&c->parsed, name, true, &other, &other_line);
    }
    if (!strcmp(compiled, parsed) || !is_used(c, name, 0))
        return false;
    if (file >= 0)
        report_macro(c, name, file, line, true);
    else
        report_macro(c, name, other, other_line, false);
    return true;
}

static const char *defined_name(const output_t *o)
{
    const char *at = o->text + strlen("#define ");
    return arena_copy(at, strcspn(at, " (\n"));
}

/* The macros that `outputs` define in a line from which `others` have no such definition. */
static bool compare_macros(const comparison_t *c, const outputs_t *outputs, const outputs_t *others)
{
    int next = 0;
    for (int k = 0; k < outputs->count; k++) {
        const output_t *o = &outputs->at[k];
        if (strncmp(o->text, "#define ", 8))
            continue;
        while (next < others->count && strncmp(others->at[next].text, "#define ", 8))
            next++;
        const output_t *x = next < others->count ? &others->at[next] : NULL;
        if (x && x->file == o->file && x->line == o->line) {
            next++;
            continue;
        }
        int found = next;
        while (found < others->count &&
               (others->at[found].file != o->file || others->at[found].line != o->line ||
                strncmp(others->at[found].text, "#define ", 8)))
            found++;
        if (found < others->count)
            next = found + 1;
        else if (compare_macro(c, defined_name(o)))
            return true;
    }
    return false;
}

/* ---- The whole ---- */

/* #pragma GCC target defines macros, which the compiler's preprocessor may not do by itself. */
static bool refuse_target(const unit_t *main)
{
    static const char *const fixed[] = {"__clang", "__GNUC", "__has",   "__cplusplus",
                                        "__STDC",  "__llvm", "__GLIBC", "_OPENMP"};
    const includes_t *includes = main->includes;
    for (int k = 0; k < includes->asked.count; k++) {
        const char *name = includes->asked.item[k];
        const source_t *s;
        token_t at;
        bool may_change = name[0] == '_';
        for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
            may_change &= strncmp(name, fixed[i], strlen(fixed[i])) != 0;
        if (!may_change || !asked_behind_target(includes, &s, &at))
            continue;
        diag_at(SEVERITY_ERROR, s, at.begin, at.end,
                "this may change '%s', for which the program asks, and kmmcc does not see how",
                name);
        diag_at(SEVERITY_NOTE, s, at.begin, at.end, "give the option on the command line");
        return true;
    }
    return false;
}

static bool has_clang(const unit_t *main)
{
    if (access(KMM_CLANG, X_OK) == 0)
        return true;
    diag_plain(SEVERITY_ERROR,
               "'%s' asks for '%s', which compilers define differently, and there is no program "
               "'%s' to compare what they do",
               main->source->path, main->includes->asked.item[0], KMM_CLANG);
    diag_plain(SEVERITY_NOTE, "install it, or ask for a macro of the program, which the command "
                              "line defines by -D");
    return false;
}

bool branches_check(const unit_t *main)
{
    const includes_t *includes = main->includes;
    comparison_t c = {.main = main};
    if (!includes->asked.count || !includes->compiled)
        return true;
    if (!has_clang(main) || refuse_target(main))
        return false;
    const char *parsed = preprocess(main);
    if (!parsed)
        return true;
    c.compiled = read_outputs(includes, includes->compiled->text);
    c.parsed = read_outputs(includes, parsed);
    c.sources = arena_alloc((size_t)includes->count * sizeof(const source_t *));
    for (int k = 0; k < includes->count; k++) {
        const source_t *s = source_read(includes->file[k]->path);
        c.sources[k] = s ? s : includes->file[k]->source;
    }
    bool differs = false;
    for (int k = 0; k < includes->count; k++)
        if (!includes->file[k]->first)
            differs |= compare_file(&c, k) || compare_presence(&c, k);
    return !differs && !compare_macros(&c, &c.compiled, &c.parsed) &&
           !compare_macros(&c, &c.parsed, &c.compiled);
}
