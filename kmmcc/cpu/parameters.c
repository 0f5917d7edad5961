/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel, as text for the functions that its body becomes. */
#include "cpu/parameters.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"

enum CXChildVisitResult parameters_find(CXCursor c, CXCursor parent, CXClientData data)
{
    parameters_t *p = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl && p->count < 256)
        p->at[p->count++] = c;
    else if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        p->body = c;
    return CXChildVisit_Continue;
}

/* The place of the `(` that opens the parameters, and behind the `)` that closes them. */
bool parameters_are_written(const unit_t *u, const kernel_t *k, const parameters_t *p, size_t *open,
                            size_t *close)
{
    const source_t *s = u->source;
    unsigned offset;
    clang_getFileLocation(clang_getCursorLocation(k->cursor), NULL, NULL, NULL, &offset);
    lexer_t l = lexer_at(s, unit_offset(u, offset), k->end);
    l.line_start = false;
    token_t t = lex(&l);
    (void)p;
    for (int angle = 0; t.kind != TOKEN_END && !(angle == 0 && token_is(s, t, "(")); t = lex(&l))
        angle += token_is(s, t, "<") - token_is(s, t, ">");
    *open = t.begin;
    for (int depth = 0; t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0)
            break;
    }
    *close = t.end;
    return t.kind != TOKEN_END;
}

/* The parameters without their default arguments, which stay with the kernel itself. Unnamed ones
 * get names in both. */
const char *parameters_text(unit_t *u, const parameters_t *p, text_t *names)
{
    const source_t *s = u->source;
    text_t out = {0};
    text_add(&out, "", 0);
    size_t last = SIZE_MAX;
    for (int k = 0; k < p->count; k++) {
        size_t begin, end;
        if (!unit_range(u, p->at[k], &begin, &end))
            return NULL;
        bool again = begin == last; /* a macro writes several */
        last = begin;
        const char *name = clang_text(clang_getCursorSpelling(p->at[k]));
        lexer_t l = lexer_at(s, begin, end);
        l.line_start = false;
        size_t stop = end;
        int depth = 0;
        bool pack = false;
        for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
            depth += token_is(s, t, "(") - token_is(s, t, ")");
            pack |= token_is(s, t, "...");
            if (depth == 0 && token_is(s, t, "=")) {
                stop = t.begin;
                break;
            }
        }
        if (!*name) {
            name = arena_printf("kmm_unnamed_%d", k);
            const char *type = arena_copy(s->text + begin, stop - begin);
            if (strpbrk(type, "([")) { /* the name would stand within */
                type =
                    arena_printf("kmm_host_as<%s>",
                                 clang_text(clang_getTypeSpelling(clang_getCursorType(p->at[k]))));
                unit_edit(u, begin, stop, arena_printf("%s %s", type, name));
            } else {
                unit_edit(u, stop, stop, arena_printf(" %s", name));
            }
            text_printf(&out, ", %s %s __attribute__((unused))", type, name);
        } else if (!again) {
            text_printf(&out, ", %s", source_words(s, begin, stop));
        }
        text_printf(names, "%s%s%s", k ? ", " : "", name, pack ? "..." : "");
    }
    return out.data;
}
