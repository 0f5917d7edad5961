/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory: declarations of it, of which `extern` ones are the block's dynamic memory. */
#include "cpu/shared.h"

#include <clang-c/Index.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "cpu/program/scan.h"

/* Where an `alignas(...)` ends that begins with the token, which a declaration must begin with; 0:
 * it is something else. */
static size_t behind_alignas(const source_t *s, lexer_t l, token_t t)
{
    int depth = 0;
    if (!token_is(s, t, "alignas"))
        return 0;
    for (t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0)
            return t.end;
    }
    return 0;
}

/* Shared memory of a kernel whose threads are fibers; what is declared `extern` has been edited. */
void shared_edit_fibers(unit_t *u, size_t begin, size_t end)
{
    const source_t *s = u->source;
    lexer_t l = lexer_at(s, begin, end);
    bool external = false;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (token_is(s, t, ";") || token_is(s, t, "{") || token_is(s, t, "}"))
            external = false;
        external |= token_is(s, t, "extern");
        lexer_t ahead = l, next = l;
        for (token_t n = t;
             token_is(s, t, "__shared__") && n.kind != TOKEN_END && !token_is(s, n, ";");
             n = lex(&ahead))
            external |= token_is(s, n, "extern");
        if (!token_is(s, t, "__shared__") || external)
            continue;
        const token_t following = lex(&next);
        const size_t behind = behind_alignas(s, next, following);
        unit_edit(u, t.begin, t.end, behind ? "" : "KMM_HOST_FIBER_SHARED");
        if (behind)
            unit_edit(u, behind, behind, " KMM_HOST_FIBER_SHARED");
    }
}

bool shared_is_declared(const source_t *s, const tokens_t *list, int k)
{
    return tokens_is(s, list, k, "__shared__");
}

/* Whether the token is in a kernel or function that clang found in the file. */
typedef struct inside {
    const unit_t *u;
    size_t place;
    bool found;
} inside_t;

static enum CXChildVisitResult find_inside(CXCursor c, CXCursor parent, CXClientData data)
{
    inside_t *in = data;
    size_t begin, end;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (scan_is_function(kind) && unit_range(in->u, c, &begin, &end))
        in->found |= begin <= in->place && in->place < end;
    bool opens = kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
                 kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
                 kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate;
    return opens ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

/* `extern __shared__ float s[];` is the block's dynamic memory; `static __shared__` says static
 * twice. */
void shared_edit(unit_t *u, const tokens_t *list, int k)
{
    const source_t *s = u->source;
    int begin = k, end = k, bracket = -1;
    bool external = false;
    while (begin > 0 && !tokens_is(s, list, begin - 1, ";") &&
           !tokens_is(s, list, begin - 1, "{") && !tokens_is(s, list, begin - 1, "}") &&
           !tokens_is(s, list, begin - 1, ")") && !tokens_is(s, list, begin - 1, ":"))
        begin--;
    for (; end < list->count && !tokens_is(s, list, end, ";"); end++)
        bracket = tokens_is(s, list, end, "[") ? end : bracket;
    for (int i = begin; i < end; i++) {
        external |= tokens_is(s, list, i, "extern");
        if (tokens_is(s, list, i, "static"))
            unit_edit(u, list->at[i].begin, list->at[i].end, "");
    }
    if (!external)
        return;
    if (bracket < 1 || end >= list->count || list->at[bracket - 1].kind != TOKEN_NAME) {
        diag_at(SEVERITY_ERROR, s, list->at[k].begin, list->at[k].end,
                "dynamic shared memory is declared as 'extern __shared__ type name[];'");
        return;
    }
    text_t type = {0};
    text_add(&type, "", 0);
    for (int i = begin; i < bracket - 1; i++) {
        if (tokens_is(s, list, i, "extern") || shared_is_declared(s, list, i))
            continue;
        if (tokens_is(s, list, i, "__align__") || tokens_is(s, list, i, "alignas") ||
            tokens_is(s, list, i, "__attribute__")) {
            int depth = 0;
            do {
                i++;
                depth += tokens_is(s, list, i, "(") - tokens_is(s, list, i, ")");
            } while (depth && i < bracket);
            continue;
        }
        text_printf(&type, "%s%s", type.length ? " " : "", token_text(s, list->at[i]));
    }
    const char *name = token_text(s, list->at[bracket - 1]);
    inside_t in = {.u = u, .place = list->at[k].begin};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_inside, &in);
    const char *text =
        in.found ? arena_printf("%s *const %s = static_cast<%s *>(kmm_host_shared_base)", type.data,
                                name, type.data)
                 : arena_printf("static const kmm_host_shared<%s> %s = {}", type.data, name);
    unit_edit(u, list->at[begin].begin, list->at[end].begin, text);
}
