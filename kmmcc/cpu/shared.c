/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites declarations of shared memory. One that is `extern` becomes a pointer to the block's
 * dynamic shared memory. */
#include "cpu/shared.h"

#include <clang-c/Index.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "cpu/program/scan.h"

/* Returns where the `alignas(...)` that begins with token t ends; 0 if t begins none. A declaration
 * must begin with it. */
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

/* Declarations with `extern` have been edited by shared_edit. */
void shared_edit_fibers(unit_t *u, size_t begin, size_t end)
{
    const source_t *s = u->source;
    lexer_t l = lexer_within(s, begin, end);
    bool external = false;
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

/* A search for a kernel or function of the file around the offset `place`. */
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
    bool opens = cursor_is_namespace(c) || kind == CXCursor_StructDecl ||
                 kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate;
    return opens ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

/* Returns the token behind the attribute in parentheses that begins with token k; k if there is
 * none. */
static int behind_attribute(const source_t *s, const tokens_t *list, int k, int end)
{
    int depth = 0, i = k;
    if (!tokens_is(s, list, k, "__align__") && !tokens_is(s, list, k, "alignas") &&
        !tokens_is(s, list, k, "__attribute__"))
        return k;
    do {
        i++;
        depth += tokens_is(s, list, i, "(") - tokens_is(s, list, i, ")");
    } while (depth && i < end);
    return i + 1;
}

/* Returns the type in tokens [begin, end) of a declaration. */
static const char *type_text(const source_t *s, const tokens_t *list, int begin, int end)
{
    text_t type = {0};
    text_add(&type, "", 0);
    for (int k = begin; k < end;) {
        const int behind = behind_attribute(s, list, k, end + 1);
        if (behind == k && !tokens_is(s, list, k, "extern") && !shared_is_declared(s, list, k))
            text_printf(&type, "%s%s", type.length ? " " : "", token_text(s, list->at[k]));
        k = behind == k ? k + 1 : behind;
    }
    return type.data;
}

/* A search for the variable whose name stands at the offset `place`. */
typedef struct declared {
    const unit_t *u;
    size_t place, begin;
    bool found;
} declared_t;

static enum CXChildVisitResult find_declared(CXCursor c, CXCursor parent, CXClientData data)
{
    declared_t *d = data;
    CXFile file;
    unsigned at;
    size_t name, end;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_VarDecl && unit_is_in(d->u, c)) {
        clang_getFileLocation(clang_getCursorLocation(c), &file, NULL, NULL, &at);
        d->found = unit_exact_offset(d->u, at, &name) && name == d->place &&
                   unit_range(d->u, c, &d->begin, &end);
    }
    return d->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* Moves *begin, the first token of the declaration whose name is the token, behind what a macro
 * writes before the declaration. */
static void pass_macros(const unit_t *u, const tokens_t *list, int *begin, int name)
{
    declared_t d = {.u = u, .place = list->at[name].begin};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_declared, &d);
    while (d.found && *begin < name && list->at[*begin].begin < d.begin)
        ++*begin;
}

/* Adds the edit of `extern __shared__ float s[];`, tokens [begin, end), with `__shared__` as token
 * k. It declares the block's dynamic memory. */
static void edit_dynamic(unit_t *u, const tokens_t *list, int k, int begin, int bracket, int end)
{
    const source_t *s = u->source;
    const char *type = type_text(s, list, begin, bracket - 1),
               *name = token_text(s, list->at[bracket - 1]);
    inside_t in = {.u = u, .place = list->at[k].begin};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_inside, &in);
    unit_edit(u, list->at[begin].begin, list->at[end].begin,
              in.found ? arena_printf("%s *const %s = static_cast<%s *>(kmm_host_shared_base)",
                                      type, name, type)
                       : arena_printf("static const kmm_host_shared<%s> %s = {}", type, name));
}

/* True if the offset is in a preprocessor line. */
static bool is_in_directive(const source_t *s, size_t at)
{
    size_t line = source_line(s, at) - 1;
    while (line > 0 && s->lines[line] >= 2 && s->text[s->lines[line] - 2] == '\\')
        line--;
    size_t begin = s->lines[line];
    while (s->text[begin] == ' ' || s->text[begin] == '\t')
        begin++;
    return s->text[begin] == '#';
}

/* True if a preprocessor line begins or ends between token k and the next one. */
static bool is_apart(const source_t *s, const tokens_t *list, int k)
{
    size_t end = list->at[k].end, next = list->at[k + 1].begin;
    bool broken = false;
    for (size_t at = end; at < next; at++)
        broken |= s->text[at] == '\n' && s->text[at - 1] != '\\';
    return broken && (is_in_directive(s, list->at[k].begin) || is_in_directive(s, next));
}

void shared_edit(unit_t *u, const tokens_t *list, int k)
{
    static const char *const before[] = {";", "{", "}", ")", ":", NULL};
    const source_t *s = u->source;
    int begin = k, end = k, bracket = -1;
    bool external = false;
    bool is_cut = false; /* a macro ends before the declaration does */
    while (begin > 0 && !text_is_one_of(token_text(s, list->at[begin - 1]), before) &&
           !is_apart(s, list, begin - 1))
        begin--;
    for (; end < list->count && !tokens_is(s, list, end, ";") && !is_cut; end++) {
        bracket = tokens_is(s, list, end, "[") ? end : bracket;
        is_cut = end + 1 < list->count && is_apart(s, list, end);
    }
    for (int i = begin; i < end; i++) {
        external |= tokens_is(s, list, i, "extern");
        if (tokens_is(s, list, i, "static")) /* what the macro __shared__ says, too */
            unit_edit(u, list->at[i].begin, list->at[i].end, "");
    }
    if (!external || (is_cut && disabled_in_source(u, list->at[k].begin)))
        return;
    if (is_cut || bracket < 1 || end >= list->count || list->at[bracket - 1].kind != TOKEN_NAME)
        diag_at(SEVERITY_ERROR, s, list->at[k].begin, list->at[k].end,
                "dynamic shared memory is declared as 'extern __shared__ type name[];'");
    else {
        pass_macros(u, list, &begin, bracket - 1);
        edit_dynamic(u, list, k, begin, bracket, end);
    }
}
