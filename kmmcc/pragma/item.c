/* SPDX-License-Identifier: Apache-2.0 */
/* Axes, and items of clauses: an array with sections, and how it is accessed or mapped. */
#include "pragma/item.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/token.h"
#include "pragma/expression.h"

/* ---- Axes ---- */

/* source = ('global' | 'block') '.' ('x' | 'y' | 'z') */
static void parse_source(parser_t *p, axis_t *axis)
{
    bool block = parser_at_word(p, "block");
    if (!block && !parser_at_word(p, "global")) {
        parser_error(p,
                     "expected the source of axis '%s': global.x, global.y, global.z, block.x, "
                     "block.y or block.z",
                     axis->name);
        return;
    }
    parser_advance(p);
    if (!parser_expect(p, "."))
        return;
    for (int k = 0; k < 3; k++) {
        if (parser_at_word(p, (const char *[]){"x", "y", "z"}[k])) {
            axis->source = (block ? KMM_BLOCK_X : KMM_GLOBAL_X) + k;
            axis->source_given = true;
            parser_advance(p);
            return;
        }
    }
    parser_error(p, "expected x, y or z");
}

void parse_axis(parser_t *p)
{
    directive_t *d = p->d;
    if (d->axis_count == KMM_MAX_AXES) {
        parser_error(p, "a launch has at most %d axes", KMM_MAX_AXES);
        return;
    }
    axis_t *axis = &d->axis[d->axis_count];
    if (p->token.kind != TOKEN_NAME) {
        parser_error(p, "expected the name of an axis");
        return;
    }
    *axis = (axis_t){
        .begin = p->token.begin, .name_token = p->token, .name = token_text(p->s, p->token)};
    for (int k = 0; k < d->axis_count; k++)
        if (!strcmp(d->axis[k].name, axis->name))
            parser_error(p, "axis '%s' is named twice", axis->name);
    parser_advance(p);
    if (parser_at(p, ":")) {
        parser_advance(p);
        parse_source(p, axis);
    }
    if (!p->failed && parser_at(p, "=")) {
        parser_advance(p);
        axis->lower = parse_operand(p);
        if (axis->lower && parser_expect(p, ":"))
            axis->length = parse_operand(p);
    }
    axis->end = p->last_end;
    d->axis_count += !p->failed;
}

/* ---- Items ---- */

/* section = '[' ':' ']' | '[' operand [':' operand] ']' */
static void parse_section(parser_t *p, section_t *section)
{
    section->begin = p->token.begin;
    parser_advance(p);
    if (parser_at(p, ":")) {
        parser_advance(p);
        if (!parser_at(p, "]"))
            parser_error(p, "expected ']': a section is [index], [lower:length] or [:]");
    } else {
        section->lower = parse_operand(p);
        if (section->lower && parser_at(p, ":")) {
            parser_advance(p);
            if (parser_at(p, "]"))
                parser_error(p, "expected the length of the section: a section is [index], "
                                "[lower:length] or [:]");
            else
                section->length = parse_operand(p);
        }
    }
    parser_expect(p, "]");
    section->end = p->last_end;
}

/* item = path { section } */
static void parse_item(parser_t *p, item_t *item)
{
    item->begin = p->token.begin;
    item->base = parse_path(p);
    while (item->base && !p->failed && parser_at(p, "[")) {
        if (item->section_count == KMM_MAX_DIMS) {
            parser_error(p, "an item has at most %d sections", KMM_MAX_DIMS);
            return;
        }
        parse_section(p, &item->section[item->section_count++]);
    }
    item->end = p->last_end;
}

item_t *directive_add_item(directive_t *d)
{
    bool full = d->item_count >= 4 &&
                (d->item_count & (d->item_count - 1)) == 0; /* room is for a power of two */
    if (d->item_count == MAX_ITEMS)
        return NULL;
    if (d->item_count == 0 || full) {
        item_t *items = arena_alloc((size_t)(full ? 2 * d->item_count : 4) * sizeof(*items));
        if (d->item_count)
            memcpy(items, d->item, (size_t)d->item_count * sizeof(*items));
        d->item = items;
    }
    return &d->item[d->item_count++];
}

static item_t *add_item(parser_t *p, kmm_mode_t mode)
{
    item_t *item = directive_add_item(p->d);
    if (!item) {
        parser_error(p, "a launch has at most %d items", MAX_ITEMS);
        return NULL;
    }
    item->mode = mode;
    return item;
}

void parse_items(parser_t *p, kmm_mode_t mode, kmm_op_t op)
{
    int first = p->d->item_count;
    do {
        if (parser_at(p, ","))
            parser_advance(p);
        item_t *item = add_item(p, mode);
        if (!item)
            return;
        item->op = op;
        parse_item(p, item);
    } while (!p->failed && parser_at(p, ","));
    if (p->d->item_count == first + 1)
        p->d->item[first].word = p->clause;
}

/* ---- Maps ---- */

/* map-item = path ['[' operand ':' operand ']'] */
static void parse_map_item(parser_t *p, map_item_t *item)
{
    item->begin = p->token.begin;
    item->base = parse_path(p);
    if (item->base && parser_at(p, "[")) {
        section_t section = {0};
        parse_section(p, &section);
        item->lower = section.lower;
        item->length = section.length;
        if (!p->failed && !section.length)
            diag_at(SEVERITY_ERROR, p->s, section.begin, section.end,
                    "a map needs the length of the array, as in map(tofrom: A[0:n])");
    }
    item->end = p->last_end;
}

void parse_map_items(parser_t *p, kmm_map_t map)
{
    directive_t *d = p->d;
    if (!d->map)
        d->map = arena_alloc(MAX_ITEMS * sizeof(*d->map));
    do {
        if (parser_at(p, ","))
            parser_advance(p);
        if (d->map_count == MAX_ITEMS)
            return parser_error(p, "too many items");
        map_item_t *item = &d->map[d->map_count++];
        item->map = map;
        parse_map_item(p, item);
    } while (!p->failed && parser_at(p, ","));
}
