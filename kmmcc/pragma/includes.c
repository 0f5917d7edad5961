/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the headers that a source includes. A source with headers of CUDA or HIP is compiled by
 * nvcc or hipcc, which know where these are. kmmcc adds the folder of kmm's own headers. Only the
 * text is searched, in the source and in the program's headers that it includes; conditions (#if)
 * are ignored.
 */
#include "pragma/includes.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/path.h"
#include "base/text.h"
#include "base/token.h"
#include "pragma/header_name.h"
#include "pragma/hidden.h"
#include "pragma/pragma.h"

enum { MAX_FILES = 4096 };

typedef struct scan {
    const options_t *options;
    includes_t *out;
} scan_t;

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static unsigned use_of(const char *header)
{
    static const char *const cuda[] = {
        "cuda",       "cublas",   "cufft", "curand",
        "cusparse",   "cusolver", "nccl",  "device_launch_parameters",
        "helper_cuda"};
    for (size_t k = 0; k < sizeof(cuda) / sizeof(*cuda); k++)
        if (begins(header, cuda[k]))
            return USES_CUDA;
    if (strcmp(header, "kmm.h") == 0 || begins(header, "kmm/"))
        return USES_KMM;
    return begins(header, "hip/") || begins(header, "hipblas") || begins(header, "rocblas")
               ? USES_HIP
               : 0;
}

static const char *readable(const char *path)
{
    return access(path, R_OK) == 0 ? path : NULL;
}

/* The header as quotes find it: beside the file that includes it, then in the -iquote and -I
 * folders. `beside` is NULL for one in angle brackets. */
static const char *find_header(const scan_t *s, const char *beside, const char *header)
{
    const options_t *o = s->options;
    const char *slash = beside ? strrchr(beside, '/') : NULL, *path = NULL;
    if (header[0] == '/')
        return readable(header);
    if (beside)
        path = readable(slash ? arena_printf("%.*s/%s", (int)(slash - beside), beside, header)
                              : header);
    for (int k = 0; k < o->parse_flag_count && !path; k++) {
        const char *flag = o->parse_flags[k],
                   *next = k + 1 < o->parse_flag_count ? o->parse_flags[k + 1] : "";
        if (begins(flag, "-I"))
            path = readable(arena_printf("%s/%s", flag[2] ? flag + 2 : next, header));
        else if (beside && strcmp(flag, "-iquote") == 0)
            path = readable(arena_printf("%s/%s", next, header));
    }
    return path;
}

/* A file is one file by whatever path it is named. */
static const char *real_path(const char *path)
{
    char place[PATH_MAX];
    return realpath(path, place) ? arena_copy(place, strlen(place)) : path;
}

static int find_file(const scan_t *s, const char *real)
{
    for (int k = 0; k < s->out->count; k++)
        if (strcmp(s->out->file[k]->real, real) == 0)
            return k;
    return -1;
}

/* Returns what is behind `#include` on the line; NULL for another line. */
static const char *operand_of(const char *line)
{
    line += strspn(line, " \t");
    size_t hash = *line == '#' ? 1 : begins(line, "%:") ? 2 : 0;
    if (!hash)
        return NULL;
    line += hash + strspn(line + hash, " \t");
    if (!begins(line, "include"))
        return NULL;
    line += strlen("include");
    size_t space = strspn(line, " \t");
    return space || *line == '<' || *line == '"' ? line + space : NULL;
}

/* Without what closes it: of <name> and "name" */
static const char *name_in(const char *operand)
{
    return arena_copy(operand + 1, strcspn(operand + 1, ">\"\n"));
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The length of a line splice in the middle of a word; 0: none is there. */
static size_t splice_in_word(const char *text, size_t at)
{
    size_t length = begins(text + at, "\\\n") ? 2 : begins(text + at, "\\\r\n") ? 3 : 0;
    return length && at && is_letter(text[at - 1]) && is_letter(text[at + length]) ? length : 0;
}

/* The same file, in which a line splice stands behind the word that it splits. Raw strings would
 * change. */
static const source_t *with_whole_words(const source_t *source)
{
    text_t out = {0};
    if (!strstr(source->text, "\\\n") && !strstr(source->text, "\\\r\n"))
        return source;
    size_t from = 0;
    for (size_t k = 0, end; k < source->length && !strstr(source->text, "R\""); k = end) {
        text_t splices = {0};
        end = k + 1;
        if (!splice_in_word(source->text, k))
            continue;
        text_add(&out, source->text + from, k - from);
        for (end = k; end < source->length;) {
            size_t length = splice_in_word(source->text, end);
            if (!length && !is_letter(source->text[end]))
                break;
            text_add(length ? &splices : &out, source->text + end, length ? length : 1);
            end += length ? length : 1;
        }
        text_add(&out, splices.data, splices.length);
        from = end;
    }
    if (!from)
        return source;
    text_add(&out, source->text + from, source->length - from);
    return source_from(source->path, out.data, out.length);
}

static void scan_file(scan_t *s, include_file_t *f);

static include_file_t *add_file(scan_t *s, const char *path, const char *real,
                                const source_t *source)
{
    include_file_t *f = arena_alloc(sizeof(*f));
    *f = (include_file_t){.path = path, .real = real, .source = source, .parsed_as = path};
    s->out->file[s->out->count++] = f;
    if (!s->options->ignores_pragmas)
        hidden_pragma(source);
    scan_file(s, f);
    return f;
}

static include_file_t *add_further(scan_t *s, const include_file_t *known)
{
    const source_t *again =
        source_from(known->source->path, known->source->text, known->source->length);
    include_file_t *f = arena_alloc(sizeof(*f));
    *f = (include_file_t){.path = known->path, .real = known->real, .source = again};
    f->parsed_as = arena_printf("%s/kmm_%d_%s", path_folder(known->real), s->out->count,
                                path_base(known->real));
    f->first = known;
    s->out->file[s->out->count++] = f;
    scan_file(s, f);
    return f;
}

/* What keeps a file from being read twice: `#ifndef NAME` and `#define NAME` as the first lines of
 * the preprocessor; else `#pragma once`. */
typedef enum guard { GUARD_NONE, GUARD_BY_NAME, GUARD_ONCE } guard_t;

static guard_t guard_of(const source_t *s)
{
    const char *name = NULL;
    bool once = false;
    int count = 0;
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l), word; t.kind != TOKEN_END; t = lex(&l)) {
        once |= t.kind == TOKEN_STRING && !strncmp(s->text + t.begin, "\"once\"", 6);
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_t inner = lexer_in_directive(s, t, &word);
        token_t operand = lex(&inner);
        while (token_is(s, operand, "!") || token_is(s, operand, "defined") ||
               token_is(s, operand, "("))
            operand = lex(&inner);
        if (token_is(s, word, "pragma")) {
            once |= token_is(s, operand, "once");
            continue;
        }
        if (count == 0 && (token_is(s, word, "ifndef") || token_is(s, word, "if")))
            name = token_text(s, operand);
        else if (count == 1 && name && token_is(s, word, "define") && token_is(s, operand, name))
            return GUARD_BY_NAME;
        count++;
    }
    return once ? GUARD_ONCE : GUARD_NONE;
}

static bool is_open(const scan_t *s, const char *real)
{
    for (int k = 0; k < s->out->count; k++)
        if (s->out->file[k]->is_open && !strcmp(s->out->file[k]->real, real))
            return true;
    return false;
}

static include_file_t *file_at(scan_t *s, const char *path, bool by_macro)
{
    const char *real = real_path(path);
    int known = find_file(s, real);
    if (known >= 0 && !by_macro && s->out->count < MAX_FILES && !is_open(s, real) &&
        guard_of(s->out->file[known]->source) == GUARD_NONE)
        return add_further(s, s->out->file[known]);
    if (known >= 0)
        return s->out->file[known];
    const source_t *source = s->out->count < MAX_FILES ? source_read(path) : NULL;
    return source ? add_file(s, path, real, with_whole_words(source)) : NULL;
}

static void add_include(include_file_t *f, include_t include)
{
    f->include =
        arena_grow(f->include, f->include_count, &f->include_capacity, sizeof(*f->include));
    f->include[f->include_count++] = include;
}

/* One header that the line may name, with its quotes. `at` is where the operand stands, with
 * `length` bytes. */
static void add_header(scan_t *s, include_file_t *f, const char *operand, size_t at, size_t length,
                       bool by_macro)
{
    bool quoted = *operand == '"';
    const char *header = name_in(operand);
    unsigned use = use_of(header);
    s->out->uses |= use;
    const char *path = use ? NULL : find_header(s, quoted ? f->path : NULL, header);
    include_file_t *file = path ? file_at(s, path, by_macro) : NULL;
    for (int k = 0; k < f->include_count && by_macro; k++)
        if (f->include[k].begin == at && f->include[k].file == file)
            return;
    if (file)
        add_include(f, (include_t){.begin = at,
                                   .end = at + length,
                                   .file = file,
                                   .quoted = quoted,
                                   .by_macro = by_macro});
}

/* `#include MACRO` or `#include MACRO(arguments)`: all that it may mean. */
static void add_named_by_macro(scan_t *s, include_file_t *f, size_t at)
{
    enum { MOST = 16 };
    const char *names[MOST];
    lexer_t l = lexer_at(f->source, at, f->source->length);
    size_t end = at, line_end = at + strcspn(f->source->text + at, "\n");
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END && t.end <= line_end; t = lex(&l))
        end = t.end;
    int count = header_names(s->out, s->options, source_words(f->source, at, end), names, MOST);
    for (int k = 0; k < count; k++)
        add_header(s, f, names[k], at, end - at, true);
}

static void scan_file(scan_t *s, include_file_t *f)
{
    const source_t *source = f->source;
    f->is_open = true;
    s->out->uses |= strstr(source->text, "_KMM") ? USES_MACRO : 0;
    f->has_pragma = strstr(source->text, "kmm") && source_has_pragma(source);
    for (unsigned k = 0; k < source->line_count; k++) {
        const char *operand = operand_of(source->text + source->lines[k]);
        if (!operand)
            continue;
        size_t at = (size_t)(operand - source->text);
        bool is_name = (*operand | 32) >= 'a' && (*operand | 32) <= 'z';
        if (*operand == '<' || *operand == '"')
            add_header(s, f, operand, at, strlen(name_in(operand)) + 2, false);
        else if (is_name || *operand == '_')
            add_named_by_macro(s, f, at);
    }
    f->is_open = false;
}

/* The macros of -D may write pragmas, and -include names headers as #include does. */
static void read_options(scan_t *s)
{
    const options_t *o = s->options;
    for (int k = 0; k + 1 < o->parse_flag_count; k++) {
        const char *path = strcmp(o->parse_flags[k], "-include") == 0
                               ? find_header(s, "", o->parse_flags[k + 1])
                               : NULL;
        include_file_t *file = path ? file_at(s, path, true) : NULL;
        if (file)
            file->is_forced = true;
    }
    for (int k = 0; k < o->parse_flag_count; k++)
        if (strstr(o->parse_flags[k], "_Pragma") && strstr(o->parse_flags[k], "kmm"))
            s->out->file[0]->has_pragma = true;
}

includes_t *includes_read(const options_t *o, const source_t *source)
{
    includes_t *out = arena_alloc(sizeof(*out));
    scan_t s = {o, out};
    out->file = arena_alloc(MAX_FILES * sizeof(*out->file));
    add_file(&s, source->path, real_path(source->path), with_whole_words(source));
    read_options(&s);
    return out;
}

void includes_move(include_file_t *f, size_t at, size_t by)
{
    for (int k = 0; k < f->include_count; k++) {
        if (f->include[k].begin < at)
            continue;
        f->include[k].begin += by;
        f->include[k].end += by;
    }
}

static bool may_change(const include_file_t *f)
{
    return f->has_pragma || strstr(f->source->text, "__global__") ||
           strstr(f->source->text, "__device__") || includes_name_further(f);
}

/* The name of the file itself means the first entry, as it is changed. */
bool includes_is_renamed(const include_file_t *f)
{
    return f->first && (may_change(f) || may_change(f->first));
}

bool includes_name_further(const include_file_t *f)
{
    for (int k = 0; k < f->include_count; k++)
        if (includes_is_renamed(f->include[k].file))
            return true;
    return false;
}

bool includes_have_pragma(const includes_t *i)
{
    for (int k = 0; k < i->count; k++)
        if (i->file[k]->has_pragma)
            return true;
    return false;
}

/* ---- Headers of -isystem ---- */

typedef struct outside {
    scan_t scan;
    const include_file_t *sought;
    list_t seen; /* real paths */
    const char *found;
} outside_t;

static const char *find_outside(const options_t *o, const char *header)
{
    const char *path = NULL;
    for (int k = 0; k + 1 < o->parse_flag_count && !path; k++)
        if (!strcmp(o->parse_flags[k], "-isystem") || !strcmp(o->parse_flags[k], "-idirafter"))
            path = readable(arena_printf("%s/%s", o->parse_flags[k + 1], header));
    return path;
}

static void search_outside(outside_t *w, const char *path);

/* The #include lines of a header of -isystem, or those of the program's file that are not followed.
 */
static void search_lines(outside_t *w, const source_t *s, bool is_outside)
{
    enum { MOST = 1024 };
    for (unsigned k = 0; k < s->line_count && !w->found && w->seen.count < MOST; k++) {
        const char *operand = operand_of(s->text + s->lines[k]);
        if (!operand || (*operand != '<' && *operand != '"'))
            continue;
        const char *name = name_in(operand),
                   *path = find_header(&w->scan, *operand == '"' ? s->path : NULL, name);
        if (path && is_outside && !strcmp(real_path(path), w->sought->real))
            w->found = s->path;
        else if (!path || is_outside)
            search_outside(w, path ? path : find_outside(w->scan.options, name));
    }
}

static void search_outside(outside_t *w, const char *path)
{
    const char *real = path ? real_path(path) : NULL;
    const source_t *s = NULL;
    if (!path || (w->seen.item && text_is_one_of(real, w->seen.item)))
        return;
    list_add(&w->seen, real);
    if (!strcmp(real, w->sought->real))
        w->found = path;
    else if ((s = source_read(path)))
        search_lines(w, s, true);
}

const char *includes_doubled_by(const options_t *o, const includes_t *i, const include_file_t *f)
{
    outside_t w = {.scan = {.options = o}, .sought = f};
    if (guard_of(f->source) != GUARD_ONCE)
        return NULL;
    for (int k = 0; k < i->count; k++)
        search_lines(&w, i->file[k]->source, false);
    return w.found;
}
