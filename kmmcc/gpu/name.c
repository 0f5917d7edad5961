/* SPDX-License-Identifier: Apache-2.0 */
/* Names the copies of functions: by a prefix with which no name of the program results. */
#include "gpu/name.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "gpu/reach.h"

/* Names with which those of kmm's own functions and types go on. */
static bool is_of_kmm(const char *name)
{
    static const char *const first[] = {
        "launch", "cuda", "hip",   "uint3",    "make_uint3", "data",    "directive",
        "block",  "grid", "host",  "share",    "this_grid",  "kernel",  "malloc",
        "free",   "wait", "use",   "map",      "unmap",      "error",   "default",
        "device", "args", "call",  "register", "geometry",   "runtime", "axis",
        "mode",   "base", "bytes", "task",     NULL};
    for (int k = 0; first[k]; k++)
        if (!strncmp(name, first[k], strlen(first[k])))
            return true;
    return false;
}

/* Outside comments and strings. */
static bool has_word(const source_t *s, const char *word)
{
    if (!strstr(s->text, word))
        return false;
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool found = t.kind == TOKEN_DIRECTIVE && strstr(token_text(s, t), word);
        if (found || token_is(s, t, word))
            return true;
    }
    return false;
}

static bool is_free(const unit_t *u, const char *prefix)
{
    for (const function_t *f = u->functions; f; f = f->next) {
        if (!f->is_copied)
            continue;
        if (!strcmp(prefix, "kmm_") && is_of_kmm(f->name))
            return false;
        for (const unit_t *file = u; file; file = file->next)
            if (has_word(file->source, arena_printf("%s%s", prefix, f->name)))
                return false;
    }
    return true;
}

void name_choose_prefix(unit_t *u)
{
    u->prefix = "kmm_";
    for (int k = 1; !is_free(u, u->prefix); k++)
        u->prefix = k == 1 ? "kmm_clone_" : arena_printf("kmm_clone%d_", k);
}

const char *name_namespaces(CXCursor c)
{
    const char *path = "";
    for (CXCursor n = clang_getCursorSemanticParent(c);
         clang_getCursorKind(n) == CXCursor_Namespace; n = clang_getCursorSemanticParent(n))
        if (*cursor_name(n))
            path = arena_printf("%s::%s", cursor_name(n), path);
    return path;
}

static bool is_around(CXCursor scope, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(scope);
    if (kind != CXCursor_Namespace)
        return true;
    for (; !clang_Cursor_isNull(c) && !clang_isInvalid(clang_getCursorKind(c));
         c = clang_getCursorSemanticParent(c))
        if (clang_getCursorKind(c) == CXCursor_Namespace &&
            clang_equalCursors(clang_getCanonicalCursor(c), clang_getCanonicalCursor(scope)))
            return true;
    return false;
}

const char *name_prefix_at(const unit_t *u, const source_t *s, size_t at, CXCursor function,
                           CXCursor from)
{
    bool qualified = at >= 2 && s->text[at - 1] == ':' && s->text[at - 2] == ':';
    CXCursor scope = clang_getCursorSemanticParent(function);
    while (clang_getCursorKind(scope) == CXCursor_Namespace && !*cursor_name(scope))
        scope = clang_getCursorSemanticParent(scope); /* an unnamed one */
    return arena_printf("%s%s",
                        qualified || is_around(scope, from) ? "" : name_namespaces(function),
                        u->main->prefix);
}
