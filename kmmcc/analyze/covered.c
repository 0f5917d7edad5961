/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An item on `x` may be meant for the argument x, or x + n, or both. Where a launch passes several
 * pointers that begin with one variable, samples tell: the item speaks of those arguments that
 * point into the elements which it names in the whole launch, and of the argument that is nearest
 * before these. With other elements it says nothing of what the kernel does behind x + n.
 */
#include "analyze/covered.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/byteset.h"
#include "analyze/geometry.h"
#include "analyze/known.h"
#include "analyze/sample.h"
#include "base/arena.h"
#include "clang/callee.h"
#include "clang/cursor.h"

enum { TRIALS = 3, BLOCK = 64 };

/* True if the launch passes another pointer, or a struct, that begins as the item does. */
static bool is_shared(const directive_t *d, const item_t *item, int number)
{
    for (int k = 0; k < d->argument_count; k++)
        if (k != number && cursor_is_related(d->argument[k], item->base->cursor))
            return true;
    return false;
}

/* True if the comparison of clauses with the kernel's code sees all that the kernel does with the
 * argument. */
static bool is_compared(const unit_t *u, const directive_t *d, int number)
{
    const char *reason;
    for (int k = 0; k < d->item_count; k++) {
        bool named = false;
        for (int i = 0; i < d->argument_count; i++)
            named |= cursor_is_related(d->argument[i], d->item[k].base->cursor);
        if (!named)
            return false;
    }
    for (const known_t *k = known_of_launch(u, d, &reason); k; k = k->next)
        if (k->param == number)
            return k->knowledge == KNOWN_EXACTLY && !k->in_blocks;
    return false;
}

/* The ranges of all axes. False: the sample makes no launch. */
static bool ranges_of(sample_t *s, chunk_box_t *box)
{
    bool uses[3] = {true, false, false};
    for (int k = 0; k < s->d->axis_count; k++)
        uses[s->d->axis[k].source % 3] = true;
    for (int k = 0; k < s->d->axis_count; k++) {
        const axis_t *a = &s->d->axis[k];
        geometry_t g;
        if (!a->length && !geometry_of(s, uses, BLOCK, &g))
            return false;
        box->begin[k] = 0;
        if (!a->length)
            box->end[k] = g.end[k];
        else if (!sample_expression(s, a->lower, &box->begin[k]) ||
                 !sample_expression(s, a->length, &box->end[k]))
            return false;
        box->end[k] += box->begin[k];
    }
    return true;
}

/* Returns in *least and *end the bytes that the item names in the whole launch. False: they are not
 * known. */
static bool named_by(sample_t *s, const item_t *item, int64_t base, int64_t *least, int64_t *end)
{
    chunk_box_t box;
    byteset_t set = {0};
    if (!ranges_of(s, &box) || !byteset_of_item(s, item, &box, base, &set) ||
        (!set.all && !set.count))
        return false;
    byteset_sort(&set);
    *least = set.all ? base : set.at[0].begin;
    *end = set.all ? INT64_MAX : set.at[set.count - 1].end;
    return true;
}

/* Where an argument that is related to the item points to: bytes from the item's variable. A struct
 * passes what its members are. */
static int64_t place_of(sample_t *s, CXCursor argument, const char *key)
{
    int64_t at;
    const char *of = sample_pointer(s, argument, &at);
    return of && !strcmp(of, key) ? at : 0;
}

/* True if the argument lies in the bytes, or is the nearest before them. If none lies before them,
 * the first counts. */
static bool is_nearest(sample_t *s, const item_t *item, const char *key, int64_t place,
                       int64_t least)
{
    bool nearest = true;
    for (int k = 0; k < s->d->argument_count; k++) {
        if (!cursor_is_related(s->d->argument[k], item->base->cursor))
            continue;
        int64_t other = place_of(s, s->d->argument[k], key);
        nearest &= place <= least ? other <= place || other > least : other >= place;
    }
    return nearest;
}

/* What one sample tells, and what several do: an item that names no element in a sample says
 * nothing there. */
typedef enum said { NO_SAMPLE, SAID, NOT_SAID } said_t;

static said_t said_in(sample_t *s, const item_t *item, CXCursor argument)
{
    int64_t base, place, least, end;
    const char *key = sample_pointer(s, item->base->cursor, &base);
    const char *of = sample_pointer(s, argument, &place);
    if (!key || !of || strcmp(key, of) != 0 || !named_by(s, item, base, &least, &end))
        return NO_SAMPLE;
    bool says = (place >= least && place < end) || is_nearest(s, item, key, place, least);
    return says ? SAID : NOT_SAID;
}

/* True if a sample tells `what`, with numbers around `size`. */
static bool tells(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument,
                  sample_t numbers, said_t what)
{
    for (int trial = 0; trial < TRIALS; trial++) {
        sample_t s = numbers;
        s.u = u;
        s.d = d;
        s.trial = trial;
        if (said_in(&s, item, argument) == what)
            return true;
    }
    return false;
}

/* The text without parentheses around all of it. */
static const char *bare(const char *text)
{
    size_t length = strlen(text);
    if (*text != '(' || text[length - 1] != ')')
        return text;
    int depth = 0;
    for (size_t k = 0; k + 1 < length; k++) {
        depth += (text[k] == '(') - (text[k] == ')');
        if (!depth)
            return text;
    }
    return bare(arena_copy(text + 1, length - 2));
}

/* True if the item's base is the argument as it is written. */
static bool is_written(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument)
{
    size_t begin, end;
    return callee_argument_range(u, d, argument, &begin, &end) &&
           !strcmp(bare(unit_words(u, item->base->begin, item->base->end)),
                   bare(unit_words(u, begin, end)));
}

/* True if the item speaks of the argument whatever the numbers of the launch are. A variable's
 * definition may be older than its value, so samples without definitions must agree that it can. A
 * definition may also be a number, so some samples have smaller numbers than programs write. */
static bool says(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument)
{
    enum { SMALL = 5 };
    sample_t loose = {.size = d->axis_count < 2   ? 1013
                              : d->axis_count < 3 ? 101
                                                  : 23, /* fewer elements of each axis */
                      .multiple = d->axis_count < 2 ? BLOCK : 1},
             defined = loose, small = {.size = SMALL, .multiple = 1, .follows = true};
    defined.follows = true;
    if (tells(u, d, item, argument, loose, SAID))
        return !tells(u, d, item, argument, defined, NOT_SAID) &&
               !tells(u, d, item, argument, small, NOT_SAID);
    return !tells(u, d, item, argument, loose, NOT_SAID) && is_written(u, d, item, argument);
}

bool covered_by(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument,
                int number)
{
    if (!cursor_is_related(argument, item->base->cursor))
        return false;
    if (item->of_one)
        return item->parameter == number;
    return !d->is_kernel || !is_shared(d, item, number) || says(u, d, item, argument);
}

bool covered(const unit_t *u, const directive_t *d, CXCursor argument, int number)
{
    bool shared = false;
    for (int k = 0; k < d->item_count; k++) {
        const item_t *item = &d->item[k];
        if (covered_by(u, d, item, argument, number))
            return true;
        shared |= !item->of_one && cursor_is_related(argument, item->base->cursor);
    }
    return shared && is_compared(u, d, number);
}

bool covered_for_another(const unit_t *u, const directive_t *d, int number)
{
    const char *reason;
    bool another = false, unknown = false;
    for (int k = 0; k < d->item_count; k++) {
        const item_t *item = &d->item[k];
        if (!cursor_is_related(d->argument[number], item->base->cursor))
            continue;
        if (!item->of_one || item->parameter == number)
            return false;
        another = true;
    }
    if (!d->is_kernel || !another)
        return false;
    for (const known_t *k = known_of_launch(u, d, &reason); k; k = k->next)
        unknown |= k->param == number && k->knowledge != KNOWN_EXACTLY;
    return unknown;
}
