/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about clauses that name less than the kernel accesses, each with an example. */
#include "analyze/compare_report.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analyze/check_argument.h"
#include "analyze/compare_target.h"
#include "analyze/suggest.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "kmm/launch.h"

void compare_note(const comparison_t *c, const ir_access_t *a)
{
    if (a)
        check_note_at(c->u, a->file, a->line, a->column,
                      a->kind == IR_READ    ? "it is read here"
                      : a->kind == IR_WRITE ? "it is stored here"
                                            : "it is changed here");
}

/* `the thread of i = 255`, by its axes. */
static const char *place_of(const comparison_t *c, const example_t *e)
{
    text_t out = {0};
    text_add(&out, "", 0);
    text_printf(&out, c->d->is_kernel ? "the thread of " : "the chunk that begins at ");
    for (int k = 0; k < c->d->axis_count; k++)
        text_printf(&out, "%s%s = %lld", k ? ", " : "", c->d->axis[k].name, (long long)e->axis[k]);
    return out.data;
}

/* The item to which the message belongs: one with one of the modes, or else any. */
static const item_t *item_of(comparison_t *c, const accessed_t *t, unsigned modes)
{
    const item_t *any = NULL;
    int64_t shift;
    for (int k = c->d->item_count - 1; k >= 0; k--)
        if (compare_is_of(c, t, &c->d->item[k], &shift) &&
            (!any || (modes >> c->d->item[k].mode & 1) || !(modes >> any->mode & 1)))
            any = &c->d->item[k];
    return any;
}

/* The section that would name what is read. */
static void propose_section(const comparison_t *c, const accessed_t *t, const item_t *item)
{
    const section_t *s = item->section;
    if (!t->is_measured || !t->is_steady || item->section_count != 1 || !s->lower || s->offsets ||
        s->lower->kind == EXPR_CHOICE || t->most - t->least > 4096 || t->least < -4096)
        return;
    const char *lower = unit_words(c->u, s->lower->begin, s->lower->end);
    if (t->least)
        lower = arena_printf("%s %c %lld", lower, t->least < 0 ? '-' : '+',
                             (long long)(t->least < 0 ? -t->least : t->least));
    diag_fix(s->begin, s->end,
             arena_printf("[%s:%lld]", lower, (long long)(t->most - t->least + 1)));
}

/* A range that is shorter than what the kernel works on makes all items wrong. */
static void report_range(comparison_t *c, const example_t *e)
{
    const axis_t *a = &c->d->axis[e->beyond];
    unit_error(
        c->u, a->begin, a->end,
        "the range of '%s' is less than what '%s' works on: with %s, the range ends at %lld, "
        "and %s works too",
        a->name, c->d->callee_name, e->numbers, (long long)e->end, place_of(c, e));
    compare_note(c, e->access);
}

static void report(comparison_t *c, accessed_t *t, kind_t kind)
{
    const unsigned reading = 1u << KMM_READ | 1u << KMM_UPDATE;
    const unsigned storing = 1u << KMM_WRITE | 1u << KMM_UPDATE | 1u << KMM_REDUCE;
    const example_t *e = &t->example[kind];
    const item_t *item = item_of(c, t,
                                 kind == READ_OUTSIDE ? reading
                                 : kind == STORE_READ ? 1u << KMM_READ
                                                      : storing);
    const char *name = c->d->callee_name, *text = unit_words(c->u, item->begin, item->end),
               *base = unit_words(c->u, item->base->begin, item->base->end),
               *where = arena_printf("with %s, %s", e->numbers, place_of(c, e));
    long long element = e->element;
    switch (kind) {
    case READ_OUTSIDE:
        unit_error(c->u, item->begin, item->end,
                   "'%s' is less than '%s' reads: %s reads %s[%lld], which no clause names for "
                   "its chunk",
                   text, name, where, base, element);
        propose_section(c, t, item);
        break;
    case READ_OLD:
        unit_error(c->u, item->begin, item->end,
                   "'%s' is only written here, so its old values are not brought, but '%s' reads "
                   "them: %s reads %s[%lld]; say update(%s)",
                   text, name, where, base, element, text);
        suggest_word(item, "update");
        break;
    case STORE_OUTSIDE:
        unit_error(c->u, item->begin, item->end,
                   "'%s' is less than '%s' stores: %s stores to %s[%lld], which no clause names "
                   "for its chunk",
                   text, name, where, base, element);
        break;
    case STORE_READ:
        unit_error(c->u, item->begin, item->end,
                   "'%s' is only read here, but '%s' stores to it: %s stores to %s[%lld]; say "
                   "update(%s)",
                   text, name, where, base, element, text);
        suggest_word(item, "update");
        break;
    case LEFT_OUT:
        unit_error(c->u, item->begin, item->end,
                   "write(%s) promises that each chunk stores all of it, but '%s' leaves out "
                   "some: with %s, nothing stores to %s[%lld]; say update(%s), or less",
                   text, name, e->numbers, base, element, text);
        suggest_word(item, "update");
        break;
    case WIDE:
        diag_at(SEVERITY_WARNING, c->u->source, item->begin, item->end,
                "'%s' is more than '%s' accesses: with %s, a chunk is given %lld bytes of it and "
                "needs %lld [-Wkmm-wide]",
                text, name, e->numbers, (long long)t->named_bytes, (long long)t->used_bytes);
        return;
    default:
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced here, but '%s' stores to it whatever its value was: %s stores "
                   "to %s[%lld]",
                   text, name, where, base, element);
        break;
    }
    compare_note(c, e->access);
}

bool compare_report(comparison_t *c)
{
    int errors = diag_error_count();
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < KINDS && !c->target[k].skipped; i++) {
            const example_t *e = &c->target[k].example[i];
            if (!c->target[k].alive[i])
                continue;
            if (e->access && e->beyond >= 0) {
                report_range(c, e);
                return false;
            }
            report(c, &c->target[k], (kind_t)i);
            break; /* what else is wrong with the pointer mostly follows from it */
        }
    return diag_error_count() == errors;
}
