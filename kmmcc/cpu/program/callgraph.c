/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph: functions and macros, and the names in them. Functions are told apart by name
 * alone, so what is true of one overload is assumed of all.
 */
#include "cpu/program/callgraph.h"

#include <string.h>

#include "base/arena.h"
#include "base/token.h"

bool list_has(const list_t *l, const char *word)
{
    for (int k = 0; k < l->count; k++)
        if (!strcmp(l->item[k], word))
            return true;
    return false;
}

void list_add_all(list_t *l, const char *const *names)
{
    for (; *names; names++)
        list_add(l, *names);
}

void definition_read(definition_t *b, const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_within(s, begin, end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        const char *word = t.kind == TOKEN_NAME ? token_text(s, t) : NULL;
        if (word && !list_has(&b->names, word))
            list_add(&b->names, word);
    }
}

definition_t *definition_add(program_t *h, const char *name)
{
    h->definitions = arena_grow(h->definitions, h->definition_count, &h->definition_capacity,
                                sizeof(*h->definitions));
    definition_t *b = arena_alloc(sizeof(*b));
    b->name = name;
    h->definitions[h->definition_count++] = b;
    return b;
}

bool definition_uses(const definition_t *b, const list_t *names)
{
    for (int k = 0; k < b->names.count; k++)
        if (list_has(names, b->names.item[k]))
            return true;
    return false;
}

list_t callgraph_reaching(const program_t *h, list_t names, bool kernels_too)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->definition_count; k++) {
            const definition_t *b = h->definitions[k];
            if ((b->is_kernel && !kernels_too) || list_has(&names, b->name))
                continue;
            for (int i = 0; i < b->names.count; i++)
                if (list_has(&names, b->names.item[i])) {
                    list_add(&names, b->name);
                    grown = true;
                    break;
                }
        }
    }
    return names;
}

bool callgraph_has_callee(const program_t *h, const char *name)
{
    for (int k = 0; k < h->callee_count; k++)
        if (!strcmp(h->callees[k].definition->name, name))
            return true;
    return false;
}

/* Searches depth first. `reached` ends the search where the graph has a circle. */
void callgraph_add_reached(const program_t *h, const definition_t *from, list_t *reached)
{
    for (int k = 0; k < h->definition_count; k++) {
        const definition_t *b = h->definitions[k];
        if (b->is_kernel || list_has(reached, b->name) || !list_has(&from->names, b->name))
            continue;
        list_add(reached, b->name);
        callgraph_add_reached(h, b, reached);
    }
}
