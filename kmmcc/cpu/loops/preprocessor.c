/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preprocessor lines in a body. #define, #undef and #pragma are copied to where the statements
 * behind them go. A statement that an #if divides cannot be written.
 */
#include "cpu/loops/preprocessor.h"

#include "base/source.h"
#include "base/token.h"
#include "cpu/tree/parts.h"

bool preprocessor_is_balanced(emitter_t *e, const node_t *n, size_t begin, size_t end)
{
    const source_t *s = e->s->u->source;
    lexer_t l = lexer_within(s, begin, end);
    int depth = 0;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        token_t word;
        lexer_in_directive(s, t, &word);
        bool opens =
            token_is(s, word, "if") || token_is(s, word, "ifdef") || token_is(s, word, "ifndef");
        bool turns = token_is(s, word, "else") || token_is(s, word, "elif");
        depth += opens - token_is(s, word, "endif");
        if (depth < 0 || (turns && depth == 0))
            return emitter_fail(e, n, "a preprocessor line divides a statement");
    }
    return depth == 0 || emitter_fail(e, n, "a preprocessor line divides a statement");
}

/* Returns the preprocessor lines in [begin, end) whose first word is one of `words`. */
static const char *lines_between(emitter_t *e, size_t begin, size_t end, const char *const *words)
{
    const source_t *s = e->s->u->source;
    lexer_t l = lexer_within(s, begin, end > begin ? end : begin);
    text_t out = {0};
    text_add(&out, "", 0);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        token_t word;
        lexer_in_directive(s, t, &word);
        if (text_is_one_of(token_text(s, word), words))
            text_printf(&out, "\n%s\n", token_text(s, t));
    }
    return out.data;
}

static const char *const definitions[] = {"define", "undef", NULL};

size_t preprocessor_end_before(const emitter_t *e, const node_t *n)
{
    const node_t *before = NULL;
    for (const node_t *c = n->parent->child; c && c != n; c = c->next)
        before = c;
    return before ? parts_end(&e->b, before) : n->parent->begin + 1;
}

void preprocessor_add_definitions(emitter_t *e, size_t begin, size_t end)
{
    const char *lines = lines_between(e, begin, end, definitions);
    if (*lines)
        text_printf(e->is_open ? &e->phase : &e->out, "%s", lines);
}

void preprocessor_add_pragmas(emitter_t *e, const node_t *n)
{
    static const char *const pragmas[] = {"pragma", NULL};
    if (n->parent && n->parent->kind == CXCursor_CompoundStmt)
        text_printf(&e->phase, "%s",
                    lines_between(e, preprocessor_end_before(e, n), n->begin, pragmas));
}
