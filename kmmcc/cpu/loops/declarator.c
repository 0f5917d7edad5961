/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a variable's declaration as C++: its type, its initializer, and the name of the
 * array that holds one value for each thread.
 */
#include "cpu/loops/declarator.h"

#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "cpu/loops/edits.h"

/* clang spells deduced types without the namespaces that their place in the source needs. */
static bool is_deduced(CXType type)
{
    return type.kind == CXType_Auto ||
           (type.kind == CXType_Pointer && is_deduced(clang_getPointeeType(type)));
}

const char *declarator_type(emitter_t *e, const variable_t *v)
{
    const char *text =
        clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(clang_getCursorType(v->cursor))));
    const node_t *n = v->declaration;
    if (v->is_parameter && type_is_array(clang_getCursorType(v->cursor)))
        return arena_printf("kmm_host_decay<%s>", text);
    if (strstr(text, "(lambda") || strstr(text, "(unnamed") || strstr(text, "(anonymous")) {
        emitter_fail(e, n, "a variable's type has no name");
        return "int";
    }
    if (is_deduced(clang_getCursorType(v->cursor)) || !strncmp(text, "auto", 4) ||
        !strncmp(text, "decltype", 8)) {
        if (!v->initializer || text[4] == ' ') {
            emitter_fail(e, n, "a variable's type is not known");
            return "int";
        }
        return arena_printf("kmm_host_decay<decltype(%s)>", edits_copy_node(e, v->initializer));
    }
    return text;
}

bool declarator_is_const(const variable_t *v)
{
    return clang_isConstQualifiedType(clang_getCursorType(v->cursor));
}

bool declarator_ends_silently(emitter_t *e, CXCursor variable, const node_t *at)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(variable));
    bool extends = type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
    if (type_has_destructor(extends ? clang_getPointeeType(type) : type))
        return emitter_fail(e, at, "a variable has a destructor");
    return true;
}

const char *declarator_values(const variable_t *v)
{
    return arena_printf("kmm__v%d", v->number);
}

const char *declarator_suffix(emitter_t *e, const variable_t *v)
{
    unsigned offset;
    const source_t *s = e->s->u->source;
    clang_getFileLocation(clang_getCursorLocation(v->cursor), NULL, NULL, NULL, &offset);
    size_t at = unit_offset(e->s->u, offset);
    lexer_t l = lexer_within(s, at, v->declaration->end);
    token_t t = lex(&l);
    if (!token_is(s, t, v->name)) {
        emitter_fail(e, v->declaration, "a declaration comes from a macro");
        return "";
    }
    bool is_next = true, in_parentheses = false; /* the name, as of (*pointer)[4] */
    int depth = 0;
    for (t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (depth == 0 && token_is(s, t, ")")) {
            in_parentheses = true;
            is_next = false;
            continue;
        }
        if (depth == 0 && (token_is(s, t, "=") || token_is(s, t, "{")))
            return edits_copy(e, t.begin, v->declaration->end);
        if (is_next && token_is(s, t, "("))
            return edits_copy(e, t.begin, v->declaration->end);
        is_next = false;
        depth +=
            token_is(s, t, "(") + token_is(s, t, "[") - token_is(s, t, ")") - token_is(s, t, "]");
    }
    if (in_parentheses && v->initializer)
        emitter_fail(e, v->declaration, "a variable's initializer is not found");
    return "";
}

const char *declarator_text(emitter_t *e, const variable_t *v)
{
    return arena_printf("%skmm_host_as<%s> %s __attribute__((__unused__)) %s;",
                        declarator_is_const(v) ? "const " : "", declarator_type(e, v), v->name,
                        declarator_suffix(e, v));
}
