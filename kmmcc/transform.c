/* SPDX-License-Identifier: Apache-2.0 */
/* One file on its way from text to text. */
#include <string.h>

#include "directive.h"

/* All pragmas are parsed before the first error stops the file. */
static void parse_pragmas(unit_t *u)
{
    size_t from = 0;
    pragma_t pragma;
    int capacity = 0;
    while (pragma_next(u->source, &from, &pragma)) {
        directive_t *d = parse_directive(u->source, pragma);
        if (!d)
            continue;
        if (u->directive_count == capacity) {
            capacity = 2 * capacity + 16;
            directive_t **directives = arena_alloc((size_t)capacity * sizeof(*directives));
            if (u->directive_count)
                memcpy(directives, u->directives, (size_t)u->directive_count * sizeof(*directives));
            u->directives = directives;
        }
        d->order = u->directive_count;
        u->directives[u->directive_count++] = d;
    }
}

/* Parses the file and finds what its directives govern; goes on after errors that are about single directives. */
static bool bind_unit(unit_t *u, bool clones)
{
    int errors = diag_error_count();
    if (!clang_parse(u, bind_probes(u), clones ? BODIES_OF_MAIN_FILE : BODIES_OF_ALL_FILES))
        return false;
    bind_directives(u);
    if (diag_error_count() > errors || !clones || !clone_needs_headers(u))
        return true;
    clang_disposeTranslationUnit(u->tu);
    if (!clang_parse(u, bind_probes(u), BODIES_OF_ALL_FILES))
        return false;
    bind_directives(u);
    return true;
}

char *transform(const options_t *o, lang_t lang, target_t target, source_t *source)
{
    unit_t u = {.options = o, .lang = lang, .target = target, .source = source};
    int errors = diag_error_count();
    bool cuda = lang == LANG_CUDA || lang == LANG_HIP, clones = cuda && target != TARGET_HOST;
    if (!o->ignores_pragmas)
        parse_pragmas(&u);
    if (bind_unit(&u, clones)) {
        check_directives(&u);
        if (clones)
            clone_check(&u);
    }
    if (diag_error_count() > errors)
        return NULL;
    rewrite_include(&u);
    if (clones)
        clone_kernels(&u);
    rewrite_directives(&u);
    if (cuda && !clones)
        host_kernels(&u);
    char *text = diag_error_count() > errors ? NULL : emit_text(&u);
    if (!text || ((clones || !cuda) && !clang_verify(&u, text)))
        return NULL;
    return text;
}
