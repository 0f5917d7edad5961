/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel as text, for the function into which the kernel's body moves. */
#include "cpu/parameters.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"

static enum CXChildVisitResult find_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    parameters_t *p = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl && p->count < MAX_PARAMETERS)
        p->at[p->count++] = c;
    else if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        p->body = c;
    return CXChildVisit_Continue;
}

/* True if the parentheses around the parameters are in the source, and not in a macro. */
static bool has_parentheses(const unit_t *u, const kernel_t *k)
{
    const source_t *s = u->source;
    unsigned offset;
    clang_getFileLocation(clang_getCursorLocation(k->cursor), NULL, NULL, NULL, &offset);
    lexer_t l = lexer_within(s, unit_offset(u, offset), k->end);
    token_t t = lex(&l);
    for (int angle = 0; t.kind != TOKEN_END && !(angle == 0 && token_is(s, t, "(")); t = lex(&l))
        angle += token_is(s, t, "<") - token_is(s, t, ">");
    for (int depth = 0; t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0)
            break;
    }
    return t.kind != TOKEN_END;
}

/* Returns where a parameter ends before its default argument, which stays with the kernel
 * itself. */
static size_t end_of_declarator(const source_t *s, size_t begin, size_t end, bool *is_pack)
{
    lexer_t l = lexer_within(s, begin, end);
    int depth = 0;
    *is_pack = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        *is_pack |= token_is(s, t, "...");
        if (depth == 0 && token_is(s, t, "="))
            return t.begin;
    }
    return end;
}

/* Adds the edit that names an unnamed parameter of the kernel. Returns the parameter's type. */
static const char *name_parameter(unit_t *u, CXCursor c, size_t begin, size_t end, const char *name)
{
    const char *type = arena_copy(u->source->text + begin, end - begin);
    if (!strpbrk(type, "([")) {
        unit_edit(u, end, end, arena_printf(" %s", name));
        return type;
    }
    /* The name would stand within the type's text. */
    type =
        arena_printf("kmm_host_as<%s>", clang_text(clang_getTypeSpelling(clang_getCursorType(c))));
    unit_edit(u, begin, end, arena_printf("%s %s", type, name));
    return type;
}

static bool read_text(unit_t *u, parameters_t *p)
{
    text_t text = {0}, names = {0};
    size_t last = SIZE_MAX;
    text_add(&text, "", 0);
    text_add(&names, "", 0);
    for (int k = 0; k < p->count; k++) {
        size_t begin, end;
        bool is_pack;
        if (!unit_range(u, p->at[k], &begin, &end))
            return false;
        const bool is_again = begin == last; /* a macro writes several */
        last = begin;
        const char *name = clang_text(clang_getCursorSpelling(p->at[k]));
        end = end_of_declarator(u->source, begin, end, &is_pack);
        if (!*name) {
            name = arena_printf("kmm__unnamed_%d", k);
            text_printf(&text, ", %s %s __attribute__((__unused__))",
                        name_parameter(u, p->at[k], begin, end, name), name);
        } else if (!is_again) {
            text_printf(&text, ", %s", source_words(u->source, begin, end));
        }
        text_printf(&names, "%s%s%s", k ? ", " : "", name, is_pack ? "..." : "");
    }
    p->text = text.data;
    p->names = names.data;
    return true;
}

bool parameters_read(unit_t *u, const kernel_t *k, parameters_t *out)
{
    *out = (parameters_t){.body = clang_getNullCursor()};
    clang_visitChildren(k->cursor, find_parameter, out);
    return read_text(u, out) && has_parentheses(u, k);
}
