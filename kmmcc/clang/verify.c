/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rewritten text. An error in it is a mistake of kmmcc. */
#include "clang/verify.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "clang/messages.h"
#include "clang/parse.h"

/* clang keeps what it knows of the headers only while the text up to the first declaration is the
 * same. Ours may stand before that declaration, so an empty one goes before it. */
static char *keep_preamble(unit_t *u, const char *text)
{
    const char *ours = strstr(text, "\n#include <kmm/");
    size_t at = ours ? (size_t)(ours + 1 - text) : 0, length = strlen(text);
    piece_t *pieces = arena_alloc(2 * sizeof(*pieces));
    pieces[0] = (piece_t){0, 0, at};
    pieces[1] = (piece_t){at + 2, at, length - at};
    u->pieces = pieces;
    u->piece_count = 2;
    return arena_printf("%.*s;\n%s", (int)at, text, text + at);
}

/* The unit as clang is to see it after the rewriting: a file without directives whose text is the
 * new one. */
static unit_t *rewritten_unit(const unit_t *u, const source_t *of, const char *text)
{
    unit_t *r = arena_alloc(sizeof(*r));
    *r = *u;
    r->directive_count = 0;
    r->source = source_from(arena_printf("%s (as rewritten)", of->path), text, strlen(text));
    piece_t *all = arena_alloc(sizeof(*all));
    *all = (piece_t){0, 0, strlen(text)};
    r->pieces = all;
    r->piece_count = 1;
    r->parsed = u == u->main ? keep_preamble(r, text) : text;
    return r;
}

static bool is_right(int errors)
{
    if (errors)
        diag_plain(
            SEVERITY_NOTE,
            "this is a mistake of kmmcc: the source is right, but what it was rewritten to is not");
    return errors == 0;
}

bool verify_unit(unit_t *u, const char *(*text_of)(unit_t *u))
{
    unit_t *main = NULL, **last = &main;
    for (unit_t *k = u; k; k = k->next) {
        const char *text = text_of(k);
        if (!text)
            continue;
        *last = rewritten_unit(k, k->source, text);
        (*last)->main = main;
        last = &(*last)->next;
        *last = NULL;
    }
    if (!main)
        return false; /* an error has said so */
    unsaved_t files = parse_unsaved(main);
    if (clang_reparseTranslationUnit(u->tu, files.count, files.at,
                                     clang_defaultReparseOptions(u->tu))) {
        diag_plain(SEVERITY_ERROR,
                   "this is a mistake of kmmcc: clang cannot parse what it wrote for '%s'",
                   u->source->path);
        return false;
    }
    return is_right(messages_show(main));
}

bool verify_file(const source_t *source, const char *path, const list_t *flags)
{
    const source_t *text = source_read(path);
    unit_t *u = arena_alloc(sizeof(*u));
    *u = (unit_t){.lang = LANG_CXX, .target = TARGET_HOST, .path = path};
    if (!text || clang_parseTranslationUnit2(parse_index(), path, flags->item, flags->count, NULL,
                                             0, CXTranslationUnit_KeepGoing, &u->tu))
        return true; /* nothing can be said of it */
    *u = *rewritten_unit(u, source, text->text);
    return is_right(messages_show(u));
}
