/* SPDX-License-Identifier: Apache-2.0 */
/* libclang: parsing, clang's messages at their places in the source, and the map between the two
 * texts. */
#include "clang/parse.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "clang/cache.h"
#include "clang/flags.h"
#include "clang/messages.h"

/* The files as clang is to see them; headers without pragmas are as they are. */
unsaved_t parse_unsaved(const unit_t *u)
{
    unsaved_t files = {0};
    for (const unit_t *k = u->main; k; k = k->next)
        files.count++;
    files.at = arena_alloc(files.count * sizeof(*files.at));
    files.count = 0;
    for (const unit_t *k = u->main; k; k = k->next)
        if (k->parsed)
            files.at[files.count++] = (struct CXUnsavedFile){k->path, k->parsed, strlen(k->parsed)};
    return files;
}

/* Preambles in memory: nothing is left behind in a temporary folder. */
CXIndex parse_index(void)
{
    CXIndexOptions options = {.Size = sizeof(options), .StorePreamblesInMemory = 1};
    CXIndex index = clang_createIndexWithOptions(&options);
    return index ? index : clang_createIndex(0, 0);
}

/* The precompiled headers with which the file begins; NULL: there are none. What the command line
 * includes may be the program's. */
static const char *precompiled(const unit_t *u, const flags_t *f, bodies_t bodies)
{
    const char *leading = u->lang == LANG_C ? "" : cache_leading(u->main);
    if (u->lang == LANG_C || (u->lang == LANG_CXX && !*leading))
        return NULL;
    for (int k = 0; k < u->options->parse_flag_count; k++)
        if (!strcmp(u->options->parse_flags[k], "-include") ||
            !strcmp(u->options->parse_flags[k], "-imacros"))
            return NULL;
    return cache_headers(leading, f->flag, f->count, bodies == BODIES_OF_MAIN_FILE);
}

/* *cache: whether precompiled headers may be used; then, which were. */
static bool parse_once(unit_t *u, bodies_t bodies, headers_t headers, const char **cache)
{
    flags_t f = flags_of(u, headers);
    if (cache && (*cache = precompiled(u, &f, bodies))) {
        flags_add(&f, "-include-pch");
        flags_add(&f, *cache);
        flags_add(&f, "-Xclang"); /* otherwise clang asks only of headers that are none of the
                                    system's whether they have changed */
        flags_add(&f, "-fmodules-validate-system-headers");
    }
    unsaved_t files = parse_unsaved(u);
    unsigned options = CXTranslationUnit_KeepGoing;
    if (flags_has_toolkit(u) || u->lang == LANG_C ||
        u->lang == LANG_CXX) /* the rewritten text is parsed, too */
        options |=
            CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse;
    if (bodies == BODIES_OF_MAIN_FILE)
        options |= CXTranslationUnit_SkipFunctionBodies |
                   CXTranslationUnit_LimitSkipFunctionBodiesToPreamble;
    enum CXErrorCode error = clang_parseTranslationUnit2(parse_index(), u->path, f.flag, f.count,
                                                         files.at, files.count, options, &u->tu);
    for (unit_t *k = u->next; k; k = k->next)
        k->tu = u->tu;
    return error == CXError_Success && u->tu;
}

/* Parses with precompiled headers. If that fails, parses without them. If that succeeds, the
 * precompiled file was out of date, or its headers cannot be precompiled, so it is removed. Where
 * heavier headers come next, errors that say nothing of the precompiled file are left to these. */
static bool parse_with(unit_t *u, bodies_t bodies, headers_t headers)
{
    const char *cache = NULL;
    bool parsed = parse_once(u, bodies, headers, &cache);
    if (!cache || (parsed && !messages_have_error(u)))
        return parsed;
    if (parsed && headers < HEADERS_TOOLKIT && headers < flags_last_headers(u) &&
        !messages_name(u, cache))
        return true;
    if (u->tu)
        clang_disposeTranslationUnit(u->tu);
    parsed = parse_once(u, bodies, headers, NULL);
    if (parsed && !messages_have_error(u))
        cache_forget(cache);
    return parsed;
}

bool parse_unit(unit_t *u, bodies_t bodies)
{
    bool cuda = is_device_lang(u->lang);
    headers_t headers = cuda ? HEADERS_LIGHT : HEADERS_OWN, last = flags_last_headers(u);
    bool parsed = parse_with(u, bodies, headers);
    while (parsed && headers < last &&
           (headers < HEADERS_TOOLKIT ? messages_have_error(u) : messages_have_foreign(u))) {
        /* Errors are the file's own only when they stand in the light of what it is compiled with.
         */
        headers = headers == HEADERS_LIGHT && flags_has_toolkit(u) ? HEADERS_TOOLKIT : headers + 1;
        clang_disposeTranslationUnit(u->tu);
        parsed = parse_with(u, bodies, headers);
    }
    u->headers = headers;
    if (!parsed)
        diag_plain(SEVERITY_ERROR, "clang cannot parse '%s'", u->source->path);
    return parsed && messages_show(u) == 0;
}
