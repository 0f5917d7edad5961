/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms one file from text to text. */
#include "driver/transform.h"

#include <clang-c/Index.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyze/check.h"
#include "analyze/declaration.h"
#include "analyze/declare.h"
#include "analyze/instances.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/bind.h"
#include "clang/branches.h"
#include "clang/cursor.h"
#include "clang/parse.h"
#include "clang/pragmas.h"
#include "clang/probe.h"
#include "clang/unit.h"
#include "clang/verify.h"
#include "cpu/host.h"
#include "emit/accesses.h"
#include "emit/emit.h"
#include "emit/explain.h"
#include "emit/rewrite.h"
#include "emit/suggestion.h"
#include "gpu/clone.h"

/* Parses the files and finds what their directives govern; goes on after errors that are about
 * single directives. *first: the number of the first message about that. */
static bool bind_parsed(unit_t *u, bodies_t bodies, int *first)
{
    *first = diag_count();
    for (unit_t *k = u; k; k = k->next)
        probe_write(k);
    bool parsed = parse_unit(u, bodies);
    *first -= pragmas_forget_disabled(u);
    if (!parsed)
        return false;
    for (unit_t *k = u; k; k = k->next)
        bind_directives(k);
    return true;
}

/* The same. Instances of templates that nothing in the file names get code that names them, for
 * this parse and later ones, if that can be parsed. */
static bool bind_once(unit_t *u, bodies_t bodies, int *first)
{
    if (!bind_parsed(u, bodies, first))
        return false;
    const char *named = instances_find(u);
    for (; named && !u->named; named = NULL) {
        int errors = diag_error_count();
        u->named = named;
        clang_disposeTranslationUnit(u->tu);
        diag_retract(*first, diag_count());
        if (bind_parsed(u, bodies, first) && diag_error_count() <= errors) {
            instances_find(u);
            return true;
        }
        diag_retract(*first, diag_count());
        u->named = "";
        clang_disposeTranslationUnit(u->tu);
        if (!bind_parsed(u, bodies, first))
            return false;
        instances_find(u);
    }
    return true;
}

/* True if a header of the program may have kernels, or what they call. */
static bool headers_have_kernels(const includes_t *includes)
{
    for (int k = 1; k < includes->count; k++) {
        const char *text = includes->file[k]->source->text;
        if (strstr(text, "__global__") || strstr(text, "__device__"))
            return true;
    }
    return false;
}

/* True if a launch runs a kernel of a header whose body was skipped. */
static bool launches_skipped(unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *d = u->directives[k];
        for (int i = 0; d->bound && d->kind == DIRECTIVE_PARALLEL && i < d->target_count; i++) {
            CXCursor kernel = d->target[i].kernel, definition = d->target[i].definition;
            if ((clang_Cursor_isNull(definition) || clang_Cursor_isNull(cursor_body(definition))) &&
                !unit_is_in(u, kernel) &&
                !clang_Location_isInSystemHeader(clang_getCursorLocation(kernel)))
                return true;
        }
    }
    return false;
}

/* Bodies of functions are skipped in headers where no header of the program seems to have code for
 * devices. The files are parsed again when a kernel or what it calls has its body in a header all
 * the same, and again when launches are completed, which changes the text. What is inferred of a
 * kernel comes from its body, so the bodies come first. `errors`: how many there were before the
 * unit. */
static bool bind_unit(unit_t *u, bool clones, int errors)
{
    bool light = clones && !u->next && !headers_have_kernels(u->includes);
    int first;
    if (!bind_once(u, light ? BODIES_OF_MAIN_FILE : BODIES_OF_ALL_FILES, &first))
        return false;
    if (light &&
        (launches_skipped(u) || (diag_error_count() == errors && clone_needs_headers(u)))) {
        light = false;
        diag_retract(first, diag_count()); /* what is said so far is said again */
        clang_disposeTranslationUnit(u->tu);
        if (!bind_once(u, BODIES_OF_ALL_FILES, &first))
            return false;
    }
    if (!declare_complete(u, first))
        return true;
    clang_disposeTranslationUnit(u->tu);
    if (!bind_once(u, light ? BODIES_OF_MAIN_FILE : BODIES_OF_ALL_FILES, &first))
        return false;
    declaration_bind_all(u);
    return true;
}

/* ---- Headers that change ---- */

static unit_t *unit_of(unit_t *u, const include_file_t *f)
{
    for (; u; u = u->next) {
        CXFile own = clang_getFile(u->tu, u->path), file = clang_getFile(u->tu, f->parsed_as);
        if (u->source == f->source || (own && file && clang_File_isEqual(own, file)))
            return u;
    }
    return NULL;
}

static bool changes(unit_t *u, const include_file_t *f)
{
    const unit_t *of = unit_of(u, f);
    return of && of->edit_count;
}

/* Sets reaches_change of the files that include one that changes. */
static void find_chains(unit_t *u, const includes_t *includes)
{
    for (int k = 0; k < includes->count; k++)
        includes->file[k]->reaches_change = changes(u, includes->file[k]);
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < includes->count; k++) {
            include_file_t *f = includes->file[k];
            for (int i = 0; i < f->include_count && !f->reaches_change; i++)
                f->reaches_change = grown = f->include[i].file->reaches_change;
        }
    }
}

static const char *name_of_copy(const includes_t *includes, const include_file_t *f)
{
    const char *slash = strrchr(f->path, '/');
    for (int k = 0; k < includes->count; k++)
        if (includes->file[k] == f)
            return arena_printf("kmm_%d_%s", k, slash ? slash + 1 : f->path);
    return f->path;
}

/* Further entries of headers have names of their own until they are copies. */
static void name_further(unit_t *u)
{
    for (unit_t *k = u; k; k = k->next) {
        const include_file_t *f = unit_includes(k);
        for (int i = 0; f && i < f->include_count; i++)
            if (includes_is_renamed(f->include[i].file))
                unit_edit(k, f->include[i].begin, f->include[i].end,
                          arena_printf("\"%s\"", f->include[i].file->parsed_as));
    }
}

/* Replaces the name of a header that has got another. */
static void rename_header(unit_t *u, const include_t *include, const char *name)
{
    for (int k = 0; k < u->edit_count; k++)
        if (u->edits[k].begin == include->begin && u->edits[k].end == include->end) {
            u->edits[k].text = name;
            return;
        }
    unit_edit(u, include->begin, include->end, name);
}

/* The name of a header that stays as it is, for a copy that lies elsewhere. A project keeps the
 * copies of --check-dir, where the path must be the same on all machines. */
static const char *unchanged_name(const unit_t *u, const include_file_t *f)
{
    return u->options->check_dir ? f->path : f->real;
}

static void point_to_copies(unit_t *u, const includes_t *includes, const include_file_t *f)
{
    for (int i = 0; i < f->include_count; i++) {
        const include_t *include = &f->include[i];
        if (include->by_macro && !include->chosen)
            continue;
        if (include->file->reaches_change)
            rename_header(u, include,
                          arena_printf("\"%s\"", name_of_copy(includes, include->file)));
        else if (u != u->main && include->quoted && *include->file->real == '/')
            rename_header(u, include, arena_printf("\"%s\"", unchanged_name(u, include->file)));
        else if (includes_is_renamed(include->file))
            rename_header(u, include, source_words(f->source, include->begin, include->end));
    }
}

/* The copies of headers that change, and of those that include them. */
static void emit_headers(unit_t *u, const includes_t *includes, const header_t **headers)
{
    find_chains(u, includes);
    for (int k = 0; k < includes->count; k++) {
        include_file_t *f = includes->file[k];
        if (!f->reaches_change)
            continue;
        unit_t *of = unit_of(u, f);
        point_to_copies(of ? of : unit_add(u, f->source), includes, f);
    }
    for (unit_t *k = u->next; k; k = k->next) {
        const include_file_t *f = NULL; /* NULL: no #include names it */
        for (int i = 0; i < includes->count; i++)
            if (unit_of(u, includes->file[i]) == k)
                f = includes->file[i];
        if (!k->edit_count)
            continue;
        if (!f) {
            diag_plain(SEVERITY_ERROR,
                       "'%s' has to be rewritten, but how it is included is not seen: include it "
                       "by its name in quotes",
                       k->path);
            continue;
        }
        const char *doubled = includes_doubled_by(u->options, includes, f);
        if (doubled) {
            diag_plain(SEVERITY_ERROR,
                       "'%s' has #pragma once, and '%s' includes it, too: besides the copy that "
                       "kmmcc writes it would count twice",
                       k->path, doubled);
            diag_plain(SEVERITY_NOTE, "give it an include guard by #ifndef");
        }
        header_t *h = arena_alloc(sizeof(*h));
        *h = (header_t){k->source->path, name_of_copy(includes, f), emit_text(k), *headers};
        *headers = h;
    }
}

static const char *changed_text(unit_t *u)
{
    return u == u->main || u->edit_count || u->path != u->source->path ? emit_text(u) : NULL;
}

/* ---- Names ---- */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* What is written around the program's expressions must not hide their names. */
static void refuse_reserved_names(const unit_t *u)
{
    static const char reserved[] = "kmm__";
    const source_t *s = u->source;
    lexer_t l = lexer_at(s, 0, s->length);
    if (!strstr(s->text, reserved))
        return;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_NAME && t.kind != TOKEN_DIRECTIVE)
            continue;
        const char *found = strstr(s->text + t.begin, reserved);
        size_t begin = found ? (size_t)(found - s->text) : t.end, end = begin;
        if (begin >= t.end || (begin > t.begin && is_letter(s->text[begin - 1])))
            continue;
        while (is_letter(s->text[end]))
            end++;
        unit_error(u, begin, end,
                   "'%s' begins with kmm__, as the names in code that kmmcc writes do; rename it",
                   source_words(s, begin, end));
    }
}

/* ---- The whole ---- */

static void rewrite(unit_t *u, bool clones)
{
    if (clones)
        clone_kernels(u);
    for (unit_t *k = u; k; k = k->next)
        rewrite_directives(k);
    for (unit_t *k = u; k; k = k->next)
        rewrite_include(k);
    if (!clones && is_device_lang(u->lang))
        host_kernels(u);
    name_further(u);
}

static unit_t unit_for(const options_t *o, lang_t lang, target_t target, const includes_t *includes)
{
    return (unit_t){.options = o,
                    .lang = lang,
                    .target = target,
                    .source = includes->file[0]->source,
                    .path = includes->file[0]->path,
                    .include_at = SIZE_MAX,
                    .includes = includes};
}

/* Parses all files' pragmas. `u` has its place now. */
static void parse_pragmas(unit_t *u)
{
    u->main = u;
    for (int k = 1; k < u->includes->count; k++) {
        const include_file_t *f = u->includes->file[k];
        bool has_pragma = f->has_pragma && !u->options->ignores_pragmas;
        if (has_pragma || includes_is_renamed(f) || includes_name_further(f))
            unit_add(u, f->source)->path = includes_is_renamed(f) ? f->parsed_as : f->path;
    }
    for (unit_t *k = u; k && !u->options->ignores_pragmas; k = k->next)
        pragmas_parse(k);
}

/* Messages about pragmas that nobody wrote are not for the user; those of clang are. */
bool transform_choose(const options_t *o, lang_t lang, target_t target, const includes_t *includes,
                      marks_t *m)
{
    int errors = diag_error_count(), first = diag_count();
    bool clones = is_device_lang(lang) && target != TARGET_HOST;
    unit_t u = unit_for(o, lang, target, includes);
    diag_trial(true);
    parse_pragmas(&u);
    bool bound = bind_unit(&u, clones, errors);
    if (bound)
        suggestion_choose(&u, m);
    for (unit_t *k = &u; k && bound && o->suggest && !o->in_place; k = k->next)
        suggestion_print(k, m);
    diag_trial(false);
    if (bound || !o->suggest)
        diag_retract(first, diag_count());
    return bound;
}

char *transform(const options_t *o, lang_t lang, target_t target, const includes_t *includes,
                const header_t **headers)
{
    unit_t u = unit_for(o, lang, target, includes);
    u.main = &u;
    if (o->accesses)
        return accesses_print(&u) ? arena_printf("%s", u.source->text) : NULL;
    int errors = diag_error_count();
    bool cuda = is_device_lang(lang), clones = cuda && target != TARGET_HOST;
    parse_pragmas(&u);
    bool bound = bind_unit(&u, clones, errors);
    if (!branches_check(&u))
        return NULL;
    if (bound) {
        unit_choose_includes(&u);
        check_directives(&u);
        if (clones)
            clone_check(&u);
    }
    if (diag_error_count() > errors)
        return NULL;
    for (unit_t *k = &u; k && o->explain; k = k->next)
        explain_directives(k);
    rewrite(&u, clones);
    for (const unit_t *k = &u; k; k = k->next)
        if (k->edit_count)
            refuse_reserved_names(k);
    if (diag_error_count() > errors || ((clones || !cuda) && !verify_unit(&u, changed_text)))
        return NULL;
    emit_headers(&u, includes, headers);
    char *text = emit_text(&u);
    return diag_error_count() > errors ? NULL : text;
}
